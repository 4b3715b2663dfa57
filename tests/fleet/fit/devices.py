"""Sparks with some memory, and what shall lie in it."""

from typing import Any

from fleet.fit.demand import Demand
from fleet.fit.instrument import GIB, Device, Instrument
from fleet.fit.memory import Devices, MemoryFit
from fleet.fit.needs import Needs
from fleet.record import Unobserved
from fleet.refusal import Refusal

TOTAL = int(121.69 * GIB)
"""Of a Spark's device (field notes)."""


def device(free_gib: float, instrument: Instrument = Instrument.PROBE) -> Device:
    return Device.read(instrument, TOTAL, int(free_gib * GIB))


def sparks(*free_gib: float, instrument: Instrument = Instrument.PROBE) -> Devices:
    return tuple((f"s{at}", device(each, instrument)) for at, each in enumerate(free_gib))


def demand(context: int = 1024, slots: int = 1, **needs: Any) -> Demand:
    given: dict[str, Any] = {"weights_bytes": GIB, "kv_bytes_per_token": 1 << 20} | needs
    return Demand(model="m", needs=Needs(**given), context=context, slots=slots)


def held(found: MemoryFit | tuple[Refusal, ...]) -> MemoryFit:
    assert isinstance(found, MemoryFit), found
    return found


DARK = Unobserved(reason="no answer over SSH")
