"""The arithmetic of a fit, line by line, with what would make it fit and what evidence there is. Pure."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from pydantic import Field

from fleet.evidence import FitEvidence, FitSubject, admission_of
from fleet.fit.advice import Asked, Way, ways
from fleet.fit.demand import WHOLE, Demand, Line
from fleet.fit.instrument import Device, Instrument, Reading
from fleet.fit.memory import MemoryFit
from fleet.fit.observed import device
from fleet.fit.policy import Policy
from fleet.instant import Instant
from fleet.observation import Observation, known
from fleet.ollama.decide import resident_step
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.fit import fit_now, is_moving
from fleet.ollama.subject import not_declared, subject_of
from fleet.record import Digest, Record
from fleet.refusal import Refusal


class Answer(StrEnum):
    """Does it fit?"""

    FITS = "fits"
    LOADED = "loaded"
    """All of it is there as declared, so what is free is free beside it."""
    SHORT = "does not fit"
    NOT_YET_KNOWN = "not yet known"
    """What is free is too little, and a model is loaded that would go: nobody has said what it gives back."""
    REFUTED = "did not fit when it was tried"
    """Free is enough by what is declared, and there is evidence against it."""
    REFUSED = "cannot be said"


class Other(Record):
    """Evidence of something else, and what is another there."""

    evidence: Digest
    measured_at: Instant
    differs: tuple[str, ...]


class HostFit(Record):
    """The whole arithmetic for one Spark."""

    host: str
    answer: Answer
    refusals: tuple[Refusal, ...] = ()
    policy: Policy
    device: Device | None = None
    lines: tuple[Line, ...] = ()
    """What is still to be loaded; all that is declared where all is loaded."""
    need_bytes: int = 0
    room_bytes: int | None = None
    """What may be taken: the lesser of what is free less the reserve, and the ceiling."""
    loaded: dict[str, Reading] = Field(default_factory=dict)
    """By model, what is loaded, by the engine's own word."""
    ways: tuple[Way, ...] = ()
    """What would make it fit."""
    subject: Digest | None = None
    evidence: Digest | None = None
    """That exactly this has fitted."""
    refuted: Digest | None = None
    """That exactly this did not fit, and how its engine said so."""
    said: str | None = None
    untold: Refusal | None = None
    """Why it cannot be told of what exactly evidence would be: then it is not known whether there is any."""
    others: tuple[Other, ...] = ()
    """Where there is none: evidence of the same deployment when something was another."""


def explained(
    name: str, desired: OllamaDeployment | None, seen: Observation, policy: Policy, evidence: Iterable[FitEvidence]
) -> HostFit:
    """What can be said of what a Spark shall hold.

    + name: of the deployment, by which evidence of something else is found
    """
    if desired is None or not desired.demands:
        return _refused(seen.host, policy, not_declared(seen.host, desired))
    if blind := seen.unobserved("memory", "ollama_residency"):
        return _refused(seen.host, policy, blind)
    due = _due(desired, seen)
    fit = fit_now(due or desired.demands, seen, policy)
    if not isinstance(fit, MemoryFit):
        return _refused(seen.host, policy, *fit)
    subject = subject_of(desired, seen)
    known_of = _evidenced(name, subject, tuple(evidence))
    answer = _answer(due, fit, desired, seen)
    answer = Answer.REFUTED if answer is Answer.FITS and known_of.get("refuted") else answer
    (rank,) = fit.ranks
    return HostFit(
        host=seen.host,
        answer=answer,
        refusals=fit.refusals() if answer is Answer.SHORT else (),
        policy=policy,
        device=rank.device,
        lines=rank.lines,
        need_bytes=rank.need_bytes,
        room_bytes=fit.margin_bytes + rank.need_bytes,
        loaded=_loaded(seen),
        ways=_ways(due, seen, policy) if answer in (Answer.SHORT, Answer.NOT_YET_KNOWN) else (),
        **known_of,
    )


def _refused(host: str, policy: Policy, *refusals: Refusal) -> HostFit:
    return HostFit(host=host, answer=Answer.REFUSED, refusals=refusals, policy=policy)


def _due(desired: OllamaDeployment, seen: Observation) -> tuple[Demand, ...]:
    """What is not loaded as declared; also what is still to be pulled, which no step says yet."""
    there = {pin.model for pin in desired.residents if resident_step(pin, desired, seen) is None}
    return tuple(each for each in desired.demands if each.model not in there)


def _answer(due: tuple[Demand, ...], fit: MemoryFit, desired: OllamaDeployment, seen: Observation) -> Answer:
    if not due:
        return Answer.LOADED
    if fit.holds:
        return Answer.FITS
    codes = {each.code for each in fit.refusals()}
    may_give_back = codes == {"memory_short"} and is_moving(desired, seen)
    return Answer.NOT_YET_KNOWN if may_give_back else Answer.SHORT


def _loaded(seen: Observation) -> dict[str, Reading]:
    residents = known(seen.ollama_residency).residents
    return {
        each.name: Reading(instrument=Instrument.ENGINE, amount_bytes=each.size_vram_bytes)
        for each in residents
    }  # fmt: skip


def _ways(due: tuple[Demand, ...], seen: Observation, policy: Policy) -> tuple[Way, ...]:
    return ways(Asked(due, WHOLE, ((seen.host, device(seen)),), policy))


def _evidenced(name: str, subject: FitSubject | Refusal, evidence: tuple[FitEvidence, ...]) -> dict[str, Any]:
    if isinstance(subject, Refusal):
        return {"untold": subject}
    admission = admission_of(evidence)
    exact, refuted = admission.evidence.get(subject.digest), admission.refuted.get(subject.digest)
    said = next((each.said for each in evidence if each.digest == refuted), None)
    others = tuple(
        Other(evidence=each.digest, measured_at=each.measured_at, differs=each.subject.differences(subject))
        for each in evidence
        if each.deployment == name and each.fitted and each.subject != subject and exact is None
    )
    return {"subject": subject.digest, "evidence": exact, "refuted": refuted, "said": said, "others": others}
