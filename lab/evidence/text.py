"""Evidence as text for a terminal."""

from collections.abc import Iterator

from fleet.candidate.identity import ArtifactIdentity, OllamaManifest
from fleet.evidence import FitEvidence, Measured
from fleet.fit.demand import slots_in_words
from fleet.fit.instrument import gib
from fleet.record import short
from lab.evidence.store import Store
from lab.map.words import printable
from lab.receipts.view import moment
from lab.table import table


def listed(store: Store) -> str:
    """A line for each, the oldest first."""
    rows = [("EVIDENCE", "SAYS", "MEASURED", "DEPLOYMENT", "ON", "RUNTIME", "SUBJECT"), *map(_row, store.evidence)]
    return "\n".join(table(rows)) + "\n"


def _row(evidence: FitEvidence) -> tuple[str, ...]:
    subject = evidence.subject
    hosts = ", ".join(each.name for each in subject.hosts)
    return (
        short(evidence.digest), evidence.kind, moment(evidence.measured_at), printable(evidence.deployment), hosts,
        str(subject.runtime.runtime), short(subject.digest),
    )  # fmt: skip


def shown(evidence: FitEvidence) -> str:
    """One, with exactly what it is of, and what each instrument said."""
    rows = list(_facts(evidence))
    measured = [("SPARK", "INSTRUMENT", "BEFORE", "AFTER", "TAKEN"), *map(_measured, evidence.measured)]
    return "\n".join([*table(rows), "", *table(measured)]) + "\n"


def _facts(evidence: FitEvidence) -> Iterator[tuple[str, str]]:
    subject = evidence.subject
    yield "evidence", evidence.digest
    yield "says", "it fitted" if evidence.said is None else f"it did not fit: {printable(evidence.said)}"
    yield "deployment", printable(evidence.deployment)
    yield "measured", f"{moment(evidence.measured_at)} by {printable(evidence.measured_by)}"
    yield "receipt", evidence.receipt or "none: it was found loaded"
    yield "subject", subject.digest
    yield "runtime", str(subject.runtime)
    yield "split", str(subject.split)
    for host in subject.hosts:
        kernel = (
            f"{host.release}, pages of {host.page_size_bytes:,} B, {' '.join(host.set_apart) or 'nothing set apart'}"
        )
        yield "on", f"{host.name} ({host.machine_id_digest}), {kernel}"
    for each in subject.served:
        yield "served", f"{named(each.artifact)}, {each.context:,} tokens x {slots_in_words(each.slots)}"
    yield "settings", "\n".join(f"{name}={printable(value)}" for name, value in subject.settings.items()) or "none"


def named(artifact: ArtifactIdentity) -> str:
    """An artefact by what people compare: its manifest, or how many files it is."""
    if isinstance(artifact, OllamaManifest):
        return f"manifest {artifact.manifest_digest}"
    return f"{len(artifact.files)} files, {gib(artifact.size_bytes)}, {artifact.digest}"


def _measured(each: Measured) -> tuple[str, ...]:
    before = "not looked" if each.before_bytes is None else gib(each.before_bytes)
    taken = "" if each.taken_bytes is None else gib(each.taken_bytes)
    return (each.host, str(each.instrument), before, gib(each.after_bytes), taken)


def verified(store: Store) -> str:
    """What is wrong, or that nothing is."""
    count = f"{len(store.evidence)} as written"
    return "\n".join([*(printable(str(each)) for each in store.broken), count]) + "\n"
