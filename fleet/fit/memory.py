"""Does it fit: what each rank must hold against what is free there, and the floor over all ranks."""

from collections.abc import Sequence
from typing import Self

from pydantic import Field, model_validator

from fleet.fit.demand import DRAFT_KV, KV, Demand, Line, Split, infeasible
from fleet.fit.instrument import Device, Instrument, gib, one_instrument
from fleet.fit.policy import Policy
from fleet.record import Record, Unobserved
from fleet.refusal import Refusal
from fleet.wall import wall

Devices = Sequence[tuple[str, Device | Unobserved]]
"""The memory of each Spark by one instrument, in the order of their ranks."""


class RankFit(Record):
    """One rank of an assembly."""

    host: str
    lines: tuple[Line, ...]
    device: Device

    @property
    def need_bytes(self) -> int:
        """All that it must hold."""
        return sum(each.amount_bytes for each in self.lines)

    @property
    def kv_bytes(self) -> int:
        """What of that is KV cache, of the model and of its draft: an engine has one pool for both."""
        return sum(each.amount_bytes for each in self.lines if each.what in (KV, DRAFT_KV))

    def margin_bytes(self, policy: Policy) -> int:
        """What is left of what may be taken; below zero what is missing."""
        return policy.room_bytes(self.device.free.amount_bytes, self.device.total.amount_bytes) - self.need_bytes


class MemoryFit(Record):
    """An assembly held against the memory of its Sparks, as one instrument has it."""

    policy: Policy
    split: Split
    ranks: tuple[RankFit, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _walls(self) -> Self:
        hosts = [each.host for each in self.ranks]
        if len(hosts) != self.split.ranks or len(set(hosts)) != len(hosts):
            raise wall("ranks_and_hosts", f"ranks: expected {self.split.ranks} sparks, found {', '.join(hosts)}")
        one_instrument([each.device.total for each in self.ranks])
        return self

    @property
    def instrument(self) -> Instrument:
        """Who says what is free."""
        return self.ranks[0].device.instrument

    @property
    def holds(self) -> bool:
        """Does it fit on every rank?"""
        return self.margin_bytes >= 0

    @property
    def margin_bytes(self) -> int:
        """The floor over ranks: that of the rank with the least."""
        return min(each.margin_bytes(self.policy) for each in self.ranks)

    def refusals(self) -> tuple[Refusal, ...]:
        """Every rank on which it does not fit."""
        return tuple(self._short(each) for each in self.ranks if each.margin_bytes(self.policy) < 0)

    def _short(self, rank: RankFit) -> Refusal:
        device, reserve = rank.device, gib(self.policy.reserve_bytes)
        if rank.need_bytes > (most := self.policy.share_bytes(self.policy.ceiling, device.total.amount_bytes)):
            expected = f"at most {gib(most)}, the ceiling of {self.policy.ceiling} of {device.total}"
            return Refusal(
                code="memory_above_ceiling",
                subject=f"{rank.host} memory",
                expected=expected,
                found=gib(rank.need_bytes),
            )
        return Refusal(
            code="memory_short",
            subject=f"{rank.host} memory",
            expected=f"{gib(rank.need_bytes)} and a reserve of {reserve}",
            found=f"{device.free} free, {gib(-rank.margin_bytes(self.policy))} less than that",
        )


def memory_fit(
    demands: Sequence[Demand], split: Split, devices: Devices, policy: Policy
) -> MemoryFit | tuple[Refusal, ...]:
    """The fit by one instrument, or why there is none: one Spark that cannot be read refuses the set."""
    unread = tuple(_unread(host, found) for host, found in devices if isinstance(found, Unobserved))
    bad = infeasible(demands, split)
    if bad is not None:
        demand, (expected, found) = bad
        subject = f"{demand.model} split as {split}"
        return *unread, Refusal(
            code="parallel_strategy_infeasible", subject=subject, expected=expected, found=found
        )  # fmt: skip
    if unread:
        return unread
    return MemoryFit(
        policy=policy,
        split=split,
        ranks=tuple(
            RankFit(host=host, lines=tuple(line for each in demands for line in each.lines(split, rank)), device=device)
            for rank, (host, device) in enumerate(devices)
            if isinstance(device, Device)
        ),
    )


def kv_pinned(pinned_bytes: int, fit: MemoryFit) -> tuple[Refusal, ...]:
    """Why the KV cache of a fixed size that an engine is told is too small, by rank."""
    return tuple(
        Refusal(
            code="kv_pinned_short",
            subject=f"{each.host} KV cache",
            expected=f"{gib(each.kv_bytes)} for all slots at their context, draft and all",
            found=f"{gib(pinned_bytes)} pinned",
        )
        for each in fit.ranks
        if each.kv_bytes > pinned_bytes
    )


def _unread(host: str, found: Unobserved) -> Refusal:
    return Refusal(code="unobserved", subject=f"{host} memory", expected="an observation", found=found.reason)
