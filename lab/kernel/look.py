"""Looking at the Sparks of a trial: what it may begin from, and what a kernel that was booted is held against."""

from collections.abc import Iterator

from facts.boot import GrubBoot
from facts.bundle import Wanted
from facts.gpu import GpuState
from facts.kernel import Kernel
from facts.kernels import InstalledKernels
from facts.lock import HostLock
from facts.needs import Looks
from facts.rdma_pin import RdmaPins
from fleet.desired import DesiredSpark
from fleet.kernel.qualify import Looked
from fleet.kernel.standing import standing
from fleet.kernel.trial import First, Phase, Standing, begins
from fleet.kernel.trial_beside import beside, together
from fleet.kernel.trial_plan import HostTrial, TrialPlan, host_trial
from fleet.kernel.trial_refusal import not_as_desired
from fleet.locked import lock_refusal
from fleet.observation import Observation
from fleet.plan import Plan, Refusals
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Scope, Target
from lab.collect import collect, roster_of
from lab.session import session


def spark(host: str) -> Target:
    """One Spark as a target."""
    return Target(name=host, kind="spark", hosts=(host,))


def trial_looks(desired: DesiredSpark | None = None) -> Looks:
    """What a trial's decisions rest on, with a policy or without one."""
    return {
        "kernel": Wanted(Kernel),
        "kernels": Wanted(InstalledKernels),
        "boot": Wanted(GrubBoot),
        "lock": Wanted(HostLock),
    }


def planned(inventory: str, target: Target) -> TrialPlan | Refusals:
    """What a trial of the target is going to do, or every reason on every Spark why it may not begin."""
    roster = roster_of(inventory)
    others = together(roster, target.hosts)
    seen = collect(inventory, (*target.hosts, *others), trial_looks)
    trials: list[HostTrial] = []
    refusals: list[Refusal] = []
    for host in target.hosts:
        for each in _planned(inventory, roster, seen[host]):
            (trials if isinstance(each, HostTrial) else refusals).append(each)  # type: ignore[arg-type]
    if trials or refusals:
        refusals += [no for host in others for no in beside(roster.desired_for(host), seen[host])]
    trials.sort(key=lambda each: each.begins is not Phase.QUALIFY)
    return Refusals(refusals=tuple(refusals)) if refusals else TrialPlan(target=target, hosts=tuple(trials))


def stood(inventory: str, host: str) -> Standing | None:
    """How a Spark stands now, over new connections; None where that cannot be observed."""
    found = standing(collect(inventory, (host,), trial_looks)[host])
    return found if isinstance(found, Standing) else None


def looked(inventory: str, desired: DesiredSpark) -> Looked:
    """All that a kernel is held against, over new connections."""
    host = desired.name
    looks = {"kernel": Wanted(Kernel), "gpu": Wanted(GpuState), "rdma_pins": Wanted(RdmaPins)}
    seen = collect(inventory, (host,), lambda _: looks)[host]
    with session(inventory, spark(host), Scope.SERVE) as at_work:
        outcome = at_work.plan
        served = at_work.health(None) if isinstance(outcome, Plan) and outcome.is_noop else ()
    return Looked(kernel=seen.kernel, gpu=seen.gpu, pins=seen.rdma_pins, outcome=outcome, served=served)


def _planned(inventory: str, roster: Roster, seen: Observation) -> Iterator[HostTrial | Refusal]:
    desired = roster.desired_for(seen.host)
    now = standing(seen)
    if not isinstance(now, Standing):
        yield from now
        return
    first = begins(desired.kernel, now)
    if isinstance(first, First):
        if (locked := lock_refusal(seen.host, seen)) is not None:
            yield locked
        yield from _not_as_desired(inventory, seen.host, first)
        assert desired.kernel is not None, "expected a policy where a trial may begin"
        yield host_trial(desired, desired.kernel, now, first)
    elif first is not None:
        yield from first


def _not_as_desired(inventory: str, host: str, first: First) -> Iterator[Refusal]:
    """What is not as desired before cannot tell afterwards whether the kernel is at fault.

    The kernel's own scope is asked too: packages are pinned and words are on the command line before it is tried.
    """
    if first.phase is Phase.QUALIFY:
        return
    for scope in (Scope.SERVE, Scope.KERNEL):
        with session(inventory, spark(host), scope) as at_work:
            outcome = at_work.plan
        if isinstance(outcome, Refusals):
            yield from outcome.refusals
        elif not outcome.is_noop:
            yield not_as_desired(host, scope, outcome.steps)
