"""Runs of pyinfra, each in a process of its own, whose SSH connections lead to simulated Sparks."""

import gc
import inspect
import os
import pickle
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import gevent
import pyinfra
import pyinfra.api.util
import pyinfra_cli.main  # type: ignore[import-untyped]
from paramiko import SSHException
from pyinfra.connectors.ssh import SSHConnector
from pyinfra.connectors.util import CommandOutput, OutputLine

import facts.bundle
import facts.controller
import fleet.instant
import lab.cli
import operations.acting
from facts.bundle import Wanted
from operations.stream import Broken
from tests.simulated.looks import VALUES, pack
from tests.simulated.world import Gone, World

for _name in ("deploys.target", "lab.converge", "lab.site", "lab.receipts.drained", "operations.ollama",
              "operations.others", "operations.transit"):  # fmt: skip
    import_module(_name)
"""What a run imports is imported once, here, and not in every process again."""

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """A run that ended."""

    status: int
    """As a shell tells it: 128 and more for a signal."""
    said: str
    world: World


def run(world: World, folder: Path, *command: str) -> Ran:
    """A command, of pyinfra or of `sparks`, to its end, whatever that is."""
    folder.mkdir(exist_ok=True)
    world.saved_at, said = folder / "world", folder / "said"
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        code = 98
        try:
            code = _in_child(world, said, command)
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    found: World = pickle.loads(world.saved_at.read_bytes())
    return Ran(code if code >= 0 else 128 - code, said.read_text(), found)


def _in_child(world: World, said: Path, command: tuple[str, ...]) -> int:
    """Nothing of this process outlives it but what it wrote: all that it patches is its own."""
    try:
        with said.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(ROOT)
        gc.disable()
        pyinfra.logger.handlers.clear()
        gevent.reinit()
        _plug_in(world)
        sys.argv = [*command]
        main: Any = {"pyinfra": pyinfra_cli.main.main, "sparks": lab.cli.main}[command[0]]
        main()
        return 0
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 99
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        world.save()


def _plug_in(world: World) -> None:
    facts.controller.controller.cache_clear()
    connector: Any = SSHConnector
    connector._connect = lambda self: _connect(world, self)
    connector.run_shell_command = lambda self, command, *_, **__: _run(world, self, command)
    told: Any = operations.acting
    told.lines = lambda host, command, given=None: _lines(world, host.connector, command)
    wanted: Any = Wanted
    read = wanted.read
    wanted.read = lambda self, section: _read(read, self, section)
    bundle: Any = facts.bundle
    bundle.packed = pack
    util: Any = pyinfra.api.util
    util.stack, util.getframeinfo = partial(inspect.stack, 0), partial(inspect.getframeinfo, context=0)
    wait = gevent.sleep
    gevent.sleep = lambda *_, **__: wait(0)
    cli: Any = lab.cli
    cli._patch_for_gevent = lambda: None
    world.jump_clock = _jump


class _Client:
    """Stands in for paramiko's client: it can be closed."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name, self.session = world, name, world.connect(name)

    def close(self) -> None:
        self.world.close(self.name, self.session)

    def get_transport(self) -> "_Client":
        return self

    def is_active(self) -> bool:
        return self.session in self.world.sparks[self.name].sessions


def _connect(world: World, connector: SSHConnector) -> None:
    client: Any
    try:
        client = _Client(world, connector.host.name)
    except Gone:
        raise TimeoutError("timed out") from None
    connector.client = client


def _run(world: World, connector: SSHConnector, command: Any) -> tuple[bool, CommandOutput]:
    client: Any = connector.client
    try:
        said = world.run(client.name, client.session, _raw(command), getattr(command, "step", None))
    except Gone:
        raise SSHException("SSH session not active") from None
    lines = [OutputLine("stdout", line) for line in said.out.splitlines()]
    lines += [OutputLine("stderr", line) for line in said.error.splitlines()]
    return said.code == 0, CommandOutput(lines)


def _lines(world: World, connector: SSHConnector, command: Any) -> Iterator[str]:
    is_ok, output = _run(world, connector, command)
    yield from output.stdout_lines
    if not is_ok:
        raise Broken(output.stderr_lines[-1])


def _read(read: Any, wanted: Wanted, section: dict[str, Any]) -> Any:
    text = section["out"].removesuffix("end-of-fact")
    return VALUES[text] if text in VALUES else read(wanted, section)


class _Later(datetime):
    """The clock, two days ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(days=2)


def _jump() -> None:
    instant: Any = fleet.instant
    instant.datetime = _Later


def _raw(command: Any) -> str:
    return command if isinstance(command, str) else command.get_raw_value()
