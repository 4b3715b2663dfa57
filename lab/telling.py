"""What a run does, told while it does it: each line into the receipt first, and then to whoever watches."""

import click
from pyinfra.api import Host, State
from pyinfra.api.state import BaseStateCallback
from typing_extensions import override

from deploys.commands import operation_name
from fleet.observation import Observation
from fleet.plan import Plan
from fleet.receipt.acts import OperationBegun, OperationDone, OperationFailed, StepBegun, StepDone
from fleet.receipt.events import Event, HostConnected
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.verdict import Ran
from lab.receipts.journal import Journal


class Telling(BaseStateCallback):
    """Hears of every operation from pyinfra, and of every step from the operations themselves (`Watcher`)."""

    def __init__(self, journal: Journal, plan: Plan) -> None:
        self._journal = journal
        self._due = {(host.host, each.name) for host in plan.hosts for each in host.operations}
        self._acted = False
        self._refusals: dict[str, list[Refusal]] = {}
        self._differences: dict[str, list[Refusal]] = {}

    def ran(self, failed: tuple[str, ...]) -> Ran:
        """What became of it, with the hosts that failed."""
        return Ran(self._acted, failed, _all(self._refusals), _all(self._differences))

    def connected(self, *hosts: Observation) -> None:
        """These hosts answered."""
        for seen in hosts:
            boot = None if isinstance(seen.kernel, Unobserved) else seen.kernel.boot_id
            self._journal.say(HostConnected(host=seen.host, boot_id=boot))

    def looking_again(self) -> None:
        """Each operation looks for itself before it acts: so long, seconds on a host, no step would be told."""
        for host in dict.fromkeys(host for host, _ in sorted(self._due)):
            self.going_on(host, "looking again before the first step")

    def step_begun(self, host: str, step: Step) -> None:
        """The receipt has it before the host does."""
        said = {name: getattr(step, name) for name in ("kind", "subject", "before", "after", "effect")}
        self._tell(StepBegun(host=host, **said), "begin")
        self._acted = True

    def step_done(self, host: str, step: Step) -> None:
        """Its command ended well; what it left is read back after it."""
        self._tell(StepDone(host=host, kind=step.kind, subject=step.subject, after=step.after), "done")

    def going_on(self, host: str, line: str) -> None:
        """For whoever watches alone."""
        click.echo(f"{host}: {line}", err=True)

    def refused(self, host: str, refusal: Refusal) -> None:
        """Kept for the end of its operation."""
        self._refusals.setdefault(host, []).append(refusal)

    def differs(self, host: str, refusal: Refusal) -> None:
        """Kept as well."""
        self._differences.setdefault(host, []).append(refusal)

    @override
    def operation_host_start(self, state: State, host: Host, op_hash: str) -> None:  # type: ignore[override]
        if (found := self._operation(host, op_hash)) is not None:
            self._journal.say(OperationBegun(host=host.name, operation=found))

    @override
    def operation_host_success(  # type: ignore[override]
        self, state: State, host: Host, op_hash: str, retry_count: int = 0
    ) -> None:
        if (found := self._operation(host, op_hash)) is not None:
            self._journal.say(OperationDone(host=host.name, operation=found, changed=True))

    @override
    def operation_host_error(  # type: ignore[override]
        self, state: State, host: Host, op_hash: str, retry_count: int = 0, max_retries: int = 0
    ) -> None:
        refusals, differences = self._refusals.get(host.name, []), self._differences.get(host.name, [])
        reason = "refused" if refusals else "not as desired" if differences else "a command failed"
        name = operation_name(host, op_hash)
        self._tell(
            OperationFailed(host=host.name, operation=name, reason=reason, refusals=(*refusals, *differences)), "failed"
        )

    def _operation(self, host: Host, op_hash: str) -> str | None:
        name = operation_name(host, op_hash)
        return name if (host.name, name) in self._due else None

    def _tell(self, event: Event, word: str) -> None:
        self._journal.say(event)
        click.echo(f"{word}: {event}", err=True)


def _all(by_host: dict[str, list[Refusal]]) -> tuple[Refusal, ...]:
    return tuple(dict.fromkeys(refusal for each in by_host.values() for refusal in each))
