"""A host whose systemd is played by a script, and whose Ollama is a real stand-in process on loopback."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from facts import ollama as facts
from facts.look import Look
from fleet.ollama.deployment import UNIT

FRAGMENT = """[Service]
ExecStart=/usr/local/bin/ollama serve
User=root
Environment="PATH=/usr/bin"
"""


class PlayedHost:
    """A directory of units, a `systemctl` that shows them, and perhaps a stand-in as the unit's process."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.units = root / "units"
        self.drop_ins = self.units / f"{UNIT}.d"
        self.drop_ins.mkdir(parents=True)
        (self.units / UNIT).write_text(FRAGMENT)
        self.properties: dict[str, str] = {
            "LoadState": "loaded", "UnitFileState": "enabled", "NeedDaemonReload": "no", "User": "root",
            "ExecStart": "{ path=/usr/local/bin/ollama ; argv[]=/usr/local/bin/ollama serve ; }",
            "FragmentPath": str(self.units / UNIT), "Environment": "PATH=/usr/bin",
        }  # fmt: skip
        self.runs(None)
        script = root / "bin" / "systemctl"
        script.parent.mkdir()
        script.write_text(f"#!/bin/sh\ncase $2 in --*) cat {root}/manager ;; *) cat {root}/shown ;; esac\n")
        (root / "manager").write_text("Environment=LANG=C.UTF-8\n")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
        monkeypatch.setattr(facts, "DIRECTORIES", (str(self.units),))
        monkeypatch.setattr(facts, "as_root", lambda command: command)

    def runs(self, process: int | None) -> None:
        state = ("active", "running") if process else ("inactive", "dead")
        self.properties |= {
            "ActiveState": state[0], "SubState": state[1], "MainPID": str(process or 0),
            "ExecMainStartTimestampMonotonic": "123" if process else "0",
        }  # fmt: skip

    def look(self, fact: Look[Any], **arguments: Any) -> Any:
        shown = "".join(f"{name}={value}\n" for name, value in self.properties.items())
        (self.root / "shown").write_text(shown)
        command: Any = fact.command
        done = subprocess.run(["sh", "-c", command(**arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return fact.process(done.stdout.splitlines())
