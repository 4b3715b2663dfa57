"""The program of the memory guard, byte for byte as it lies on a host: standard library alone, and nothing of ours."""

PROGRAM = '''\
"""Kills the declared container before the host runs out of memory, and nothing else. Made by sparks: docs/host.md."""

import argparse
import ctypes
import http.client
import json
import os
import re
import socket
import sys
import time
from datetime import datetime, timezone

LISTED_SECONDS = 10.0


class Docker(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("docker", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, target):
    connection = Docker(path)
    try:
        connection.request(method, target)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status >= 300:
        raise OSError(f"docker answered {answer.status}")
    return json.loads(body) if body.strip() else None


def is_declared(name, labels, asked):
    """The very name, or the very label: a filter of Docker's takes parts of names, so none is used."""
    if asked.name is not None:
        return name == asked.name
    key, _, value = asked.label.partition("=")
    return (labels or {}).get(key) == value


def declared(asked):
    """Every running container that is declared, as inspected just now."""
    for each in ask(asked.docker, "GET", "/containers/json"):
        if not re.fullmatch("[0-9a-f]{64}", each["Id"]):
            continue
        found = ask(asked.docker, "GET", f"/containers/{each['Id']}/json")
        name, labels = found["Name"].removeprefix("/"), found["Config"]["Labels"]
        if found["Id"] == each["Id"] and found["State"]["Running"] and is_declared(name, labels, asked):
            started = found["State"]["StartedAt"][:19]
            begun = datetime.strptime(started, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
            yield {"id": found["Id"], "name": name, "begun": begun}


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))


def told_steady(path):
    """The containers that somebody has told to be ready: their full ids, one on a line."""
    try:
        with open(path, encoding="ascii") as file:
            return set(file.read().split())
    except OSError:
        return set()


def level(asked, found, now):
    steady = told_steady(asked.level)
    young = [each for each in found if each["id"] not in steady and now - each["begun"] < asked.startup_seconds]
    return ("startup", asked.startup_bytes) if young else ("steady", asked.steady_bytes)


def say(asked, **state):
    new = f"{asked.state}.new"
    with open(new, "w", encoding="ascii") as file:
        json.dump(state, file)
    os.replace(new, asked.state)


def kill(asked, memory, threshold):
    for each in declared(asked):
        ask(asked.docker, "POST", f"/containers/{each['id']}/kill")
        print(f"killed {each['name']}: {memory} bytes available, fewer than {threshold}", flush=True)
        yield each["name"]


class Guard:
    def __init__(self, asked):
        self.asked, self.found, self.listed, self.error, self.killed = asked, [], None, "", 0

    def look(self, now):
        """What is declared, every few seconds; a Docker that does not answer has its last answer stand."""
        if self.listed is None or now - self.listed >= LISTED_SECONDS:
            self.listed = now
            try:
                self.found, self.error = list(declared(self.asked)), ""
            except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
                self.error = type(error).__name__

    def sample(self, now, memory):
        self.look(now)
        name, threshold = level(self.asked, self.found, now)
        if memory < threshold:
            try:
                self.killed += len(list(kill(self.asked, memory, threshold)))
            except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
                self.error = type(error).__name__
            self.listed = None
        names = sorted(each["name"] for each in self.found)
        say(self.asked, at=now, available_bytes=memory, level=name, threshold_bytes=threshold, declared=names,
            killed=self.killed, error=self.error)


def main():
    parser = argparse.ArgumentParser()
    for option in ("docker", "state", "level", "name", "label"):
        parser.add_argument(f"--{option}")
    for option in ("startup-bytes", "steady-bytes", "startup-seconds", "interval"):
        parser.add_argument(f"--{option}", type=int, required=True)
    asked = parser.parse_args()
    if (asked.name is None) == (asked.label is None):
        sys.exit("expected --name or --label")
    ctypes.CDLL(None).mlockall(3)
    guard = Guard(asked)
    while True:
        guard.sample(time.time(), available())
        time.sleep(asked.interval)


if __name__ == "__main__":
    main()
'''
