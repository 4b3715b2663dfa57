"""Runs of pyinfra, each in a process of its own, whose SSH connections lead to simulated Sparks."""

import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Any

import gevent
from paramiko import SSHException
from pyinfra.connectors.ssh import SSHConnector
from pyinfra.connectors.util import CommandOutput, OutputLine

import facts.bundle
import facts.controller
import fleet.instant
import operations.acting
from facts.bundle import Wanted
from operations.stream import Broken
from tests import forked
from tests.simulated.looks import VALUES, pack
from tests.simulated.world import Gone, World


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
    main = {"pyinfra": forked.pyinfra_command, "sparks": forked.sparks_command}[command[0]]
    with said.open("wb") as out, Path(os.devnull).open("rb") as nothing:
        code = forked.wait(forked.fork(partial(_in_world, world, main), list(command[1:]), nothing, out, out))
    found: World = pickle.loads(world.saved_at.read_bytes())
    return Ran(code if code >= 0 else 128 - code, said.read_text(), found)


def _in_world(world: World, main: Callable[[], None]) -> None:
    """All that is patched is the fork's own."""
    _plug_in(world)
    try:
        main()
    finally:
        world.save()


def _plug_in(world: World) -> None:
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
    wait = gevent.sleep
    gevent.sleep = lambda *_, **__: wait(0)
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
