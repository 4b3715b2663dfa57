"""Carry a change out that may cut SSH: armed, tried, and made durable only over a fresh connection; else undone.

The host does all of it by itself, detached: what becomes of the controller or its connection stops nothing.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gevent
from pyinfra import logger
from pyinfra.api import Host, State
from pyinfra.connectors.ssh import SSHConnector

from facts.observe import forget, settle
from fleet.guard import GuardedChange
from fleet.refusal import Refusal
from operations.acting import POLL_SECONDS, Call, refuse, say
from operations.answer import ask, root_script
from operations.approved import begins, carried_out, not_approved
from operations.fresh import PAUSE_SECONDS, Place, connected, places, use
from operations.guard_script import Trial
from operations.lock import hold_again
from operations.lock_script import HELD
from operations.scratch import NETPLAN_SECONDS

ARM_SECONDS = NETPLAN_SECONDS + 60
"""For the files, netplan's own check of them, and the timer."""
TELL_SECONDS = 20
"""For the host to say how a trial stands; a connection that is silent for so long was cut. Under 2 s on a virtual
Spark (measured 2026-11-29)."""
COMMAND_SECONDS = 90
"""For a commit, which may wait 30 s for its lock."""
LOOK_SECONDS = 450
"""For looking at the host with every fact of a decision; the slowest of them has 400 s."""
SHOWS_SECONDS = 60.0
"""How long what was tried may take to show: see `operations.netplan.ACTIVE_WITHIN_SECONDS`."""
RESTORED_SECONDS = 600
"""How long after the window the old state may take: 8 s on a virtual Spark alone, five minutes and more where
fourteen of them share two processors (measured 2026-11-29)."""

NOTHING_CHANGED = "; nothing was changed"

Look = Callable[[], Refusal | None]
"""Looks at the host over its present connection: what differs, or None."""


def guarded(host: Host, step: GuardedChange, shows: Look, is_done: Look, is_old: Look) -> Iterator[Call]:
    """Yields the command that carries out a guarded change, and fails the host unless it was committed.

    + shows: what of the trial does not show yet, asked over the fresh connection before the commit
    + is_done: what is not as desired after it
    + is_old: what is not as before, asked after a rollback
    """
    if refusals := not_approved(host, [step]):
        yield from refuse(*refusals)
        return
    sends = tuple(map(root_script, Trial(step, token="TOKEN").confirmed))
    begins(host, step)
    yield Call("try, confirm over a fresh connection, commit", _carry_out, step, shows, is_done, is_old, step=step,
               sends=sends)  # fmt: skip
    carried_out(host, step)


def _carry_out(state: State, host: Host, step: GuardedChange, shows: Look, is_done: Look, is_old: Look) -> bool:
    change = _Change(state, host, Trial(step), places(host, step.reach))
    refusal = change.arm()
    if refusal is None:
        found = change.confirm(shows)
        refusal = change.looked(is_done) if found is None else change.rolled_back(found, is_done, is_old)
    if refusal is not None:
        return say(state, host, (refusal,))
    settle(host)
    return True


