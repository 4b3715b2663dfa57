"""The arithmetic of one Spark's memory as rows of a table: what is needed, what there is, what is left."""

from collections.abc import Iterable, Iterator

from fleet.fit.demand import Line
from fleet.fit.instrument import GIB, Device
from fleet.fit.policy import Policy
from lab.map.words import printable

HEAD = ("MODEL", "WHAT", "BYTES", "GIB", "HOW")


def account(lines: Iterable[Line], need_bytes: int, device: Device, policy: Policy) -> Iterator[tuple[str, ...]]:
    """A row for each line of the need, its sum, and how much room there is by the device's instrument."""
    total, free = device.total.amount_bytes, device.free.amount_bytes
    yield from (row(printable(each.model), each.what, each.amount_bytes, each.how) for each in lines)
    yield row("", "need", need_bytes, "the sum of these")
    yield row("", "free", free, f"by {device.instrument}")
    yield row("", "reserve", policy.reserve_bytes, "policy: stays free")
    ceiling = policy.share_bytes(policy.ceiling, total)
    yield row("", "ceiling", ceiling, f"policy: {policy.ceiling} of {total:,} B")
    yield row("", "room", policy.room_bytes(free, total), "the lesser of free - reserve and ceiling")


def to_spare(amount_bytes: int, how: str) -> tuple[str, ...]:
    """The row of what is left, or of what is missing."""
    return row("", "to spare" if amount_bytes >= 0 else "missing", abs(amount_bytes), how)


def row(model: str, what: str, amount: int, how: str) -> tuple[str, ...]:
    """One amount, in bytes and as people compare it."""
    return (model, what, f"{amount:>15,}", f"{amount / GIB:>7.2f}", how)
