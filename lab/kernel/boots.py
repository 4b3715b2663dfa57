"""Draining and booting one Spark of a trial, over a connection that a boot ends."""

from dataclasses import dataclass

import click
from pyinfra.context import ctx_host

from deploys.drain import Wish, drained
from fleet.drain import End, Waiting
from fleet.kernel.trial import Entry
from fleet.kernel.trial_plan import HostTrial
from fleet.kernel.trial_refusal import not_drained
from fleet.receipt.acts import StepBegun, StepDone
from fleet.refusal import Refusal
from fleet.step import Effect
from lab.collect import connected
from lab.drain import say_drain
from lab.interrupt import Stop
from lab.kernel.hold import taken
from lab.receipts.journal import Journal
from operations.trial import await_boot, await_started, boot_default, boot_id, boot_once, withdraw

TELL_SECONDS = 15.0
"""How often whoever watches is told that it is still being waited for."""
ONCE, DEFAULT = "one_shot_boot", "default_boot"
"""The kinds of steps by which a receipt tells the two boots of a trial."""


@dataclass
class Boots:
    """The boots of one Spark."""

    inventory: str
    trial: HostTrial
    journal: Journal
    stop: Stop
    seconds: float
    """How long a boot may take until the Spark answers."""

    def drained(self, quiet: float, seconds: float) -> tuple[Refusal, ...]:
        """Wait until no request runs; why it cannot be said, or nothing."""
        wish = Wish(seconds=quiet, timeout=seconds)
        with connected(self.inventory, self.trial.host) as (host,):
            found = taken(host) or drained(host, wish, self._tell_drain)
        if isinstance(found, Refusal):
            return (found,)
        say_drain(self.journal, found)
        return () if found.end in (End.QUIET, End.NOTHING) else (not_drained(self.trial.host, found),)

    def once(self) -> tuple[str, str | None] | Refusal:
        """Boot the kernel that is tried, once: the boot ids before and after, None for no answer; or why not."""
        return self._boot(ONCE, f"{self.trial.fallback}, the default", f"{self.trial.release} once", self.trial.entry)

    def back(self) -> tuple[str, str | None] | Refusal:
        """Boot the default, which is the fallback."""
        return self._boot(DEFAULT, self.trial.release, f"{self.trial.fallback}, the default", None)

    def _boot(self, kind: str, before: str, after: str, entry: Entry | None) -> tuple[str, str | None] | Refusal:
        name = self.trial.host
        about = {"host": name, "kind": kind, "subject": f"{name} boot"}
        with connected(self.inventory, name) as (host,):
            was = boot_id(host)
            if was is None:
                expected, found = "to know which boot it is in", "no answer"
                return Refusal(code="not_rebooted", subject=f"{name} kernel", expected=expected, found=found)
            self.journal.say(StepBegun(**about, before=before, after=after, effect=Effect.RESTART))
            with self.stop.shielded(), ctx_host.use(host):
                refusal = boot_default(host) if entry is None else boot_once(host, entry)
            if refusal is not None:
                return refusal
            now = await_boot(host, was, self.seconds, _Teller(name, self.seconds))
            if now == was and entry is not None:
                withdraw(host, entry)
            elif now is not None and now != was:
                await_started(host)
                self.journal.say(StepDone(**about, after=after))
        return was, now

    def _tell_drain(self, look: Waiting) -> None:
        if look.activity:
            click.echo(f"{self.trial.host}: {'; '.join(look.activity)}", err=True)


@dataclass
class _Teller:
    """Tells now and then how long a boot has been waited for."""

    host: str
    seconds: float
    told: float = 0.0

    def __call__(self, waited: float, is_old: bool) -> None:
        if waited - self.told < TELL_SECONDS:
            return
        self.told = waited
        state = "has not gone down yet" if is_old else "does not answer yet"
        click.echo(f"{self.host}: {state}, {waited:.0f} of {self.seconds:.0f} s", err=True)
