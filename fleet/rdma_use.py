"""Who holds RDMA resources on a host, by device, from `rdma -j resource show`."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from fleet.record import VOLATILE, Record

KINDS = ("qp", "cm_id", "pd", "mr", "cq", "srq", "ctx")
"""Kinds of resources that `rdma resource show` counts and lists (iproute2 6.15); older ones know no srq and no ctx."""

PLUMBING = frozenset({"ib_core", "mlx5_ib", "mlx5_core", "rdma_rxe"})
"""Kernel modules whose resources are there on every idle device: the management QPs (GSI, SMI) of ib_core, and the
driver's own. Every other kernel owner (nvme_rdma, rpcrdma, …) is in use as a process is."""


class RdmaHolder(Record):
    """One process, or one kernel module, and how much it holds of one device."""

    pid: int | None = None
    """None for a kernel module, and for a process that is just ending."""
    command: str | None = None
    """The process's or module's name; None where the kernel no longer tells."""
    resources: dict[str, int]
    """How many of each of `KINDS`; a kind that it holds none of is left out."""

    @property
    def is_user(self) -> bool:
        """Does it hold more than a context? One that only has the device open (`ctx`) depends on no GID."""
        return any(kind != "ctx" for kind in self.resources)

    def __str__(self) -> str:
        name = self.command or "a process that is ending"
        return name if self.pid is None else f"{name} (pid {self.pid})"


class DeviceUse(Record):
    """One RDMA device and everybody who holds something of it; the kernel's plumbing is left out."""

    device: str
    holders: Annotated[tuple[RdmaHolder, ...], VOLATILE] = ()
    """They come and go; where a step would disturb one, that is a refusal."""

    @property
    def users(self) -> tuple[RdmaHolder, ...]:
        """Those whose work would be cut off if the device's GIDs went away."""
        return tuple(each for each in self.holders if each.is_user)


def users_of(use: Iterable[DeviceUse], devices: Iterable[str]) -> tuple[RdmaHolder, ...]:
    """Everybody who uses one of these devices, in the order of their pids."""
    wanted = set(devices)
    found = {str(user): user for each in use if each.device in wanted for user in each.users}
    return tuple(sorted(found.values(), key=lambda user: (user.pid or 0, str(user))))


def parse_rdma_use(sections: Mapping[str, str]) -> tuple[DeviceUse, ...]:
    """Every device, by name, from the JSON of `rdma -j resource show` (section `summary`) and of each kind it counts.

    No section at all is a host without RDMA: no device. Raises ValueError where a kind that was counted is missing.
    """
    if not sections:
        return ()
    summary = _rows("summary", sections.get("summary", "null"))
    counted = [kind for kind in KINDS if any(each.get(kind) for each in summary)]
    missing = [kind for kind in counted if kind not in sections]
    if missing:
        raise ValueError(f"rdma resource: expected {', '.join(missing)}, found none")
    devices = {str(_field(each, "ifname")): _Counts() for each in summary}
    for kind in counted:
        for row in _rows(kind, sections.get(kind, "[]")):
            if not _is_plumbing(row):
                holder = row.get("pid"), _name(row)
                devices.setdefault(str(_field(row, "ifname")), _Counts()).setdefault(holder, Counter())[kind] += 1
    return tuple(DeviceUse(device=device, holders=_holders(devices[device])) for device in sorted(devices))


class _Counts(dict[tuple[int | None, str | None], Counter[str]]):
    """How many of each kind, by pid and name."""


def _holders(counts: _Counts) -> tuple[RdmaHolder, ...]:
    holders = (RdmaHolder(pid=pid, command=name, resources=dict(kinds)) for (pid, name), kinds in counts.items())
    return tuple(sorted(holders, key=lambda each: (each.pid or 0, each.command or "")))


def _is_plumbing(row: Mapping[str, Any]) -> bool:
    return "pid" not in row and _name(row) in PLUMBING


def _name(row: Mapping[str, Any]) -> str | None:
    """The owner: `[ib_core]` in text and in some versions' JSON is the module ib_core."""
    name = row.get("comm")
    return None if name is None else str(name).removeprefix("[").removesuffix("]")


def _rows(kind: str, text: str) -> list[dict[str, Any]]:
    """The objects of a list; nothing at all is what some versions print for an empty list."""
    found = json.loads(text) if text.strip() else []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"rdma resource {kind}: expected a list of objects, found another shape")
    return [each for each in found if each]


def _field(row: Mapping[str, Any], key: str) -> Any:
    if key not in row:
        raise ValueError(f"rdma resource: expected {key}, found none")
    return row[key]
