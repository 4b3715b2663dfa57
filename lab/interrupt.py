"""Stopping: SIGINT, SIGTERM and SIGHUP become one exception, safely under gevent, and never status 0.

    with interruptible() as stop:
        …                                  # a signal ends this at once: nothing is at work on any host
        with stop.between_commands(state):
            run_ops(state)                 # here it waits until each host's command has ended; none begins after it

A second signal ends it at once there too; a third ends the process without another word.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import gevent
from pyinfra.api import Host, State
from pyinfra.api.state import BaseStateCallback

from lab.command import INTERRUPTED, Failed
from lab.wake import woken
from operations.stream import GATE

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_SECONDS = 0.2
"""Signals that come closer together are one: when a terminal closes, both the kernel and the shell send SIGHUP."""
_COMMANDS = ("run_shell_command", "put_file", "get_file", "rsync")
"""How pyinfra's `Host` does anything on a host."""


class Interrupted(SystemExit):
    """A signal ends the run, with status 130. gevent brings a SystemExit from any greenlet to the main one."""

    def __init__(self, name: str, at_once: bool) -> None:
        super().__init__(INTERRUPTED)
        self.signal = name
        """`SIGTERM`."""
        self.at_once = at_once
        """Was anything at work on a host? It goes on to its end there."""


@dataclass
class Stop:
    """What has come while something can be interrupted. All of it happens in one thread."""

    main: Any = field(default_factory=gevent.getcurrent)
    """The greenlet that is interrupted."""
    received: list[str] = field(default_factory=list)
    """The names of the signals."""
    raised: int = 0
    """How many of them have become an exception."""
    last: float = float("-inf")
    at_work: bool = False
    """Are commands being run on hosts?"""
    shields: int = 0

    def receive(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signals. It may run in any greenlet, the hub's too."""
        now = time.monotonic()
        if now - self.last < ONE_SECONDS:
            return
        self.last = now
        self.received.append(signal.Signals(number).name)
        if len(self.received) > 2:
            os._exit(INTERRUPTED)
        if self.at_work and len(self.received) == 1:
            tell("stopping when the commands that hosts are running have ended; once more, and it stops at once")
        self._deliver()

    def check(self) -> None:
        """Raises Interrupted where a signal came: nothing more begins."""
        if self.received:
            raise self._interrupted()

    def begin(self) -> None:
        """Before something is begun on a host: once a signal came, ends the greenlet that would begin it."""
        if self.at_work and self.received:
            raise gevent.GreenletExit

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Whatever comes meanwhile waits for the end; for what is short and must be whole."""
        self.shields += 1
        try:
            yield
        finally:
            self.shields -= 1
            self._deliver()

    @contextmanager
    def between_commands(self, state: State) -> Iterator[None]:
        """A first signal waits for the commands that hosts are running, lets none begin, and is raised at the end.

        A host's greenlet that ends by Failed is raised in the main one as ever, and not printed as well.
        """
        gate = _Gate(self)
        state.add_callback_handler(gate)
        hosts = list(state.inventory)
        for host in hosts:
            gate.close_on(host)
        hub = gevent.get_hub()
        printed, hub.NOT_ERROR = hub.NOT_ERROR, (*hub.NOT_ERROR, Failed)
        self.at_work = True
        try:
            yield
        except Interrupted as interrupted:
            if interrupted.at_once:
                state.pool.kill(block=False)
            raise
        except BaseException as error:
            # What fails after a signal fails because nothing more is begun.
            if self.received:
                raise self._interrupted() from error
            raise
        finally:
            self.at_work = False
            hub.NOT_ERROR = printed
            gate.open_again(hosts)
            state.callback_handlers.remove(gate)
        self.check()

    def _interrupted(self, at_once: bool = False) -> Interrupted:
        self.raised = len(self.received)
        return Interrupted(self.received[-1], at_once)

    def _deliver(self) -> None:
        if not self._is_due():
            return
        if gevent.getcurrent() is self.main:
            raise self._interrupted(at_once=self.at_work)
        gevent.get_hub().loop.run_callback(self._throw)

    def _throw(self) -> None:
        """A turn of the loop later the main greenlet may have gone on: behind a shield, or to its end by itself."""
        if self._is_due():
            self.main.throw(self._interrupted(at_once=self.at_work))

    def _is_due(self) -> bool:
        waits = self.shields or (self.at_work and len(self.received) < 2)
        return not waits and self.raised < len(self.received)


class _Gate(BaseStateCallback):
    """Lets no operation and no command begin once a signal came. GreenletExit ends a host's greenlet without a word."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop

    def operation_start(self, state: State, op_hash: str) -> None:  # type: ignore[override]
        self.stop.check()

    def close_on(self, host: Host) -> None:
        """Puts itself in front of all that reaches the host."""
        for name in _COMMANDS:
            setattr(host, name, self._gated(getattr(host, name)))
        host.connector_data[GATE] = self.stop.begin

    def open_again(self, hosts: list[Host]) -> None:
        """Takes itself away: releasing a lock is a command too."""
        for host in hosts:
            for name in _COMMANDS:
                delattr(host, name)
            del host.connector_data[GATE]

    def _gated(self, command: Any) -> Any:
        def gated(*args: Any, **kwargs: Any) -> Any:
            self.stop.begin()
            return command(*args, **kwargs)

        return gated


_ACTIVE: list[Stop] = []
"""The one that has the signals now, if any."""


def active() -> Stop | None:
    """The one that has the signals now."""
    return _ACTIVE[-1] if _ACTIVE else None


@contextmanager
def interruptible() -> Iterator[Stop]:
    """Takes the signals for as long as it lasts; inside another one it is that one.

    A signal that is ignored stays ignored, as `nohup` wants it.
    """
    if outer := active():
        yield outer
        return
    stop = Stop()
    before = {each: signal.getsignal(each) for each in SIGNALS}
    taken = [each for each in SIGNALS if before[each] is not signal.SIG_IGN]
    _ACTIVE.append(stop)
    try:
        for each in taken:
            signal.signal(each, stop.receive)
        with woken():
            yield stop
    finally:
        # What comes from here on is raised once all is as before, and so is what nothing has raised yet.
        with stop.shielded():
            for each in taken:
                signal.signal(each, before[each] or signal.SIG_DFL)
            _ACTIVE.remove(stop)


def tell(sentence: str) -> None:
    """Say it on standard error, if anybody still listens there. A signal may come in the middle of a print."""
    with suppress(OSError):
        os.write(2, f"--> {sentence}\n".encode())
