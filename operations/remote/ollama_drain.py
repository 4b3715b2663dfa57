"""Wait until no request runs on the Ollama of a unit: a JSON line for each look, and a last one that says how it ended.

The texts of `fleet/ollama/quiet.py`, `facts/remote/ollama_invocation.py`, `ollama_store.py` and `ollama_ask.py` come
with the arguments. Nothing is changed but where `unload` is asked for, at the end. It ends when nobody reads its lines.
"""

import json
import os
import subprocess
import time
import types

LOOK_SECONDS = 1.0
"""Between two looks."""
ANSWER_SECONDS = 45
"""For systemctl and ss on a host at full load; both take some hundredths of a second on a quiet one."""
UNLOADED_WITHIN_SECONDS = 15.0
"""How long a model may be listed once Ollama has said that it goes."""


def loaded(name, text):
    module = types.ModuleType(name)
    exec(text, module.__dict__)
    return module


class Gone(Exception):
    """The process has ended."""


class Process:
    """The process of a unit, while it lives."""

    def __init__(self, asked):
        self.quiet, self.store, self.process, self.ask = (
            loaded(name, asked[name]) for name in ("quiet", "store", "invocation", "ask")
        )
        self.pid = self.main_pid(asked["unit"])
        self.identity = self.process.identity(self.pid, self.store.Blind) if self.pid else None
        self.told_by_ss = True

    def main_pid(self, unit):
        command = ["systemctl", "show", unit, "--property", "ActiveState,MainPID"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False)
        shown = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        if done.returncode != 0:
            raise self.store.Blind("systemctl show: " + (done.stderr.strip().splitlines() or ["failed"])[-1][:200])
        return int(shown.get("MainPID") or 0) if shown.get("ActiveState") == "active" else 0

    def look(self):
        """What is connected, then what is loaded: our own question comes after the connections were counted."""
        try:
            alive = self.process.start_ticks(self.pid) == self.identity["start_ticks"]
        except OSError:
            alive = False
        if not alive:
            raise Gone
        every = self.process.sockets(self.pid, self.store.Blind)
        self.places = self.process.listening(self.pid, every, self.store.Blind)
        far = [self.process.spelled(each) for each in self.process.clients(self.places, every)]
        known = self.known() if far else {}
        return {"clients": {each: known.get(each) for each in far}, "models": self.models()}

    def known(self):
        """What the kernel knows of each connection; nothing where `ss` is not there: then each may carry a request."""
        found = {}
        for port in {port for _, port in self.places}:
            command = ["ss", "-Htni", "state", "established", f"sport = :{port}"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True)
                found |= self.quiet.parse_connections(done.stdout)
            except (OSError, subprocess.SubprocessError, ValueError):
                self.told_by_ss = False
        return found

    def models(self):
        """The expiry of each loaded model; None where the server does not say."""
        answer = self.process.asked(self.places, "/api/ps", self.store)
        if answer is None:
            return {}
        try:
            self.endpoint = answer["endpoint"]
            return {each["name"]: each["expires_at"] for each in json.loads(answer["body"])["models"] or []}
        except (KeyError, TypeError, ValueError):
            return None

    def unload(self):
        """Ask it to let go of every model, and see that it has."""
        models = self.models()
        for model in models or ():
            self.ask.unload({"endpoint": self.endpoint, "model": model})
        deadline = time.monotonic() + UNLOADED_WITHIN_SECONDS
        while (left := self.models()) != {}:
            if models is None or time.monotonic() > deadline:
                raise self.ask.Failed(f"expected no model, found {', '.join(left or ()) or 'no answer of /api/ps'}")
            time.sleep(LOOK_SECONDS / 4)
        return sorted(models)


def wait(process, asked):
    """The last line: how it ended, and what went on when it did."""
    start = since = last = time.monotonic()
    before = None
    while True:
        # A look on a busy host takes seconds, and sees nothing of what begins meanwhile: they are not quiet yet.
        begun = time.monotonic()
        look = process.look()
        now = time.monotonic()
        said = process.quiet.activity(before, look, (now - last + LOOK_SECONDS) * 1000)
        since = now if said else since
        quiet = max(begun - since, 0.0)
        models = None if look["models"] is None else sorted(look["models"])
        line = {"quiet_seconds": round(quiet, 1), "activity": said, "models": models}
        if not said and quiet >= asked["seconds"]:
            return line | {"end": "quiet"}
        if now - start >= asked["timeout"]:
            return line | {"end": "timeout"}
        print(json.dumps(line), flush=True)
        before, last = look, begun
        time.sleep(LOOK_SECONDS)


def drained(asked):
    process = Process(asked)
    if process.identity is None:
        return {"end": "nothing", "invocation": None}
    found = {"invocation": process.identity, "unloaded": []}
    try:
        found |= wait(process, asked)
        if asked["unload"] and found["end"] == "quiet":
            found["unloaded"] = process.unload()
    except Gone:
        found["end"] = "gone"
    except (process.store.Blind, process.ask.Failed) as error:
        found["error"] = str(error)
    return found | {"told_by_ss": process.told_by_ss}


def main(text):
    try:
        print(json.dumps(drained(json.loads(text))), flush=True)
    except BrokenPipeError:
        os._exit(1)
    except Exception as error:
        print(json.dumps({"error": str(error)[:300] or type(error).__name__}), flush=True)
