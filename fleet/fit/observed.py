"""The memory of a Spark as its own kernel tells it."""

from fleet.fit.instrument import Device, Instrument
from fleet.observation import Observation
from fleet.record import Unobserved


def device(seen: Observation) -> Device | Unobserved:
    """The memory of a Spark by its kernel."""
    memory = seen.memory
    if isinstance(memory, Unobserved):
        return memory
    return Device.read(Instrument.MEM_AVAILABLE, memory.total_bytes, memory.available_bytes)
