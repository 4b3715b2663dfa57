"""pyinfra's own command, on Sparks that are only observations: a script that carries a step out changes one of them.

    python -m tests.deploys.played WORLD INVENTORY DEPLOY …

WORLD is a folder. `NAME.json` is how a Spark is now. `said.jsonl` gets a line for each look and each command.
`drift.json`, where it is there, says by name how a Spark shall be once some number of its commands have run.
`patch.py` runs first.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gevent import monkey

monkey.patch_all()

from pyinfra.api import Host  # noqa: E402
from pyinfra.connectors.ssh import SSHConnector  # noqa: E402
from pyinfra.connectors.util import CommandOutput  # noqa: E402
from pyinfra_cli.main import main as pyinfra_main  # type: ignore[import-untyped]  # noqa: E402

from facts import observe  # noqa: E402
from facts.bundle import Wanted  # noqa: E402
from facts.desired import roster_for  # noqa: E402
from facts.needs import looks_for  # noqa: E402
from fleet.generation import Stamp  # noqa: E402
from fleet.generation_due import WriteStamp  # noqa: E402
from fleet.host.steps import HostStep  # noqa: E402
from fleet.kernel.steps import KernelStep  # noqa: E402
from fleet.observation import NOT_LOOKED, Observation  # noqa: E402
from fleet.ollama.steps import RetireOllama  # noqa: E402
from fleet.target import Scope  # noqa: E402
from operations.acting import Script  # noqa: E402
from tests.fleet import observed  # noqa: E402
from tests.fleet.host import host as policy_host  # noqa: E402
from tests.fleet.kernel import host as kernel_host  # noqa: E402
from tests.fleet.ollama import host as ollama_host  # noqa: E402


class World:
    """Every Spark as it is now, kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: dict[str, int] = {}

    def __getitem__(self, name: str) -> Observation:
        return Observation.from_canonical((self.folder / f"{name}.json").read_text())

    def __setitem__(self, name: str, seen: Observation) -> None:
        (self.folder / f"{name}.json").write_text(seen.canonical)

    def say(self, **line: Any) -> None:
        with (self.folder / "said.jsonl").open("a") as said:
            said.write(json.dumps(line) + "\n")

    def look(self, host: Host, wanted: tuple[Wanted, ...]) -> dict[Wanted, Any]:
        """In place of a round trip."""
        self.say(host=host.name, looks=len(wanted))
        desired = roster_for(host).desired_for(host.name)
        sections = {look: name for scope in Scope for name, look in looks_for(desired, scope).items()}
        seen = self[host.name]
        return {look: getattr(seen, sections[look]) if look in sections else NOT_LOOKED for look in wanted}

    def run(self, host: Host, command: Any) -> bool:
        """In place of a command: what its step does is done; the lock is always free to take."""
        if not isinstance(command, Script):
            self.say(host=host.name, asked=command.get_raw_value())
            return True
        self.say(host=host.name, command=command.get_raw_value())
        self.commands[host.name] = self.commands.get(host.name, 0) + 1
        if command.step is not None:
            self[host.name] = self._after(host, command.step)
        self._drift(host.name)
        return True

    def _after(self, host: Host, step: Any) -> Observation:
        desired, seen = roster_for(host).desired_for(host.name), self[host.name]
        if isinstance(step, WriteStamp):
            return seen.model_copy(update={"generation": Stamp(generation=step.generation)})
        if isinstance(step, RetireOllama):
            return ollama_host.retired(step, seen)
        if isinstance(step, KernelStep):
            return kernel_host.applied(step, seen)
        if isinstance(step, HostStep):
            return policy_host.applied(step, seen)
        if step.kind.startswith("ollama"):
            assert desired.ollama is not None
            return ollama_host.applied(step, desired.ollama, seen)
        return observed.applied(step, desired.rail_ends, seen)

    def _drift(self, name: str) -> None:
        file = self.folder / "drift.json"
        drift = json.loads(file.read_text()) if file.exists() else {}
        seen = drift.get(name, {}).get(str(self.commands[name]))
        if seen is not None:
            self[name] = Observation.model_validate_json(json.dumps(seen))


def play(world: World) -> None:
    """Puts the world in the place of SSH."""

    def run_shell_command(self: Any, command: Any, *_: Any, **__: Any) -> tuple[bool, CommandOutput]:
        return world.run(self.host, command), CommandOutput([])

    patched: Any = SSHConnector
    patched.connect = lambda self: None
    patched.disconnect = lambda self: None
    patched.run_shell_command = run_shell_command
    observe._look = world.look


def played(folder: Path, main: Callable[[], None], kind: type[World] = World) -> None:
    """A command, as it is in that world."""
    play(kind(folder))
    if (folder / "patch.py").exists():
        exec((folder / "patch.py").read_text(), {"World": World})
    os.environ["PYINFRA_PROGRESS"] = "off"
    main()


if __name__ == "__main__":
    at = Path(sys.argv[1])
    sys.argv = ["pyinfra", *sys.argv[2:]]
    played(at, pyinfra_main)
