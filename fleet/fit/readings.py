"""What somebody else's instruments said is free, as an operator writes it down for `sparks fit --readings`.

A probe container and an engine's own check are run by whoever runs the engine; the host's kernel is asked by us.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.fit.instrument import Device, Instrument
from fleet.instant import Instant
from fleet.record import Record, Unobserved
from fleet.spark import HostName
from fleet.wall import wall

TOLD = (Instrument.PROBE, Instrument.ENGINE_CHECK)
"""The instruments that are not ours to read."""


class HostReading(Record):
    """What one of them said on one Spark."""

    host: HostName
    instrument: Literal["probe", "engine_check"]
    """As `Instrument` spells it."""
    total_bytes: Annotated[int, Field(gt=0)]
    free_bytes: Annotated[int, Field(ge=0)]
    taken_at: Instant

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if self.free_bytes > self.total_bytes:
            found = f"{self.free_bytes:,} of {self.total_bytes:,}"
            raise wall("free_above_total", f"{self.host} free_bytes: expected at most total_bytes, found {found}")
        return self

    @property
    def device(self) -> Device:
        """As a fit takes it."""
        return Device.read(Instrument(self.instrument), self.total_bytes, self.free_bytes)


class Readings(Record):
    """All that was written down."""

    format: Literal[1] = 1
    readings: tuple[HostReading, ...]

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if not self.readings:
            raise wall("no_reading", "readings: expected at least one, found none")
        pairs = [(each.host, each.instrument) for each in self.readings]
        twice = next((each for each in pairs if pairs.count(each) > 1), None)
        if twice is not None:
            host, instrument = twice
            raise wall("read_twice", f"readings: expected one of {host} by {Instrument(instrument)}, found several")
        return self

    @property
    def instruments(self) -> tuple[Instrument, ...]:
        """Those that said anything, each once."""
        return tuple(each for each in TOLD if any(reading.instrument == each for reading in self.readings))

    def device(self, host: str, instrument: Instrument) -> Device | Unobserved:
        """What one said on a Spark; where nothing is written of that, nobody has looked."""
        found = [each for each in self.readings if (each.host, each.instrument) == (host, instrument)]
        return found[0].device if found else Unobserved(reason=f"no reading by {instrument} was given")

    def read_at(self, instrument: Instrument) -> Instant:
        """When the oldest reading of an instrument was taken that said anything."""
        return min(each.taken_at for each in self.readings if each.instrument == instrument)
