"""Checks of the rest of a host: clock, logins, swap, and what it is reached by when memory runs out."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.fit.instrument import GIB
from fleet.observation import known

SWAPPED = GIB
KIB64 = 65536
REACHED_BY = ("ssh.service", "tailscaled.service")
"""What a Spark is reached by; where one is not there, nothing is said of it."""
FIRST_USER = 1000
"""The first uid of people (login.defs(5), UID_MIN); logind leaves the objects of system users alone."""


def _clock(asked: Host) -> Iterator[Found]:
    clock = known(asked.seen.clock)
    if not clock.is_synchronized:
        yield Found(f"{asked.seen.host} clock", "one that follows the world's", "one that nobody sets",
                    "timedatectl set-ntp true on the host, and a server that it reaches")  # fmt: skip
    if clock.is_local:
        yield Found(f"{asked.seen.host} hardware clock", "UTC", "local time", "timedatectl set-local-rtc 0",
                    level=Level.INFO)  # fmt: skip


def _logout(asked: Host) -> Iterator[Found]:
    logins = known(asked.seen.logins)
    for process in known(asked.seen.processes).roots:
        is_users = process.uid >= FIRST_USER and process.user is not None and process.container_id is None
        if logins.removes_ipc and is_users and process.user not in logins.lingering:
            yield Found(f"{asked.seen.host} {process.comm}", f"{process.user} to linger, or RemoveIPC=no",
                        f"{process}, whose shared memory goes with the last session",
                        f"loginctl enable-linger {process.user} on the host")  # fmt: skip


def _killable(asked: Host) -> Iterator[Found]:
    units = known(asked.seen.units).units
    for name in REACHED_BY:
        unit = units.get(name)
        if unit is not None and unit.oom_score is not None and unit.oom_score >= 0:
            yield Found(f"{asked.seen.host} {name}", "a score below 0 for the OOM killer", str(unit.oom_score),
                        f'"oom_protected": ["{name}"] in a host policy')  # fmt: skip


def _failed(asked: Host) -> Iterator[Found]:
    for unit in known(asked.seen.units).units.values():
        if unit.active_state == "failed":
            yield Found(f"{asked.seen.host} {unit.name}", "it active, or not started", "failed",
                        f"systemctl status {unit.name} on the host")  # fmt: skip


def _huge_pages(asked: Host) -> Iterator[Found]:
    found, policy = known(asked.seen.huge_pages), asked.desired.host
    is_ours = policy is not None and policy.huge_pages is not None
    enabled = "never" if found.enabled is None or is_ours else found.enabled.value
    if found.page_size_bytes == KIB64 and enabled != "never":
        yield Found(f"{asked.seen.host} transparent huge pages", "never, with pages of 64 KiB", enabled,
                    '"huge_pages": {"enabled": "never"} in a host policy')  # fmt: skip


def _swap(asked: Host) -> Iterator[Found]:
    memory = known(asked.seen.memory)
    used = memory.swap_total_bytes - memory.swap_free_bytes
    if used > SWAPPED:
        yield Found(f"{asked.seen.host} swap", f"at most {SWAPPED // GIB} GiB in use", f"{used / GIB:.1f} GiB",
                    f"sparks status {asked.desired.name}")  # fmt: skip


HOST: tuple[HostCheck, ...] = (
    HostCheck(
        id="host.clock",
        level=Level.WARN,
        looks_for="A clock that nobody sets, or a hardware clock in local time (an INFO).",
        why="Certificates, leases and the order of logs depend on it; after a while it is off by seconds.",
        fix="`timedatectl set-ntp true`, and a time server that the Spark reaches.",
        find=_clock,
        sections=("clock",),
    ),
    HostCheck(
        id="host.logout_kills",
        level=Level.WARN,
        looks_for="An engine of a user whose shared memory logind removes with the user's last session.",
        why="`RemoveIPC=yes` takes semaphores and shared memory away when somebody logs out: the engine hangs or dies "
        "minutes after it was started over SSH.",
        fix="`loginctl enable-linger USER`, or `RemoveIPC=no`.",
        find=_logout,
        sections=("logins", "processes"),
    ),
    HostCheck(
        id="host.oom_unprotected",
        level=Level.WARN,
        looks_for="The SSH server, or Tailscale, that the kernel may kill like any other process when memory runs out.",
        why="On a Spark whose GPU takes the host's memory that is how it becomes unreachable until its power is cut.",
        fix="Name it in `oom_protected` of a host policy, and converge the scope `host`.",
        find=_killable,
        sections=("units",),
    ),
    HostCheck(
        id="host.unit_failed",
        level=Level.WARN,
        looks_for="A unit that was asked about and has failed.",
        why="By itself systemd does not start it again, or it has given up.",
        fix="Read its journal: `systemctl status UNIT`.",
        find=_failed,
        sections=("units",),
    ),
    HostCheck(
        id="host.huge_pages",
        level=Level.WARN,
        looks_for="Transparent huge pages on a kernel with pages of 64 KiB, where no host policy decides about them.",
        why="There a huge page is 512 MiB: memory is taken in pieces that engines never fill (field notes of a lab).",
        fix="`never`, by a host policy.",
        find=_huge_pages,
        sections=("huge_pages",),
    ),
    HostCheck(
        id="host.swap_used",
        level=Level.WARN,
        looks_for="More than a GiB of swap in use.",
        why="The host has been short of memory; what is swapped out is waited for when it is needed.",
        fix="Look who holds memory (`sparks status`), and what fits (`sparks fit`).",
        find=_swap,
        sections=("memory",),
    ),
)
