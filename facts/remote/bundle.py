"""Run many looks at once on the host and print one JSON line: `[{"code", "out", "error"}, …]` in their order.

A look that is a command runs beside the others; one that is Python runs in this process, since starting an
interpreter for each would cost more than all the looking.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import time


def start(section):
    return subprocess.Popen(
        ["sh", "-c", section["command"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finish(process, section, started):
    try:
        left = max(0.1, section["timeout"] - (time.monotonic() - started))
        out, err = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return {"code": None, "out": "", "error": "no answer in %g s" % section["timeout"]}
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return {
        "code": process.returncode,
        "out": out.decode("utf-8", "backslashreplace"),
        "error": lines[-1][:300] if lines else "",
    }


def give_up(number, frame):
    raise TimeoutError


def in_process(section, programs, sentinel):
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, section["timeout"])
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            programs[section["module"]]["main"](json.dumps(section["arguments"]))
    except TimeoutError:
        return {"code": None, "out": "", "error": "no answer in %g s" % section["timeout"]}
    except Exception as error:
        return {"code": 1, "out": "", "error": type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return {"code": 0, "out": said.getvalue() + sentinel, "error": ""}


def main(arguments):
    asked, started = json.loads(arguments), time.monotonic()
    running = {at: start(each) for at, each in enumerate(asked["sections"]) if "command" in each}
    programs = {name: {"__name__": name} for name in asked["sources"]}
    for name, namespace in programs.items():
        exec(compile(asked["sources"][name], name, "exec"), namespace)
    print(
        json.dumps(
            [
                finish(running[at], each, started) if at in running else in_process(each, programs, asked["sentinel"])
                for at, each in enumerate(asked["sections"])
            ]
        )
    )
