"""A host whose files are a directory: real looks read it, the real scripts change it, and programs are played.

Looks run in this process, so a whole round (look, decide, act, look again) costs a few milliseconds.
"""

import contextlib
import io
import json
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from facts.bundle import Wanted
from facts.kernels import KernelPackages
from facts.look import SENTINEL
from facts.needs_host import part_looks
from facts.remote import host_state, host_systemd
from fleet.desired import DesiredSpark
from fleet.host.decide import part_steps
from fleet.host.policy import HostPolicy
from fleet.kernel.running import parse_kernel
from fleet.observation import Observation
from fleet.refusal import Refusal
from fleet.spark import Spark
from fleet.step import Step
from operations import host_script
from tests.operations import played_systemd


def desired(policy: HostPolicy | None) -> DesiredSpark:
    """A Spark with a host policy and nothing else."""
    return DesiredSpark(name="a", spark=Spark(enrolled=True), rail_ends=(), ollama=None, host=policy)


class PlayedHost:
    """A root directory, a folder of played programs, and what was told to them."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        self._words: dict[str, str] = {}
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin")
        monkeypatch.setattr(host_script, "ROOT", str(root))
        monkeypatch.setattr(host_state, "owner", lambda found: "root")
        monkeypatch.setattr(host_systemd, "run", self._ran)

    def systemd(self, **units: dict[str, str]) -> None:
        """A systemd that has these units and no others."""
        for program in ("systemctl", "busctl", "loginctl", "chronyc"):
            answer = f'[ "$1" != show ] || {{ cat {self.root}/shown; exit; }}'
            self.program(program, f'{answer}\necho "{program} $*" >> {self.root}/due')
        state = {"units": units, "default": "graphical.target", "RuntimeWatchdogUSec": "0", "RemoveIPC": True}
        (self.root / "systemd.json").write_text(json.dumps(state))

    def _ran(self, program: str, *arguments: str, failing: bool = False) -> str:
        """A program of systemd, in this process: to start Python costs more than the rest of a test."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            played_systemd.main(str(self.root), program, *arguments)
        return said.getvalue()

    def program(self, name: str, script: str) -> None:
        """A program on the path, as a shell script."""
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    @property
    def told(self) -> list[str]:
        """What systemd was told since the last time, looks left out."""
        path = self.root / "told"
        found = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return found

    def write(self, path: str, text: str) -> Path:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def words(self, path: str, text: str) -> None:
        """A file as the kernel has it: it shows every word, and what is written chooses one. Played at each look."""
        self.write(path, text)
        self._words[path] = text.replace("[", "").replace("]", "")

    def _chosen(self) -> None:
        for path, offered in self._words.items():
            if (self.root / path.lstrip("/")).exists() and "[" not in (value := self.read(path)):
                self.write(path, " ".join(f"[{each}]" if each == value else each for each in offered.split()))

    def read(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text()

    def look(self, wanted: Wanted) -> Any:
        self._chosen()
        command: Any = wanted.command
        if wanted.fact is KernelPackages:
            return wanted.read({"code": 0, "out": self.read("/packages") + SENTINEL, "error": ""})
        if not hasattr(command, "module"):
            return parse_kernel("release=7.0.0-1019-nvidia\npage_size=4096\nboot_id=b\nuptime=1\ncmdline=quiet\n")
        module = import_module(f"facts.remote.{command.module}")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            module.main(json.dumps({**command.arguments, "root": str(self.root)}))
        return wanted.read({"code": 0, "out": said.getvalue() + SENTINEL, "error": ""})

    def seen(self, looks: dict[str, Wanted]) -> Observation:
        sections = {section: self.look(wanted) for section, wanted in looks.items()}
        return Observation(host="a", **sections)

    def outcomes(self, policy: HostPolicy, part: str) -> tuple[Step | Refusal, ...]:
        wish = desired(policy)
        return part_steps(part, wish, self.seen(part_looks(part, wish)))

    def run(self, step: Step) -> None:
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", host_script.script(step)], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, (step, done.stderr)
        due = self.root / "due"
        for line in due.read_text().splitlines() if due.exists() else []:
            self._ran(*line.split())
        due.unlink(missing_ok=True)

    def made_so(self, policy: HostPolicy, part: str) -> list[str]:
        """The kinds of the steps that were carried out; afterwards nothing is left to do."""
        kinds = []
        for outcome in self.outcomes(policy, part):
            assert isinstance(outcome, Step), outcome
            self.run(outcome)
            kinds.append(outcome.kind)
        assert self.outcomes(policy, part) == ()
        return kinds

    def refusals(self, policy: HostPolicy, part: str) -> list[str]:
        outcomes = self.outcomes(policy, part)
        assert outcomes
        assert all(isinstance(each, Refusal) for each in outcomes), outcomes
        return [str(each).partition("\n")[0] for each in outcomes]
