"""Carrying a trial out: one Spark after the other, each phase into the receipt before it begins.

What follows from what is `fleet.kernel.trial`; here it happens. A Spark is left in a phase from which a power cycle
returns to the fallback, whatever becomes of this process.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fleet.health import Finding
from fleet.kernel.policy import KernelPolicy
from fleet.kernel.trial import FOLLOWS, Happening, Phase, happened, stands
from fleet.kernel.trial_beside import together
from fleet.kernel.trial_plan import HostTrial, TrialPlan
from fleet.outcome import Outcome
from fleet.receipt.acts import Health, OperationBegun, OperationDone, OperationFailed
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.verdict import Verdict
from lab.interrupt import Stop, tell
from lab.kernel.boots import Boots
from lab.kernel.documents import HostEnd
from lab.kernel.hold import held
from lab.kernel.look import stood
from lab.kernel.persist import persist
from lab.kernel.settling import settled
from lab.receipts.journal import Journal


@dataclass(frozen=True)
class Wish:
    """How patient a trial is, in seconds."""

    quiet: float
    """For how long no request must run before the boot."""
    drain: float
    boot: float
    settle: float
    """How long all that is looked for may take to come about after a boot."""


@dataclass
class Trial:
    """One trial of a target that goes on."""

    inventory: str
    roster: Roster
    plan: TrialPlan
    journal: Journal
    stop: Stop
    wish: Wish
    ends: list[HostEnd] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def run(self) -> Verdict:
        """Every Spark in its order, as long as each ends well."""
        for each in self.plan.hosts:
            end = self._spark(each)
            if end is not Phase.PERSISTED:
                return Verdict(Outcome.FAILED, self.ends[-1].says, self.refusals)
        return Verdict(Outcome.CONVERGED)

    def _spark(self, trial: HostTrial) -> Phase:
        """What it serves together with others stands on these alone while it is away: nobody else may change them."""
        others = together(self.roster, (trial.host,))
        with held(self.inventory, others) as self.refusals:
            return self._beside(trial, others) if self.refusals else self._phases(trial)

    def _beside(self, trial: HostTrial, others: Sequence[str]) -> Phase:
        policy, has_booted = self.roster.desired_for(trial.host).kernel, trial.begins is Phase.QUALIFY
        assert policy is not None, "expected the policy of the plan"
        end = Phase.TRIED if has_booted else Phase.KEPT
        self.journal.say(OperationFailed(host=trial.host, operation=f"hold {', '.join(others)}",
                                         reason=str(Happening.HELD), refusals=self.refusals))  # fmt: skip
        self._stand(trial.host, policy, end)
        tell(self.ends[-1].says)
        return end

    def _phases(self, trial: HostTrial) -> Phase:
        policy = self.roster.desired_for(trial.host).kernel
        assert policy is not None, "expected the policy of the plan"
        phase = trial.phases[0]
        boots = Boots(self.inventory, trial, self.journal, self.stop, self.wish.boot)
        acts: dict[Phase, Callable[[], Happening]] = {
            Phase.DRAIN: lambda: self._drained(boots),
            Phase.BOOT: lambda: self._booted(policy, boots.once),
            Phase.QUALIFY: lambda: self._qualified(trial),
            Phase.PERSIST: lambda: self._persisted(trial),
            Phase.RETURN: lambda: self._booted(policy, boots.back),
        }
        while not phase.is_end:
            self._stand(trial.host, policy, phase)
            phase = FOLLOWS[phase, self._acted(trial.host, phase, acts[phase])]
        self._stand(trial.host, policy, phase)
        tell(self.ends[-1].says)
        return phase

    def _acted(self, host: str, phase: Phase, act: Callable[[], Happening]) -> Happening:
        self.stop.check()
        self.journal.say(OperationBegun(host=host, operation=str(phase)))
        tell(f"{host}: {phase}")
        found = act()
        goes_on = not FOLLOWS[phase, found].is_end or FOLLOWS[phase, found] in (Phase.PERSISTED, Phase.RETURNED)
        if goes_on and found is not Happening.FAILED:
            self.journal.say(OperationDone(host=host, operation=str(phase), changed=phase is not Phase.QUALIFY))
        else:
            said = OperationFailed(host=host, operation=str(phase), reason=str(found), refusals=self.refusals)
            self.journal.say(said)
        return found

    def _stand(self, host: str, policy: KernelPolicy, phase: Phase) -> None:
        self.ends = [each for each in self.ends if each.host != host]
        self.ends.append(HostEnd(host=host, phase=phase, says=stands(phase, host, policy)))

    def _drained(self, boots: Boots) -> Happening:
        self.refusals = boots.drained(self.wish.quiet, self.wish.drain)
        return Happening.FAILED if self.refusals else Happening.DONE

    def _booted(self, policy: KernelPolicy, boot: Callable[[], tuple[str, str | None] | Refusal]) -> Happening:
        found = boot()
        if isinstance(found, Refusal):
            self.refusals = (found,)
            return Happening.FAILED
        before, after = found
        seen = None if after is None or after == before else stood(self.inventory, self.ends[-1].host)
        return Happening.FAILED if after == before else happened(policy, before, seen)

    def _qualified(self, trial: HostTrial) -> Happening:
        desired = self.roster.desired_for(trial.host)
        assert desired.kernel is not None, "expected the policy of the plan"
        with held(self.inventory, (trial.host,)) as self.refusals:
            if self.refusals:
                return Happening.HELD
            self.findings = settled(self.inventory, desired, self.wish.settle)
        self.journal.say(Health(host=trial.host, findings=self.findings))
        for each in self.findings:
            tell(f"{'well' if each.is_good else 'NOT WELL'}: {each}")
        return Happening.DONE if all(each.is_good for each in self.findings) else Happening.FAILED

    def _persisted(self, trial: HostTrial) -> Happening:
        self.refusals = persist(self.inventory, trial, self.journal, self.stop)
        return Happening.FAILED if self.refusals else Happening.DONE
