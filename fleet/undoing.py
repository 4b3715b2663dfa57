"""Whether what is up on an interface now can be brought back, and by what."""

from fleet.connections import Profile
from fleet.guard import ToUp, Undoing, cannot_be_undone, guard_refusal
from fleet.handmade import hand_made
from fleet.keyfile import Settings, Storage
from fleet.links import Link
from fleet.netplan.effective import binding
from fleet.observation import Observation, known
from fleet.refusal import Refusal


def undoing(host: str, link: Link, new: ToUp, seen: Observation) -> Undoing | Refusal:
    """What brings a link back after a trial of a new profile, or why nothing would.

    Restoring puts files back; so all that is up now must follow from files that a reboot finds.
    """
    if refusal := guard_refusal(host, seen):
        return refusal
    subject = f"{host} {link.name}"
    files, connections = known(seen.netplan), known(seen.connections)
    active = connections.active_profile(link.name)
    owner = None if active is None or connections.is_mirror(active) else active
    if owner is not None and not _comes_back(owner):
        return cannot_be_undone(subject, "a profile from a file that a reboot finds", f"{owner.name}, {owner.storage}")
    in_memory = next((file.path for file, _ in binding(files, link.name, link.own_mac) if not file.durable), None)
    if in_memory is not None:
        return cannot_be_undone(subject, "netplan files that a reboot finds", in_memory)
    if by_hand := hand_made(link, files, connections):
        return cannot_be_undone(subject, "addresses that some file explains", ", ".join(by_hand))
    return Undoing(interface=link.name, uuid=owner.uuid if owner else new.uuid, was_up=owner is not None)


def _comes_back(profile: Profile) -> bool:
    return profile.storage in (Storage.NETPLAN, Storage.PERSISTENT) and isinstance(profile.stored, Settings)
