"""A profile whose keyfile has nonsense in it: what it sets is not known, which matters where it could take a port."""

from collections.abc import Container

from fleet.connections import Connections, Profile
from fleet.ownership import WIRED
from fleet.record import Unobserved
from fleet.refusal import Refusal


def unread_profile(
    host: str, interface: str, connections: Connections, removed: Container[object] = ()
) -> Refusal | None:
    """A refusal for the first such profile that is on the port or may come up there; None where there is none.

    + removed: paths of files that are going to be removed anyway
    """
    for profile in connections.profiles:
        if profile.filename in removed or not _may_take(profile, interface):
            continue
        if isinstance(profile.stored, Unobserved):
            return Refusal(
                code="unobserved",
                subject=f"{host} profile {profile.name}",
                expected=f"to read what it sets, as it may be for {interface}",
                found=profile.stored.reason,
                hint=f"mend {profile.filename} on the host, and run nmcli connection reload",
            )
    return None


def _may_take(profile: Profile, interface: str) -> bool:
    """Is it up there, or is it a wired one that is up nowhere? Which interface it names is not known either."""
    return profile.device == interface or (profile.device is None and profile.type in WIRED)
