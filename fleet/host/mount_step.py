"""Is every share of a policy mounted, now and at the next boot? Only our own lines of fstab are written."""

from collections.abc import Iterator

from fleet.host.fstab import FstabEntry, fstab_entry, nfs_server, same_type
from fleet.host.fstab_text import MARKS, fstab_line, fstab_lines
from fleet.host.mount_policy import MountPolicy
from fleet.host.mounts import Mount, Mounts
from fleet.host.policy import HostPolicy
from fleet.host.steps import MountNow, ReloadSystemd, Unmount, WriteFstab
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

_TOLD = frozenset({"ro", "rw", "hard", "soft", "noatime"})
"""Options that the kernel tells as they were asked for; sizes and times are what client and server agreed on."""


def mount_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What mounts the shares for good and now, or everything that stands in the way."""
    if blind := seen.unobserved("mounts"):
        yield blind
        return
    state = known(seen.mounts)
    refusals = (*_file_in_the_way(policy, seen.host, state), *_mounts_in_the_way(policy, seen.host, state))
    if refusals:
        yield from refusals
        return
    yield from _durable(policy, seen.host, state)
    yield from _now(policy, seen.host, state)


def _file_in_the_way(policy: HostPolicy, host: str, state: Mounts) -> Iterator[Refusal]:
    if policy.mounts and not state.fstab_is_file:
        yield Refusal(code="fstab_unusual", subject=f"{host} /etc/fstab", expected="a file", found="a link")
    if len(state.fstab_marks) not in (0, 2):
        yield Refusal(
            code="fstab_unusual",
            subject=f"{host} /etc/fstab",
            expected="both marks of ours, or none",
            found=f"{len(state.fstab_marks)}",
            hint="take what is left of our lines out by hand; they begin and end with # sparks:",
        )
    for target, mount in policy.mounts.items():
        for entry in _others(target, state):
            if not _is_same(entry, target, mount):
                yield Refusal(
                    code="fstab_conflict",
                    subject=f"{host} {target} at boot",
                    expected=fstab_line(target, mount),
                    found=f"{entry.wrong or entry.source} by {entry}",
                    hint=f"take line {entry.number} out of /etc/fstab, or declare what it says",
                )


def _mounts_in_the_way(policy: HostPolicy, host: str, state: Mounts) -> Iterator[Refusal]:
    if policy.mounts and not state.has_nfs:
        yield Refusal(
            code="nfs_missing", subject=f"{host} mount.nfs", expected="a program that mounts NFS", found="none",
            hint="apt install nfs-common",
        )  # fmt: skip
    for target, mount in policy.mounts.items():
        found, holders = state.at(target), state.holders.get(target, ())
        if found is not None and (what := _otherwise(found, mount, state)) is not None and holders:
            yield Refusal(
                code="mount_busy",
                subject=f"{host} {target}",
                expected=f"{what[1]}, or nobody who uses what is mounted there",
                found=f"{what[0]}, used by {', '.join(map(str, holders[:5]))}",
                hint="stop these, or leave it until they have ended; nothing that is used is unmounted",
            )


def _others(target: str, state: Mounts) -> list[FstabEntry]:
    return [each for each in state.fstab if each.target == target and not each.ours]


def _is_same(entry: FstabEntry, target: str, mount: MountPolicy) -> bool:
    wanted = fstab_entry(entry.number, fstab_line(target, mount).split())
    return (
        entry.wrong is None
        and entry.source == wanted.source
        and same_type(entry.type, wanted.type)
        and set(entry.options) - {"defaults"} == set(wanted.options) - {"defaults"}
    )


def _durable(policy: HostPolicy, host: str, state: Mounts) -> Iterator[Step]:
    """Our lines, without those that somebody else's line already says."""
    ours = [(target, mount) for target, mount in policy.mounts.items() if not _others(target, state)]
    wanted = [fstab_entry(0, fstab_line(*each).split(), ours=True) for each in ours]
    found = [each.replaced(number=0) for each in state.fstab if each.ours]
    if found != wanted or (state.fstab_marks and not ours):
        yield WriteFstab(
            subject=f"{host} /etc/fstab",
            before=_words(found),
            after=_words(wanted),
            reason="what fstab does not have is gone after a boot",
            lines=fstab_lines(ours),
            marks=MARKS,
        )
    stale = [each.target for each in state.units if each.needs_reload or each.load_state != "loaded"]
    if stale:
        yield ReloadSystemd(
            subject=f"{host} systemd",
            before=f"another fstab read, as to {', '.join(stale)}",
            after="this fstab read",
            reason="systemd makes units of fstab's lines when it reads them",
        )


def _now(policy: HostPolicy, host: str, state: Mounts) -> Iterator[Step]:
    for target, mount in policy.mounts.items():
        found = state.at(target)
        differs = None if found is None else _otherwise(found, mount, state)
        if differs is not None:
            yield Unmount(
                subject=f"{host} {target} now", before=differs[0], after="nothing mounted",
                reason=f"it should be {differs[1]}, and nobody uses it", target=target,
            )  # fmt: skip
        if differs is not None or (found is None and not (mount.is_automounted and state.armed(target))):
            yield MountNow(
                subject=f"{host} {target} now", before="nothing mounted", after=_after(mount),
                reason="it is not mounted", target=target, automount=mount.is_automounted,
            )  # fmt: skip


def _otherwise(found: Mount, mount: MountPolicy, state: Mounts) -> tuple[str, str] | None:
    """What is found and what should be, in words; None where it is mounted as it should be."""
    if found.source != mount.source or not same_type(found.type, mount.type):
        return f"{found.source} ({found.type})", f"{mount.source} ({mount.type})"
    there = dict(each.partition("=")[::2] for each in found.options)
    for each in mount.options:
        name, _, value = each.partition("=")
        missing = name in _TOLD and name not in there
        version = name in ("vers", "nfsvers") and not f"{there.get('vers', value)}.".startswith(f"{value}.")
        lanes = name == "nconnect" and _is_alone(mount, state) and there.get("nconnect", "1") != value
        if missing or version or lanes:
            said = f"vers={there['vers']}" if version else f"{name}={there.get(name, 'not set')}"
            return f"{found.source} with {said}", f"{found.source} with {each}"
    return None


def _is_alone(mount: MountPolicy, state: Mounts) -> bool:
    """Connections to a server are shared: `nconnect` counts for the first share that is mounted from it (nfs(5))."""
    server = nfs_server(mount.source)[0]
    return sum(same_type(each.type, "nfs") and each.source.startswith(f"{server}:") for each in state.mounts) <= 1


def _after(mount: MountPolicy) -> str:
    return f"{mount.source} when somebody looks" if mount.is_automounted else mount.source


def _words(entries: list[FstabEntry]) -> str:
    said = (f"{each.source} on {each.target} ({','.join(each.options)})" for each in entries)
    return ", ".join(said) or "no line of ours"
