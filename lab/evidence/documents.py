"""What `sparks evidence … --json` prints: one document each."""

from fleet.evidence import Broken, FitEvidence
from fleet.instant import Instant
from fleet.record import Digest, Record
from lab.evidence.store import Store


class Entry(Record):
    """One piece of evidence in a list."""

    evidence: Digest
    kind: str
    deployment: str
    hosts: tuple[str, ...]
    subject: Digest
    measured_at: Instant


class Listing(Record):
    """`sparks evidence list --json`."""

    folder: str
    evidence: tuple[Entry, ...]
    broken: tuple[Broken, ...]


class Verdict(Record):
    """`sparks evidence verify --json`."""

    folder: str
    evidence: int
    """How much of it is as it was written."""
    broken: tuple[Broken, ...]


class Recorded(Record):
    """`sparks evidence record --json`."""

    target: str
    evidence: tuple[Digest, ...]
    """One for each Spark."""


def listing(folder: str, store: Store) -> Listing:
    """All of a folder."""
    return Listing(folder=folder, evidence=tuple(map(_entry, store.evidence)), broken=store.broken)


def _entry(evidence: FitEvidence) -> Entry:
    return Entry(
        evidence=evidence.digest,
        kind=evidence.kind,
        deployment=evidence.deployment,
        hosts=tuple(each.name for each in evidence.subject.hosts),
        subject=evidence.subject.digest,
        measured_at=evidence.measured_at,
    )