@dataclass
class _Change:
    """One guarded change of one host."""

    state: State
    host: Host
    trial: Trial
    where: tuple[Place, ...]
    ends: float = field(default=0.0)
    """When the window ends, by this machine's monotonic clock."""

    def arm(self) -> Refusal | None:
        """Start the timer and then the trial. An answer that is lost counts as armed: the host will tell."""
        self.ends = time.monotonic() + self.trial.step.window_seconds
        answer = ask(self.host, f"{HELD}\n{self.trial.arm}", ARM_SECONDS)
        self.ends = time.monotonic() + self.trial.step.window_seconds
        if answer is None or answer.is_ok:
            for line in answer.out if answer else ():
                if line.startswith("note: "):
                    logger.warning(f"{self.host.print_prefix}{line}")
            return None
        expected, _, found = answer.error.removeprefix("expected ").rpartition(", found ")
        return Refusal(
            code="guard_not_armed",
            subject=self.trial.step.subject,
            expected=expected or "the host to arm a guard",
            found=found.removesuffix(NOTHING_CHANGED) + NOTHING_CHANGED,
        )

    def confirm(self, shows: Look) -> str | None:
        """Commit over a fresh connection; else why it was not, in words for `found`."""
        while time.monotonic() < self.ends:
            for place, connection in connected(self.state, self.host, self.where):
                self._come_in(connection)
                self.where = tuple(sorted(self.where, key=lambda each: each != place))
                told, is_fresh = self._stands()
                if told == "tried" and is_fresh:
                    return self._commit(place, shows)
                if told is not None and told != "tried":
                    return told.partition(" ")[2] or "the host's guard gone, as after a reboot"
                break
            gevent.sleep(PAUSE_SECONDS)
        return f"no answer from {', '.join(map(str, self.where))} in {self.trial.step.window_seconds} s"

    def _come_in(self, connection: SSHConnector) -> None:
        """Go on over a fresh connection: what ends with the old one, the lock too, goes over to it."""
        use(self.host, connection)
        hold_again(self.host)

    def _stands(self) -> tuple[str | None, bool]:
        """How the trial stands once it does, None without an answer; and is this connection younger than that?

        A connection from before the trial may outlive a change that lets nobody else in.
        """
        is_fresh = True
        while True:
            told = self._told()
            if told is None or not told.startswith(("armed", "trying", "failed")):
                return told, is_fresh
            is_fresh = False
            gevent.sleep(PAUSE_SECONDS)

    def _told(self) -> str | None:
        """What the host's guard says: `armed`, `trying`, `tried`, `rolled-back WHY`, …, `gone`; None: no answer."""
        answer = ask(self.host, self.trial.call("state"), TELL_SECONDS)
        if answer is None:
            return None
        return " ".join(answer.out).strip() if answer.is_ok else "gone"

    def _commit(self, place: Place, shows: Look) -> str | None:
        difference = self._shown(shows)
        if difference is not None:
            ask(self.host, self.trial.call("undo", " ".join(difference.found.split())), COMMAND_SECONDS)
            return difference.found
        answer = ask(self.host, f"{HELD}\n{self.trial.call('commit')}", COMMAND_SECONDS)
        if answer is None or not answer.is_ok:
            return "no answer to the commit" if answer is None else answer.error.rpartition(", found ")[2]
        if place.address is not None:
            logger.warning(
                f"{self.host.print_prefix}answers at {place} now; the inventory must say so for the next run"
            )
        return None

    def _shown(self, shows: Look) -> Refusal | None:
        until = min(time.monotonic() + SHOWS_SECONDS, self.ends)
        while True:
            difference = self.looked(shows)
            if difference is None or time.monotonic() >= until:
                return difference
            gevent.sleep(POLL_SECONDS)

    def rolled_back(self, found: str, is_done: Look, is_old: Look) -> Refusal | None:
        """Wait until the host has undone it and all is as before; None where its answer to the commit was lost."""
        step = self.trial.step
        left = "no answer"
        while time.monotonic() < self.ends + RESTORED_SECONDS:
            for _, connection in connected(self.state, self.host, self.where):
                self._come_in(connection)
                told = self._told()
                if told is None or not told.startswith(("rolled-back", "committed", "gone")):
                    continue
                if self.looked(is_done) is None:
                    return None
                difference = self.looked(is_old)
                if difference is None:
                    return Refusal(
                        code="rolled_back",
                        subject=step.subject,
                        expected=f"{step.after}, confirmed over a fresh SSH connection",
                        found=f"{found}; undone, files and addresses are as before",
                    )
                left = difference.found
            gevent.sleep(PAUSE_SECONDS)
        return Refusal(
            code="not_restored",
            subject=step.subject,
            expected="the old state after a change that was not confirmed",
            found=f"{left}; the change failed with {found}",
            hint="look at the host's console; the trial is only in memory, a reboot ends it",
        )

    def looked(self, look: Look) -> Refusal | None:
        """What differs, seen anew; a look that hangs differs too."""
        forget(self.host)
        try:
            with gevent.Timeout(LOOK_SECONDS):
                return look()
        except gevent.Timeout:
            subject = self.trial.step.subject
            return Refusal(code="unobserved", subject=subject, expected="an observation", found="no answer to a look")
