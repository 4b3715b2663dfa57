"""Run many looks at once on the host and print one JSON line: `[{"code", "out", "error"}, …]` in their order."""

import concurrent.futures
import json
import os
import signal
import subprocess


def run(section):
    process = subprocess.Popen(
        ["sh", "-c", section["command"]],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
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


def main(arguments):
    sections = json.loads(arguments)["sections"]
    with concurrent.futures.ThreadPoolExecutor(max(1, len(sections))) as pool:
        print(json.dumps(list(pool.map(run, sections))))
