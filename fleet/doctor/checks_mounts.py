"""Checks of room on disks, and of what is mounted now and at a boot."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.fit.instrument import GIB
from fleet.host.fstab import NETWORK, FstabEntry
from fleet.host.mounts import Mounts
from fleet.observation import known

LITTLE, LEAST = 20 * GIB, 2 * GIB
"""Bytes: below the first no model of any size can be pulled, below the second packages and journals fail."""
INODES = 0.02
"""The share below which small files soon find no place."""


def _room(asked: Host) -> Iterator[Found]:
    for space in known(asked.seen.mounts).spaces:
        subject = f"{asked.seen.host} {space.target}"
        if space.available_bytes < LITTLE and space.available_bytes < space.size_bytes / 10:
            found = f"{space.available_bytes / GIB:.1f} GiB of {space.size_bytes / GIB:.0f}"
            yield Found(subject, f"{LITTLE // GIB} GiB of room, or a tenth", found, f"du -xh {space.target}",
                        level=Level.ERROR if space.available_bytes < LEAST else None)  # fmt: skip
        if space.inodes and space.inodes_available < space.inodes * INODES:
            yield Found(subject, "room for more files", f"{space.inodes_available:,} of {space.inodes:,} inodes left")


def _unread(asked: Host) -> Iterator[Found]:
    for entry in known(asked.seen.mounts).fstab:
        if entry.wrong is not None:
            found = f"{entry.wrong}: {entry.target} is left out"
            yield Found(f"{asked.seen.host} {entry}", "a line that mount reads", found,
                        "put a comment on a line of its own in /etc/fstab")  # fmt: skip


def _is_missing(entry: FstabEntry, mounts: Mounts) -> bool:
    is_place = entry.target.startswith("/") and entry.type != "swap"
    return is_place and entry.is_mounted_at_boot and mounts.at(entry.target) is None and not mounts.armed(entry.target)


def _unmounted(asked: Host) -> Iterator[Found]:
    mounts = known(asked.seen.mounts)
    for entry in mounts.fstab:
        if _is_missing(entry, mounts):
            yield Found(f"{asked.seen.host} {entry.target}", f"{entry.source} mounted, as {entry} says", "nothing",
                        f"mount {entry.target} on the host")  # fmt: skip


def _covered(asked: Host) -> Iterator[Found]:
    mounts = known(asked.seen.mounts)
    for mount in mounts.covered:
        over = mounts.at(mount.target)
        found = "something else" if over is None else over.source
        yield Found(f"{asked.seen.host} {mount.target}", f"{mount.source} to be seen there", f"{found} mounted over it")


def _boots_without(asked: Host) -> Iterator[Found]:
    for entry in known(asked.seen.mounts).fstab:
        wants = [each for each in ("_netdev", "nofail") if each not in entry.options]
        if entry.type in NETWORK and entry.is_mounted_at_boot and not entry.is_automounted and "nofail" in wants:
            yield Found(f"{asked.seen.host} {entry}", f"{' and '.join(wants)}, so that a boot needs no server",
                        ",".join(entry.options) or "defaults")  # fmt: skip


MOUNTS: tuple[HostCheck, ...] = (
    HostCheck(
        id="host.disk",
        level=Level.WARN,
        looks_for="A local file system with less than 20 GiB and less than a tenth of it free (an ERROR below 2 GiB), "
        "or hardly any inodes.",
        why="A pull that finds no room fails at its end; without any, logs, packages and a run's stamp fail.",
        fix="Look what takes it (`du -xh`); models that no roster names are the usual part.",
        find=_room,
        sections=("mounts",),
    ),
    HostCheck(
        id="host.fstab_line",
        level=Level.ERROR,
        looks_for="A line of /etc/fstab that mount, findmnt and systemd leave out.",
        why="A comment behind the fields (`… nfs defaults # NAS`) makes a line unreadable, and nothing but a warning "
        "says so: the mount is gone after the next boot.",
        fix="Put the comment on a line of its own.",
        find=_unread,
        sections=("mounts",),
    ),
    HostCheck(
        id="host.not_mounted",
        level=Level.WARN,
        looks_for="A line of /etc/fstab that a boot mounts and that is not mounted now.",
        why="What reads there finds an empty folder, and what writes fills the disk below it.",
        fix="See that the server answers, then mount it.",
        find=_unmounted,
        sections=("mounts",),
    ),
    HostCheck(
        id="host.overmounted",
        level=Level.WARN,
        looks_for="A mount that cannot be seen, since something else was mounted over it.",
        why="Files that were written there before are out of reach, and their room is not given back.",
        fix="Find out which of both is meant, and unmount the other when nobody uses it.",
        find=_covered,
        sections=("mounts",),
    ),
    HostCheck(
        id="host.boot_needs_server",
        level=Level.WARN,
        looks_for="A network file system that a boot waits for.",
        why="With its server gone, a boot without `nofail` ends in the emergency shell, where no SSH answers.",
        fix="Add `nofail` and `_netdev`, or `x-systemd.automount`, to its options.",
        find=_boots_without,
        sections=("mounts",),
    ),
)
