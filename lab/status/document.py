"""What `sparks status` says, as one document."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from fleet.desired import DesiredSpark
from fleet.instant import Instant
from fleet.ledger import Residency, residency
from fleet.observation import Observation
from fleet.record import Record, Unobserved


class SparkStatus(Record):
    """One Spark."""

    host: str
    silent: str | None
    """Why nothing at all was seen of it; None where it answered."""
    used_bytes: int | Unobserved
    """MemTotal less MemAvailable."""
    unaccounted_bytes: int | Unobserved
    """What of that is in none of the accounts; below 0 where instruments count the same twice."""
    ledger: Residency

    @classmethod
    def of(cls, desired: DesiredSpark, seen: Observation) -> "SparkStatus":
        """The status of one Spark, of what was seen of it."""
        blind, ledger = seen.blind, residency(desired, seen)
        return cls(
            host=seen.host,
            silent=blind.found if blind else None,
            used_bytes=ledger.used_bytes,
            unaccounted_bytes=ledger.unaccounted_bytes,
            ledger=ledger,
        )

    @property
    def is_seen(self) -> bool:
        """Is it known how much is used, and by whom?"""
        return not (isinstance(self.used_bytes, Unobserved) or isinstance(self.ledger.residents, Unobserved))


class StatusDocument(Record):
    """`sparks status --json`; with --watch, one for each round, each on a line of its own."""

    format: Literal[1] = 1
    observed_at: Instant
    sparks: tuple[SparkStatus, ...]

    @classmethod
    def of(cls, seen: Iterable[tuple[DesiredSpark, Observation]], now: datetime) -> "StatusDocument":
        """The document of one round."""
        return cls(observed_at=now, sparks=tuple(SparkStatus.of(*each) for each in seen))

    @property
    def is_seen(self) -> bool:
        """Is it known of every Spark?"""
        return all(spark.is_seen for spark in self.sparks)
