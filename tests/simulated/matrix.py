"""A run that is disturbed, what it says of itself, and the runs after it, held against one that nothing disturbed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from fleet.plan import Plan, plan
from fleet.receipt.acts import StepBegun, StepDone
from fleet.receipt.link import State
from fleet.receipt.receipt import Receipt
from fleet.record import canonical_json
from fleet.target import Target
from tests.simulated.controller import Ran
from tests.simulated.faults import Fault
from tests.simulated.site import ROSTER, TARGET, Converging, Looked, Natively
from tests.simulated.world import World

KILLED, REFUSED, FAILED, DONE = 128 + 9, 3, 1, 0
SPARK = Target(name=TARGET, kind="spark", hosts=(TARGET,))


@dataclass
class Undisturbed:
    """A run of an operator from a Spark as it comes to its end, and what has to be the same after any other."""

    operator: Natively | Converging
    looked: Looked
    ran: Ran
    finished: dict[str, str] = field(default_factory=dict)
    """What went wrong in the runs after a disturbed one, by the state that it had left: many faults leave the same."""

    @classmethod
    def by(cls, operator: Natively | Converging) -> "Undisturbed":
        looked = operator.look(operator.site.world())
        return cls(operator, looked, operator.carry_out(looked.ran.world.next_run(), looked))

    @property
    def commands(self) -> list[str]:
        return self.ran.world.commands

    @cached_property
    def steps(self) -> list[int]:
        """The commands that carry a step out."""
        return sorted(self.ran.world.parts)

    @property
    def parts(self) -> dict[int, int]:
        """Of how many parts such a command is."""
        return self.ran.world.parts

    def expect(self, faults: Iterable[Fault], *statuses: int) -> None:
        """Each of the faults, alone: the run ends so, its receipt is true, and the next run finishes."""
        wrong = [told for fault in faults if (told := self._wrong(fault, statuses))]
        assert not wrong, "\n\n".join([f"{len(wrong)} of these", *wrong])

    def _wrong(self, fault: Fault, statuses: tuple[int, ...]) -> str | None:
        name = f"{fault} ({self.commands[fault.at]})"
        self.operator.site.clear_receipts()
        ran = self.operator.carry_out(self.looked.ran.world.next_run(fault), self.looked)
        if ran.status not in statuses or "Traceback" in ran.said:
            return f"{name}: expected status {statuses}, found {ran.status}\n{ran.said}"
        if isinstance(self.operator, Converging) and (told := self._untrue(ran)):
            return f"{name}: {told}\n{ran.said}"
        spark = ran.world.sparks[TARGET]
        left = canonical_json(spark.settled() | {"lock": spark.lock is not None, "at work": bool(spark.unfinished)})
        if left not in self.finished:
            self.finished[left] = self._finish(ran.world.next_run())
        return f"{name}: {self.finished[left]}\n{ran.said}" if self.finished[left] else None

    def _untrue(self, ran: Ran) -> str | None:
        """What the receipt says that is not so, or does not say."""
        receipt = self.operator.site.last_receipt()
        if receipt is None:
            return "no receipt" if ran.world.begun or ran.status != KILLED else None
        if receipt.faults:
            return f"its receipt is not whole: {receipt.faults}"
        begun = [line.data.subject for line in receipt.lines if isinstance(line.data, StepBegun)]
        done = [line.data.subject for line in receipt.lines if isinstance(line.data, StepDone)]
        if missing := [each for each in ran.world.begun if each not in begun]:
            return f"the host was told {missing}, and the receipt does not say so"
        if never := [each for each in done if each not in ran.world.begun]:
            return f"the receipt says that {never} was done, and the host was never told"
        return _wrong_end(receipt, ran, self._is_finished(ran))

    def _finish(self, world: World) -> str:
        """What goes wrong when a person runs it again; empty where it comes to the same end."""
        looked = self.operator.look(world)
        if looked.ran.status not in (DONE, REFUSED) or "locked" in looked.ran.said:
            return f"the next run is refused\n{looked.ran.said}"
        ran = looked.ran
        if looked.plan is not None or isinstance(self.operator, Natively):
            ran = self.operator.carry_out(looked.ran.world.next_run(), looked)
        return self.differs(ran) or "" if ran.status == DONE else f"the next run does not finish\n{ran.said}"

    def _is_finished(self, ran: Ran) -> bool:
        outcome = plan(ROSTER, SPARK, {TARGET: ran.world.sparks[TARGET].seen})
        return isinstance(outcome, Plan) and outcome.is_noop

    def differs(self, ran: Ran) -> str | None:
        """How the end of a run differs from the end of the undisturbed one."""
        if not self._is_finished(ran):
            return "something is due still"
        found, wanted = (each.world.sparks[TARGET].settled() for each in (ran, self.ran))
        wrong = [name for name in wanted if found[name] != wanted[name]]
        return "; ".join(f"{name}: expected {wanted[name]}, found {found[name]}" for name in wrong) or None


def _wrong_end(receipt: Receipt, ran: Ran, is_finished: bool) -> str | None:
    """A killed run says nothing of its end; any other says what its status says, and nothing good that is not so."""
    if ran.status == KILLED:
        return None if receipt.state is State.UNCLOSED or not ran.world.begun else "a killed run has closed its receipt"
    if receipt.outcome is None or receipt.outcome.exit_status != ran.status:
        return f"expected a receipt that ends as the run did, with status {ran.status}, found {receipt.outcome}"
    if receipt.outcome.is_good and not is_finished:
        return f"the receipt says {receipt.outcome}, and something is due still"
    return None
