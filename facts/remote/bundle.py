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
import threading


def run(section):
    process = subprocess.Popen(
        ["sh", "-c", section["command"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=section["timeout"])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return {"code": None, "out": "", "error": "no answer in %g s" % section["timeout"]}
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return {
        "code": process.returncode,
        "out": out.decode("utf-8", "backslashreplace"),
        "error": lines[-1][:300] if lines else "",
    }


def in_turn(sections, answers, slots):
    """A thread for each command, as many at once as there are processors: each limit is then about its own look."""

    def turn(at, section):
        with slots:
            answers[at] = run(section)

    threads = [threading.Thread(target=turn, args=each) for each in sections.items()]
    for thread in threads:
        thread.start()
    return threads


class GivenUp(BaseException):
    """The time of a look is up. No look may take it for an answer: a TimeoutError is an OSError, as of a file."""


def give_up(number, frame):
    raise GivenUp


def in_process(section, programs, sentinel):
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, section["timeout"])
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            programs[section["module"]]["main"](json.dumps(section["arguments"]))
    except GivenUp:
        return {"code": None, "out": "", "error": "no answer in %g s" % section["timeout"]}
    except Exception as error:
        return {"code": 1, "out": "", "error": type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return {"code": 0, "out": said.getvalue() + sentinel, "error": ""}


def main(arguments):
    asked = json.loads(arguments)
    answers = {}
    sections = dict(enumerate(asked["sections"]))
    commands = {at: each for at, each in sections.items() if "command" in each}
    threads = in_turn(commands, answers, threading.Semaphore(max(2, os.cpu_count() or 1)))
    programs = {name: {"__name__": name} for name in asked["sources"]}
    for name, namespace in programs.items():
        exec(compile(asked["sources"][name], name, "exec"), namespace)
    for at, each in sections.items():
        if at not in commands:
            each["arguments"].update({name: asked["texts"][number] for name, number in each.get("texts", {}).items()})
            answers[at] = in_process(each, programs, asked["sentinel"])
    for thread in threads:
        thread.join()
    print(json.dumps([answers[at] for at in sections]))
