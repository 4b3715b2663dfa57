"""How much of a Spark's memory may be used: four numbers, and nothing about any model."""

from decimal import ROUND_FLOOR, Decimal
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from fleet.record import Record
from fleet.wall import wall


def _fraction(value: Decimal) -> Decimal:
    """0.9 and 0.90 are one number, with one digest."""
    if not 0 < value <= 1 or value != round(value, 4):
        raise wall("no_fraction", f"expected a fraction above 0, up to 1, of at most four decimals, found {value}")
    return value.normalize()


Fraction = Annotated[Decimal, AfterValidator(_fraction)]
"""A share of a device's total memory, as `--gpu-memory-utilization` spells it."""


class Policy(Record):
    """What of each Spark's memory may be taken. Every rank is held against it alone."""

    ceiling: Fraction = Decimal("0.9")
    """The most of the total that may be taken; vLLM's own default (docs.vllm.ai, engine arguments, 2026-11-30)."""
    floor: Fraction = Decimal("0.01")
    """The least fraction that is worth serving with; by default the least that can be said."""
    reserve_bytes: Annotated[int, Field(ge=0)] = 8 << 30
    """What stays free for the host on each Spark; 8 GiB is what labs have settled on (field notes of 2026)."""
    granularity: Fraction = Decimal("0.01")
    """To what a fraction is rounded down: two decimals."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if self.floor > self.ceiling:
            raise wall("floor_above_ceiling", f"floor: expected at most the ceiling {self.ceiling}, found {self.floor}")
        for name in ("ceiling", "floor"):
            if self.rounded(getattr(self, name)) != getattr(self, name):
                found = getattr(self, name)
                raise wall("not_in_steps", f"{name}: expected a multiple of {self.granularity}, found {found}")
        return self

    def rounded(self, fraction: Decimal) -> Decimal:
        """Down to the granularity."""
        return ((fraction / self.granularity).to_integral_value(ROUND_FLOOR) * self.granularity).normalize()

    def room_bytes(self, free_bytes: int, total_bytes: int) -> int:
        """What may be taken of a device; below zero where not even the reserve is free."""
        return min(free_bytes - self.reserve_bytes, self.share_bytes(self.ceiling, total_bytes))

    @staticmethod
    def share_bytes(fraction: Decimal, total_bytes: int) -> int:
        """A fraction of a device, in whole bytes."""
        return int(fraction * total_bytes)
