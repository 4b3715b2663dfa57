"""Every simulated Spark of a site, the commands that a run sends to them, and the fault that happens to one."""

import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fleet.observation import known
from fleet.ollama.steps import OfferModel
from fleet.step import Step
from tests.simulated import lock, looks
from tests.simulated.faults import Fault, Kind, Moment
from tests.simulated.lock import Said
from tests.simulated.spark import SimulatedSpark, is_write

SUDO = "expected sudo without a password for spark, found it refused"
OFFERED = '{"port": 40000, "token": "t0ken"}'
FULL = "expected room to write it whole, found the write refused; the old file stands"


class Gone(Exception):
    """The connection, or the host behind it."""


@dataclass
class World:
    """The hosts, and one run that comes to them."""

    sparks: dict[str, SimulatedSpark]
    fault: Fault | None = None
    commands: list[str] = field(default_factory=list)
    """What this run has sent, in words: `a look`, `a lock take`, `a write_document`."""
    parts: dict[int, int] = field(default_factory=dict)
    """How many parts a command had, by its number; only for those that carry a step out."""
    begun: list[str] = field(default_factory=list)
    """The subjects of the planned steps that a host was told to carry out, in order."""
    locks_at: tuple[int, str, int] | None = None
    """At which command somebody else takes the lock, its text, and the number of their connection."""
    last_session: int = 100
    saved_at: Path | None = None
    jump_clock: Callable[[], None] = lambda: None

    def connect(self, name: str) -> int:
        """A new connection: the number of sshd's process for it."""
        spark = self.sparks[name]
        if not spark.is_up:
            raise Gone
        self.last_session += 1
        spark.sessions.add(self.last_session)
        return self.last_session

    def close(self, name: str, session: int) -> None:
        """The connection ends."""
        self.sparks[name].sessions.discard(session)

    def run(self, name: str, session: int, command: str, step: Step | None) -> Said:
        """Carry a command out on a host, with whatever happens to it."""
        spark = self.sparks[name]
        script = inner(command)
        number = len(self.commands)
        self.commands.append(f"{name} {_words(script, step)}")
        if self.locks_at is not None and self.locks_at[0] == number:
            spark.lock = self.locks_at[1]
            spark.sessions.add(self.locks_at[2])
        if not spark.is_up or session not in spark.sessions:
            raise Gone
        if step is not None and step.is_planned:
            self.begun.append(step.subject)
        fault = self.fault if self.fault is not None and self.fault.at == number else None
        if fault is None:
            return self._carry_out(spark, session, script, step)
        return self._with_fault(fault, spark, session, script, step)

    def _with_fault(self, fault: Fault, spark: SimulatedSpark, session: int, script: str, step: Step | None) -> Said:
        if fault.kind in (Kind.DISK, Kind.SUDO, Kind.CLOCK):
            self._goes_on(fault.kind, spark)
            return self._carry_out(spark, session, script, step)
        if fault.kind is Kind.LOST:
            return Said()
        before = spark.seen
        if fault.moment is not Moment.BEFORE:
            self._carry_out(spark, session, script, step, fault.parts if fault.moment is Moment.MIDST else None)
        if fault.kind is Kind.KILLED:
            spark.unfinished = (before, step) if step is not None and fault.moment is Moment.MIDST else None
            self.save()
            os.kill(os.getpid(), signal.SIGKILL)
        spark.sessions.discard(session)
        if fault.kind is Kind.POWER:
            spark.boot()
            spark.is_up = False
        raise Gone

    def _goes_on(self, kind: Kind, spark: SimulatedSpark) -> None:
        if kind is Kind.CLOCK:
            self.jump_clock()
        spark.has_room &= kind is not Kind.DISK
        spark.has_sudo &= kind is not Kind.SUDO

    def _carry_out(
        self, spark: SimulatedSpark, session: int, script: str, step: Step | None, parts: int | None = None
    ) -> Said:
        if looks.is_bundle(script):
            return Said(out=looks.answer(spark, session, script))
        if not spark.has_sudo:
            return Said(77, error=SUDO)
        if lock.is_about_lock(script):
            return self._lock(spark, session, script)
        assert lock.is_change(script), f"expected a look, the lock or a change, found {script[:200]}"
        assert step is not None, f"expected the step of a change, found none for {script[:200]}"
        if refusal := lock.refusal_to_change(spark, session):
            return refusal
        if is_write(step) and not spark.has_room:
            return Said(74, error=FULL)
        if (why := spark.fails(step)) is not None:
            return Said(1, error=why)
        for done, _ in enumerate(spark.stages(step), 1):
            self.parts[len(self.commands) - 1] = done
            if done == parts:
                break
        return Said(out=OFFERED if isinstance(step, OfferModel) else "")

    def _lock(self, spark: SimulatedSpark, session: int, script: str) -> Said:
        said, mark = lock.play(spark, session, script), lock.mark_of(script)
        if said.code or mark is None:
            return said
        if not spark.has_room:
            return Said(74, error=FULL)
        spark.change(generation=known(spark.seen.generation).replaced(begun=mark))
        return said

    def save(self) -> None:
        """Keep the hosts for whoever waits for the end of this run."""
        assert self.saved_at is not None
        self.saved_at.write_bytes(pickle.dumps(self))

    def next_run(self, fault: Fault | None = None) -> "World":
        """The same hosts, up and well again and left by all, before another run."""
        for spark in self.sparks.values():
            spark.is_up = spark.has_sudo = spark.has_room = True
            spark.sessions.clear()
        return World(self.sparks, fault, last_session=self.last_session)


def inner(command: str) -> str:
    """What root runs, of a command that elevates; else the command."""
    if looks.is_bundle(command) or "sudo -n true" not in command:
        return command
    quoted = command.partition("$r sh -c '")[2].rpartition("' sh ")[0]
    return quoted.replace("'\"'\"'", "'").partition("export SSH_CONNECTION; ")[2]


def _words(script: str, step: Step | None) -> str:
    if looks.is_bundle(script):
        return "look"
    if lock.is_about_lock(script):
        return f"lock {lock.command_of(script)}"
    return str(getattr(step, "kind", "change"))
