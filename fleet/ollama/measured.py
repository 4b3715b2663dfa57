"""What every instrument said of a deployment of Ollama: the evidence that it has fitted, or has not. Pure."""

from datetime import datetime

from fleet.evidence import FitEvidence, Measured
from fleet.fit.instrument import Instrument
from fleet.observation import Observation
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.subject import not_declared, subject_of
from fleet.processes import EngineProcess
from fleet.record import Record, Unobserved
from fleet.refusal import Refusal


class Occasion(Record):
    """When something was measured, by whom, and in which run."""

    deployment: str
    at: datetime
    by: str
    receipt: str | None = None
    said: str | None = None
    """Where it did not fit, how its engine said so."""


def fit_evidence(
    desired: OllamaDeployment, before: Observation | None, after: Observation, occasion: Occasion
) -> FitEvidence | Refusal:
    """The evidence that a deployment has fitted, where it is loaded as declared and well, or that it did not.

    + before: the Spark before it was loaded; None where nobody has looked then
    """
    if not desired.demands:
        return not_declared(after.host, desired)
    subject = subject_of(desired, after)
    if blind := after.unobserved("memory", "ollama_residency"):
        return blind
    if isinstance(subject, Refusal):
        return subject
    return FitEvidence(
        kind="fit" if occasion.said is None else "no fit",
        said=occasion.said,
        deployment=occasion.deployment,
        subject=subject,
        measured=_measured(before, after),
        measured_at=occasion.at,
        measured_by=occasion.by,
        receipt=occasion.receipt,
    )


INSTRUMENTS = (Instrument.MEM_AVAILABLE, Instrument.ENGINE, Instrument.RSS, Instrument.COMPUTE_APPS)


def _measured(before: Observation | None, after: Observation) -> tuple[Measured, ...]:
    """By each instrument that was read afterwards."""
    said = {each: _said(each, after) for each in INSTRUMENTS}
    return tuple(
        Measured(
            host=after.host,
            instrument=each,
            before_bytes=None if before is None else _said(each, before),
            after_bytes=found,
        )
        for each, found in said.items()
        if found is not None
    )


def _said(instrument: Instrument, seen: Observation) -> int | None:
    """What an instrument said; None where it was not read."""
    match instrument:
        case Instrument.MEM_AVAILABLE:
            return None if isinstance(seen.memory, Unobserved) else seen.memory.available_bytes
        case Instrument.ENGINE:
            found = seen.ollama_residency
            return None if isinstance(found, Unobserved) else sum(each.size_vram_bytes for each in found.residents)
    processes = _processes(seen)
    if processes is None:
        return None
    if instrument is Instrument.RSS:
        return sum(each.memory.rss_bytes for each in processes)
    held = seen.gpu if isinstance(seen.gpu, Unobserved) else seen.gpu.used_by(*(each.pid for each in processes))
    return None if isinstance(held, Unobserved) else held


def _processes(seen: Observation) -> tuple[EngineProcess, ...] | None:
    """Ollama's, with the runners that it has started; none where it does not run, None where nobody knows."""
    if isinstance(seen.processes, Unobserved) or isinstance(seen.invocation, Unobserved):
        return None
    invocation = seen.invocation.invocation
    if invocation is None:
        return ()
    named = (invocation.pid, invocation.start_ticks)
    root = next((each for each in seen.processes.processes if (each.pid, each.start_ticks) == named), None)
    return None if root is None else seen.processes.below(root)
