"""The lock on a host: who changes it now, and whether that run still lives. One run at a time changes a host."""

from enum import StrEnum
from typing import Annotated

from fleet.controller import Controller
from fleet.record import VOLATILE, Digest, Record

PLACE = "/run/sparks"
"""Where the lock lies: memory, so a reboot frees the host."""


class Process(Record):
    """One process of a host, told from a later one of its number by when it started."""

    pid: int
    started_ticks: int
    """Clock ticks since the host's boot: field 22 of `/proc/PID/stat`."""


class Lock(Record):
    """A lock as it lies on a host."""

    token: str
    """Of one run on one host: only that run releases it."""
    client: str | None
    """The address that the run came from; None where it was not over SSH."""
    since: str
    """By the host's clock."""
    plan: Digest | None
    """The plan that is being applied, where one was approved."""
    controller: Controller
    boot_id: str
    """The host's, when it was taken."""
    holder: Process | None
    """The process on the host that ends with the run's connection: sshd's for it, or without SSH the run itself. None
    where there is none to be seen, as in a container."""
    content_digest: Digest
    """Of the file: whoever takes the lock over or breaks it names the very lock that was looked at."""

    @property
    def owner(self) -> str:
        """Who took it."""
        return self.controller.owner

    def __str__(self) -> str:
        where = f" from {self.client}" if self.client else ""
        plan = f", plan {self.plan}" if self.plan else ""
        return f"one of {self.owner}{where} since {self.since}{plan}"


class Taker(StrEnum):
    """Who took a lock, as the one sees it who looks."""

    THIS_RUN = "this_run"
    SAME_OWNER = "same_owner"
    """Another run of the same user on the same machine."""
    ANOTHER = "another"


class LockState(Record):
    """The lock of a host as it was seen from a controller. It comes and goes with runs, and no step rests on it."""

    held: Annotated[Lock | None, VOLATILE] = None
    boot_id: Annotated[str, VOLATILE]
    """The host's, now."""
    holder_lives: Annotated[bool | None, VOLATILE] = None
    """Does the holder live? None where none is known."""
    at_work: Annotated[bool, VOLATILE] = False
    """Does a command of a run change the host now? One may outlive the run and the connection that it came over."""
    taker: Annotated[Taker, VOLATILE] = Taker.ANOTHER
    controller_lives: Annotated[bool | None, VOLATILE] = None
    """Does the process of the run live on its controller? None where whoever looks is on another machine."""

    def seen_by(self, here: Controller, started_ticks: int | None) -> "LockState":
        """The same, as a controller sees it.

        + started_ticks: when the process that has the lock's number on this machine started; None where there is none
        """
        if self.held is None:
            return self
        there = self.held.controller
        lives: bool | None = False if here.has_outlived(there) else None
        if here.sees(there):
            lives = started_ticks == there.started_ticks
        taker = Taker.SAME_OWNER if here.owner == there.owner else Taker.ANOTHER
        if here.is_process(there):
            taker = Taker.THIS_RUN
        return self.replaced(controller_lives=lives, taker=taker)

    @property
    def alive(self) -> str | None:
        """What of the run that took it lives, in words for `found`; None when nothing does, or nobody holds it.

        Where the controller knows, it is right: sshd takes hours to notice a controller that lost its power.
        """
        if self.held is None:
            return None
        if self.at_work:
            return "a command of it is at work on the host"
        if self.controller_lives:
            return f"its process {self.held.controller.pid} on {self.held.controller.host} lives"
        if self.controller_lives is False or self.held.boot_id != self.boot_id or self.holder_lives is False:
            return None
        if self.holder_lives is None or self.held.holder is None:
            return "no process on the host that would end with it"
        return f"its process {self.held.holder.pid} on the host lives"

    @property
    def gone(self) -> str | None:
        """How the end of the run that took it is known, in words for `found`; None where it lives."""
        if self.held is None or self.alive is not None:
            return None
        if self.held.boot_id != self.boot_id:
            return "the host has booted since"
        if self.controller_lives is False:
            return f"its process {self.held.controller.pid} on {self.held.controller.host} is gone"
        return f"its process {self.held.holder.pid if self.held.holder else 'there'} on the host is gone"
