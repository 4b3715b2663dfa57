"""Which looks the decisions about the rest of a host rest on."""

from collections.abc import Callable, Mapping

from facts.bundle import Wanted
from facts.host_files import HostFiles
from facts.host_sysctl import Sysctls
from fleet.desired import DesiredSpark
from fleet.host.decide import SYSCTLS
from fleet.host.policy import HostPolicy

Looks = dict[str, Wanted]


def _sysctls(policy: HostPolicy) -> Looks:
    return {"sysctls": Wanted(Sysctls, (("keys", tuple(policy.settings)),))}


_PARTS: Mapping[str, Callable[[HostPolicy], Looks]] = {SYSCTLS: _sysctls}


def part_looks(part: str, desired: DesiredSpark) -> Looks:
    """What a decision about one part rests on; nothing where the Spark has no host policy."""
    return {} if desired.host is None else {"host_files": Wanted(HostFiles)} | _PARTS[part](desired.host)


def policy_looks(desired: DesiredSpark) -> Looks:
    """What the decisions about every part rest on."""
    return {section: look for part in _PARTS for section, look in part_looks(part, desired).items()}
