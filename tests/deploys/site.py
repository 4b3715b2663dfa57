"""A site of Sparks that are only observations, and runs of pyinfra on it."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet.observation import Observation
from fleet.ollama.service import ResidentsUnit
from fleet.roster import Roster
from tests.fleet import observed
from tests.fleet.ollama import host as ollama_host
from tests.fleet.test_roster import GOOD

ROOT = Path(__file__).resolve().parents[2]
SERVED = ("ollama_service", "ollama_models", "ollama_residency", "invocation", "generation")
DEPLOYMENT: dict[str, Any] = json.loads(ollama_host.DESIRED.canonical)
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

    def run(self, *arguments: str, deploys: tuple[str, ...] = ("deploys/serve.py",), typed: str = "",
            **environment: str) -> Run:  # fmt: skip
        """pyinfra to its end."""
        return self._play("tests.deploys.played", str(self.inventory), *deploys, *arguments, typed=typed, **environment)

    def sparks(self, *arguments: str) -> Run:
        """A command of ours to its end."""
        return self._play("tests.lab.converging", *arguments, SPARKS_INVENTORY=str(self.inventory))

    def _play(self, module: str, *command: str, typed: str = "", **environment: str) -> Run:
        said = self.world / "said.jsonl"
        said.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", module, str(self.world), *command],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"} | environment, input=typed,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        lines = said.read_text().splitlines() if said.exists() else []
        return Run(done.returncode, done.stdout, done.stderr, tuple(map(json.loads, lines)))

    def approved(self, dry: Run, *targets: str) -> Run:
        """Apply the plans of some targets that a dry run told."""
        return self.run("--data", f"plan={','.join(dry.plans[each] for each in targets)}", "-y")


def blank(name: str) -> Observation:
    """A Spark as it comes, with Ollama installed and stopped in its ways."""
    bare = ollama_host.service(drop_ins=(), process_environment={}, residents=ResidentsUnit())
    found = ollama_host.seen(bare, models=(), residents=())
    return observed.blank(name).model_copy(update={each: getattr(found, each) for each in SERVED})
