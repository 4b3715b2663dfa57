"""Ping every target at once and print one JSON line: `{"answers": [{"target", "small", "whole"}, …]}` in their order.

Each is what `ping` said, errors included. The small ping goes first: it makes the host learn its neighbour's
address. The whole one, which nothing on the way may fragment, follows where the small one had an answer.
"""

import json
import os
import shutil
import subprocess
import threading

SMALL = ["-c", "3", "-i", "0.3", "-W", "3"]
WHOLE = ["-c", "3", "-i", "0.3", "-W", "3", "-M", "do"]
RUN_SECONDS = 25


def ping(target, options):
    source = [word for value in (target["interface"], target["own"]) if value for word in ("-I", value)]
    try:
        done = subprocess.run(
            ["ping", "-n", *options, *source, target["address"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=RUN_SECONDS,
            env=dict(os.environ, LC_ALL="C"),
        )
    except subprocess.TimeoutExpired as late:
        return False, (late.stdout or b"").decode("utf-8", "replace")
    return done.returncode == 0, done.stdout.decode("utf-8", "replace")


def both(target, headers, answers, at):
    answered, small = ping(target, SMALL)
    whole = ping(target, [*WHOLE, "-s", str(target["mtu"] - headers)])[1] if answered else None
    answers[at] = {"target": target, "small": small, "whole": whole}


def main(arguments):
    asked = json.loads(arguments)
    targets = asked["targets"]
    if shutil.which("ping") is None:
        print(json.dumps({"refused": "expected ping of iputils, found none"}))
        return
    answers = [None] * len(targets)
    threads = [
        threading.Thread(target=both, args=(target, asked["headers"], answers, at)) for at, target in enumerate(targets)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"answers": answers}))
