"""What lets a deployment be loaded: evidence that exactly it has fitted, or somebody's word that it shall be tried."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from fleet.record import Digest, Record
from fleet.spark import HostName
from fleet.wall import wall


class Admission(Record):
    """What a run knows of that, for all of its Sparks."""

    evidence: dict[Digest, Digest] = Field(default_factory=dict)
    """By the digest of a subject (`fleet.evidence.FitSubject`), that of evidence that it fitted."""
    refuted: dict[Digest, Digest] = Field(default_factory=dict)
    """By the digest of a subject, that of evidence that it did not fit; nothing admits such a one."""
    first: frozenset[HostName] = frozenset()
    """The Sparks on which a deployment may be loaded for the first time, without any."""


NOBODY = Admission()
"""Of a run that knows of no evidence, and in which nobody admitted anything."""


class By(StrEnum):
    """How a fit was decided on one Spark."""

    NOT_DECLARED = "not declared"
    NOTHING_TO_LOAD = "nothing to load"
    EVIDENCE = "evidence"
    FIRST_TIME = "first time"


class Admitted(Record):
    """What a plan says of the memory of one Spark. Nothing in it moves with what is free."""

    by: By
    subject: Digest | None = None
    """What is loaded, where a load is due; None for a first time where the build of the runtime cannot be told yet."""
    evidence: Digest | None = None

    @model_validator(mode="after")
    def _walls(self) -> Self:
        is_evidenced = self.subject is not None and self.evidence is not None
        if is_evidenced != (self.by is By.EVIDENCE) or (self.subject and self.by not in (By.EVIDENCE, By.FIRST_TIME)):
            raise wall("admitted_by_nothing", f"admitted: expected evidence with its subject for it, found {self.by}")
        return self

    def __str__(self) -> str:
        match self.by:
            case By.NOT_DECLARED:
                return "memory fit: not declared"
            case By.NOTHING_TO_LOAD:
                return "memory fit: nothing is to be loaded"
            case By.EVIDENCE:
                return f"memory fit: admitted by evidence {self.evidence}"
            case By.FIRST_TIME:
                return f"memory fit: admitted for the first time, without evidence of {self.subject or 'its build'}"
