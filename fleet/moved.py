"""What moved between a plan that was approved and the one that would be made now. Pure."""

from collections.abc import Iterator

from fleet.plan import Plan
from fleet.planned import HostPlan
from fleet.step import Step


def moved(approved: Plan, now: Plan) -> tuple[str, ...]:
    """What differs, a line each; empty where both have the same digest."""
    if approved.digest == now.digest:
        return ()
    pairs = (
        ("target", f"{approved.target.kind} {approved.target}", f"{now.target.kind} {now.target}"),
        ("scope", approved.scope, now.scope),
        ("what the hosts should be", approved.desired_digest, now.desired_digest),
    )
    lines = [f"{what}: expected {before}, found {after}" for what, before, after in pairs if before != after]
    hosts = {each.host: each for each in now.hosts}
    for host in approved.hosts:
        if host.host in hosts:
            lines += _on_host(host, hosts[host.host])
    return tuple(lines) or ("how steps are carried out: expected the approved commands, found others",)


def _on_host(approved: HostPlan, now: HostPlan) -> Iterator[str]:
    for section in sorted(approved.prestate.keys() | now.prestate.keys()):
        if approved.prestate.get(section) != now.prestate.get(section):
            yield f"{approved.host} {section.replace('_', ' ')}: expected it as it was looked at, found it moved"
    before, after = _due(approved), _due(now)
    for key in [*before, *(key for key in after if key not in before)]:
        one, other = before.get(key), after.get(key)
        if one != other:
            with_reason = _words(one) == _words(other)
            yield f"{key[1]}: expected {_words(one, with_reason)}, found {_words(other, with_reason)}"


def _words(step: Step | None, with_reason: bool = False) -> str:
    if step is None:
        return "nothing due"
    return f"{step.before} -> {step.after}" + (f" ({step.reason})" if with_reason else "")


def _due(host: HostPlan) -> dict[tuple[str, str], Step]:
    return {(step.kind, step.subject): step for step in host.steps}
