"""`sparks kernel show`: what each Spark boots, looked at and not changed."""

from facts.bundle import Wanted
from facts.kernels import KernelPackages
from facts.needs import Looks
from fleet.desired import DesiredSpark
from fleet.kernel.standing import standing
from fleet.kernel.trial import Standing
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.target import Target
from lab.collect import collect, roster_of
from lab.kernel.documents import ShowDocument, Shown
from lab.kernel.look import trial_looks


def show_looks(desired: DesiredSpark | None = None) -> Looks:
    """What is shown of a Spark, with a policy or without one."""
    return trial_looks(desired) | {"packages": Wanted(KernelPackages)}


def shown(inventory: str, target: Target, seconds: float) -> ShowDocument:
    """Every Spark of the target; each has `seconds` to answer."""
    roster = roster_of(inventory)
    seen = collect(inventory, target.hosts, show_looks, seconds)
    found = [shown_of(roster.desired_for(host), seen[host]) for host in target.hosts]
    return ShowDocument(
        target=target.name,
        hosts=tuple(each for each in found if isinstance(each, Shown)),
        refusals=tuple(no for each in found if isinstance(each, tuple) for no in each),
    )


def shown_of(desired: DesiredSpark, seen: Observation) -> Shown | tuple[Refusal, ...]:
    """One Spark; or every section that could not be observed."""
    now, policy = standing(seen), desired.kernel
    if not isinstance(now, Standing):
        return now
    if (blind := seen.unobserved("packages")) is not None:
        return (blind,)
    fallback = policy.fallback if policy else None
    entry = now.entry(fallback)
    missing = None if fallback is None else "no entry of its own in the menu" if entry is None else entry.missing
    return Shown(
        host=seen.host,
        running=now.running,
        default=now.default,
        is_pinned=now.is_pinned,
        one_shot=now.one_shot,
        next_boot=known(seen.boot).next.release,
        policy=policy.release if policy else None,
        fallback=fallback,
        fallback_missing=missing,
        held=tuple(sorted(each.name for each in known(seen.packages).packages if each.want == "hold")),
    )
