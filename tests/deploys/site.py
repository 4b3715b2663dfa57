"""A site of Sparks that are only observations, and runs of pyinfra on it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fleet.observation import Observation
from fleet.ollama.service import ResidentsUnit
from fleet.roster import Roster
from tests import forked
from tests.deploys.played import World, played
from tests.fleet import observed
from tests.fleet.ollama import host as ollama_host
from tests.fleet.spelled import spelled
from tests.fleet.test_roster import GOOD
from tests.lab.converging import Answering

SERVED = ("ollama_service", "ollama_models", "ollama_residency", "invocation", "generation")
DEPLOYMENT: dict[str, Any] = spelled(ollama_host.DESIRED)
VALUES: dict[str, Any] = GOOD | {"deployments": {"chat": {"spark": "a", "ollama": DEPLOYMENT}}}
PLAN = re.compile(r"plan (sha256:[0-9a-f]{64}) for ([^\s,]+)")


@dataclass(frozen=True)
class Run:
    """One pyinfra process that ended."""

    status: int
    out: str
    err: str
    said: tuple[dict[str, Any], ...]

    @property
    def plans(self) -> dict[str, str]:
        """The digests that it told, by target."""
        return {name: digest for digest, name in PLAN.findall(self.err)}

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Host and text of every command that changes something, in order."""
        return [(each["host"], each["command"]) for each in self.said if "command" in each]

    @property
    def asked(self) -> list[str]:
        """The host of everything else that was sent, as what takes and frees the lock."""
        return [each["host"] for each in self.said if "asked" in each]

    @property
    def looks(self) -> list[str]:
        """The host of every round trip that looked."""
        return [each["host"] for each in self.said if "looks" in each]


class Site:
    """Two Sparks, a and b, joined by two rails; a serves."""

    def __init__(self, folder: Path, values: dict[str, Any] | None = None) -> None:
        self.folder, self.values = folder, values or VALUES
        self.world = folder / "world"
        self.world.mkdir()
        (folder / "group_data").mkdir()
        self.inventory = folder / "site.py"
        self.roster = Roster.read(self.values, "test")
        hosts = {name: {"ssh_user": "spark"} for name in self.roster.enrolled}
        self.inventory.write_text(
            f"from lab.site import site\nsite = site(__file__, {hosts!r}, known_hosts={str(folder / 'known')!r})\n"
        )
        (folder / "group_data" / "site.py").write_text(f"roster = {self.values!r}\n")
        for name in self.roster.enrolled:
            self[name] = blank(name)

    def __getitem__(self, name: str) -> Observation:
        return Observation.from_canonical((self.world / f"{name}.json").read_text())

    def __setitem__(self, name: str, seen: Observation) -> None:
        (self.world / f"{name}.json").write_text(seen.canonical)

    def drift(self, name: str, after: int, seen: Observation) -> None:
        """Once so many commands of a run have been carried out on a host, it is so."""
        (self.world / "drift.json").write_text(json.dumps({name: {str(after): seen.to_json()}}))

    def run(self, *arguments: str, deploys: tuple[str, ...] = ("deploys/serve.py",), typed: str = "") -> Run:
        """pyinfra to its end."""
        return self._play(World, forked.pyinfra_command, str(self.inventory), *deploys, *arguments, typed=typed)

    def sparks(self, *arguments: str, kind: type[World] = Answering) -> Run:
        """A command of ours to its end."""
        inventory = {"SPARKS_INVENTORY": str(self.inventory)}
        return self._play(kind, forked.sparks_command, *arguments, environment=inventory)

    def run_in_a_new_process(self, *arguments: str, **environment: str) -> Run:
        """pyinfra to its end, with what only the start of Python can change."""
        return self._told(
            subprocess.run(
                [sys.executable, "-m", "tests.deploys.played", str(self.world), str(self.inventory),
                 "deploys/serve.py", *arguments],
                cwd=forked.ROOT, env=os.environ | {"PYTHONPATH": str(forked.ROOT), "COLUMNS": "200"} | environment,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
            )
        )  # fmt: skip

    def _play(self, kind: type[World], main: Callable[[], None], *command: str, typed: str = "",
              environment: Mapping[str, str] | None = None) -> Run:  # fmt: skip
        wide = {"COLUMNS": "200", **(environment or {})}
        return self._told(forked.ran(partial(played, self.world, main, kind), *command, typed=typed, environment=wide))

    def _told(self, done: "subprocess.CompletedProcess[str]") -> Run:
        said = self.world / "said.jsonl"
        lines = said.read_text().splitlines() if said.exists() else []
        said.unlink(missing_ok=True)
        return Run(done.returncode, done.stdout, done.stderr, tuple(map(json.loads, lines)))

    def approved(self, dry: Run, *targets: str) -> Run:
        """Apply the plans of some targets that a dry run told."""
        return self.run("--data", f"plan={','.join(dry.plans[each] for each in targets)}", "-y")


def blank(name: str) -> Observation:
    """A Spark as it comes, with Ollama installed and stopped in its ways."""
    bare = ollama_host.service(drop_ins=(), process_environment={}, residents=ResidentsUnit())
    found = ollama_host.seen(bare, models=(), residents=())
    return observed.blank(name).model_copy(update={each: getattr(found, each) for each in SERVED})
