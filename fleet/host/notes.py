"""What a plan tells of the rest of a host besides its steps: what waits for a boot, and what one takes away. Pure."""

from collections.abc import Iterator

from fleet.desired import DesiredSpark
from fleet.host.fstab import same_type
from fleet.host.modules import Modules, same_parameter
from fleet.host.mounts import Mounts
from fleet.host.policy import HostPolicy
from fleet.observation import Observation
from fleet.record import Unobserved


def host_notes(desired: DesiredSpark, seen: Observation) -> tuple[str, ...]:
    """One line for each; nothing for a Spark without a policy."""
    if desired.host is None:
        return ()
    return (*_waiting(desired.host, seen), *_lost(desired.host, seen))


def _waiting(policy: HostPolicy, seen: Observation) -> Iterator[str]:
    """Options that a module takes when it is loaded, and no later."""
    if not isinstance(seen.modules, Modules):
        return
    for module, options in policy.modules.items():
        for name, value in options.items():
            found = seen.modules.loaded.get(module, {}).get(name)
            if found is None or found.is_writable or found.value is None:
                continue
            if same_parameter(found.value) != same_parameter(str(value)):
                yield f"{seen.host} {module}.{name}: {found.value} until the next boot, then {value}"


def _lost(policy: HostPolicy, seen: Observation) -> Iterator[str]:
    """Shares that somebody has mounted by hand."""
    if isinstance(seen.mounts, Unobserved):
        return
    mounts: Mounts = seen.mounts
    lasting = {each.target for each in mounts.fstab if each.is_mounted_at_boot} | set(policy.mounts)
    for each in mounts.mounts:
        if same_type(each.type, "nfs") and each.target not in lasting:
            yield f"{seen.host} {each.target}: {each.source}, mounted by hand: lost at the next boot"
