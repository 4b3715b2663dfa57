"""How a host stands in what a guarded change touches, so that one can tell whether all of it is as before."""

from fleet.guard import GuardedChange
from fleet.links import find_link
from fleet.observation import Observation, known
from fleet.record import Record
from fleet.refusal import Refusal


class Standing(Record):
    """Every netplan file, and what is up on the interfaces of a change."""

    files: tuple[tuple[str, str | None], ...]
    """By path, the digest of its bytes."""
    interfaces: tuple[tuple[str, str], ...]
    """By interface, its profile and addresses in words; a lease may be another one afterwards."""


def standing(step: GuardedChange, seen: Observation) -> Standing:
    """How it stands now; the sections netplan, links and connections must have been observed."""
    return Standing(
        files=tuple(sorted((file.path, file.content_digest) for file in known(seen.netplan))),
        interfaces=tuple((each.interface, _words(each.interface, seen)) for each in step.undoing),
    )


def _words(interface: str, seen: Observation) -> str:
    link = find_link(known(seen.links), interface)
    profile = known(seen.connections).active_profile(interface)
    leased = {each.address for each in link.addresses if each.dynamic} if link else set()
    addresses = ["by DHCP" if each in leased else each for each in (link.ipv4 if link else ())]
    return f"{profile.name if profile else 'no profile'} up, addresses {' '.join(addresses) or 'none'}"


def changed_since(step: GuardedChange, before: Standing, seen: Observation) -> Refusal | None:
    """What is not as before, or could not be observed; None when all of it is."""
    if blind := seen.unobserved("netplan", "links", "connections"):
        return blind
    now = standing(step, seen)
    pairs = [*zip(before.interfaces, now.interfaces, strict=True)]
    differing = [(f"{one[0]} {one[1]}", f"{other[0]} {other[1]}") for one, other in pairs if one != other]
    differing += [
        (f"{path} {dict(before.files).get(path)}", f"{path} {dict(now.files).get(path)}")
        for path in dict.fromkeys([*dict(before.files), *dict(now.files)])
        if dict(before.files).get(path) != dict(now.files).get(path)
    ]
    if not differing:
        return None
    expected, found = differing[0]
    return Refusal(code="not_restored", subject=step.subject, expected=expected, found=found)
