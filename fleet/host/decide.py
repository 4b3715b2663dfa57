"""Every decision about the rest of a host, part by part, in the order in which a deploy carries it out. Pure."""

from collections.abc import Callable, Iterator, Mapping

from fleet.desired import DesiredSpark
from fleet.host.policy import HostPolicy
from fleet.host.sysctl_step import sysctl_steps
from fleet.observation import Observation
from fleet.refusal import Refusal
from fleet.step import Step

SYSCTLS = "kernel settings"

PARTS: Mapping[str, Callable[[HostPolicy, Observation], Iterator[Step | Refusal]]] = {
    SYSCTLS: sysctl_steps,
}
"""By the name of the operation that makes a part so; each starts with what is durable."""


def part_steps(part: str, desired: DesiredSpark, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What one part of a host needs, or everything that stands in the way; nothing where it has no policy."""
    return () if desired.host is None else tuple(PARTS[part](desired.host, seen))
