"""Who says how many bytes. Different instruments mean different bytes, so no sum and no comparison joins two of them.

On a Spark's one pool of memory they differ by gigabytes: a probe container found 101 to 117 GiB free, and the engine's
own check some moments later 6.8 GiB less (field measurements of 2026; the host's own figure is another again).
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from fleet.record import Record
from fleet.wall import wall


class Instrument(StrEnum):
    """What was read."""

    MEM_AVAILABLE = "mem_available"
    """The host's kernel: MemAvailable of /proc/meminfo, what a new process could get without swapping."""
    PROBE = "probe"
    """`torch.cuda.mem_get_info()` in a container of the engine's image: what the engine goes by."""
    ENGINE_CHECK = "engine_check"
    """What the engine itself finds free as it starts."""
    ENGINE = "engine"
    """The engine's own word on what it holds: Ollama's `size_vram`, vLLM's weights and KV cache."""
    RSS = "rss"
    """The resident memory of the engine's processes, by the kernel: without what only the GPU has mapped."""
    COMPUTE_APPS = "compute_apps"
    """`nvidia-smi --query-compute-apps`: what each process holds by the driver. On GB10 nothing else of it is known."""

    @property
    def tells_free(self) -> bool:
        """Does it say what is free? The others say what somebody holds."""
        return self in (Instrument.MEM_AVAILABLE, Instrument.PROBE, Instrument.ENGINE_CHECK)

    def __str__(self) -> str:
        return _WORDS[self]


_WORDS = {
    Instrument.MEM_AVAILABLE: "MemAvailable",
    Instrument.PROBE: "a probe container",
    Instrument.ENGINE_CHECK: "the engine's own check",
    Instrument.ENGINE: "the engine's word",
    Instrument.RSS: "process RSS",
    Instrument.COMPUTE_APPS: "compute-apps",
}


class Reading(Record):
    """Some bytes, and who says so."""

    instrument: Instrument
    amount_bytes: int = Field(ge=0)

    def __str__(self) -> str:
        return f"{gib(self.amount_bytes)} by {self.instrument}"


class Device(Record):
    """The memory of one Spark that a GPU can use, as one instrument has it."""

    total: Reading
    free: Reading

    @classmethod
    def read(cls, instrument: Instrument, total_bytes: int, free_bytes: int) -> Self:
        """Both by one instrument."""
        return cls(
            total=Reading(instrument=instrument, amount_bytes=total_bytes),
            free=Reading(instrument=instrument, amount_bytes=free_bytes),
        )

    @model_validator(mode="after")
    def _walls(self) -> Self:
        one_instrument((self.total, self.free))
        if not self.instrument.tells_free:
            raise wall("tells_no_free", f"free: expected an instrument that tells it, found {self.instrument}")
        if self.free.amount_bytes > self.total.amount_bytes or not self.total.amount_bytes:
            raise wall("free_above_total", f"free: expected at most the total, {self.total}, found {self.free}")
        return self

    @property
    def instrument(self) -> Instrument:
        """Who says so."""
        return self.total.instrument


def one_instrument(readings: Iterable[Reading]) -> Instrument:
    """The instrument of all of them; a wall where there are several."""
    found = list(dict.fromkeys(each.instrument for each in readings))
    if len(found) != 1:
        shown = " and ".join(map(str, found)) or "none"
        raise wall("mixed_instruments", f"readings: expected one instrument, found {shown}")
    return found[0]


def summed(readings: Iterable[Reading]) -> Reading:
    """The sum of readings of one instrument; a wall for others."""
    parts = tuple(readings)
    return Reading(instrument=one_instrument(parts), amount_bytes=sum(each.amount_bytes for each in parts))


GIB = 1 << 30


def gib(amount_bytes: int) -> str:
    """As people compare it: `26.35 GiB`; below 10 MiB in bytes, since 0.00 GiB says nothing."""
    if abs(amount_bytes) < 10 << 20:
        return f"{amount_bytes:,} B"
    return f"{amount_bytes / GIB:.2f} GiB"
