"""Does what Ollama shall load fit, and may it be loaded. Pure."""

from fleet.evidence import FitSubject
from fleet.fit.admission import Admission, Admitted, By
from fleet.fit.demand import WHOLE, Demand
from fleet.fit.memory import MemoryFit, memory_fit
from fleet.fit.observed import device
from fleet.fit.policy import Policy
from fleet.observation import Observation, known
from fleet.ollama.candidate import candidate_of
from fleet.ollama.decide import evict_steps, resident_step, service_step
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.disrupt import disrupts
from fleet.ollama.steps import LoadResident
from fleet.ollama.subject import subject_of
from fleet.refusal import Refusal
from fleet.step import Step


def admitted(
    outcome: Step | Refusal | None, desired: OllamaDeployment, seen: Observation, policy: Policy, admission: Admission
) -> Step | Refusal | None:
    """The same outcome, or in its place why what it loads must not be loaded now."""
    if not isinstance(outcome, LoadResident):
        return outcome
    word = memory_word(desired, seen, policy, admission)
    return word if isinstance(word, Refusal) else outcome


def memory_word(
    desired: OllamaDeployment, seen: Observation, policy: Policy, admission: Admission
) -> Admitted | Refusal:
    """Whether what is to be loaded now may be, or why not."""
    if not desired.demands:
        return Admitted(by=By.NOT_DECLARED)
    due = _due(desired, seen)
    if not due:
        return Admitted(by=By.NOTHING_TO_LOAD)
    if (short := _short(due, desired, seen, policy)) is not None:
        return short
    subject = subject_of(desired, seen)
    if (against := _against(subject, seen, admission)) is not None:
        return against
    if isinstance(subject, FitSubject) and (found := admission.evidence.get(subject.digest)) is not None:
        return Admitted(by=By.EVIDENCE, subject=subject.digest, evidence=found)
    if seen.host in admission.first:
        return Admitted(by=By.FIRST_TIME, subject=subject.digest if isinstance(subject, FitSubject) else None)
    return _not_evidenced(subject, seen)


def _due(desired: OllamaDeployment, seen: Observation) -> tuple[Demand, ...]:
    """What of the declared residents is still to be loaded."""
    steps = (resident_step(pin, desired, seen) for pin in desired.residents)
    names = {step.model for step in steps if isinstance(step, LoadResident)}
    return tuple(each for each in desired.demands if each.model in names)


def _short(due: tuple[Demand, ...], desired: OllamaDeployment, seen: Observation, policy: Policy) -> Refusal | None:
    """Why it does not fit into what is free.

    While something that goes is still loaded, what is free says too little to refuse by: how much it gives back no
    instrument that tells what is free has said. Then only the ceiling decides.
    """
    fit = fit_now(due, seen, policy)
    if not isinstance(fit, MemoryFit):
        return fit[0]
    refusal = next(iter(fit.refusals()), None)
    if refusal is None or (refusal.code == "memory_short" and is_moving(desired, seen)):
        return None
    return refusal.replaced(hint=f"sparks fit {seen.host}")


def fit_now(demands: tuple[Demand, ...], seen: Observation, policy: Policy) -> MemoryFit | tuple[Refusal, ...]:
    """Demands against what the host's kernel says is free now."""
    return memory_fit(demands, WHOLE, ((seen.host, device(seen)),), policy)


def is_moving(desired: OllamaDeployment, seen: Observation) -> bool:
    """Is a model loaded that will go, or one still loading?"""
    loaded = known(seen.ollama_residency).residents
    steps = (service_step(desired, seen), *evict_steps(desired, seen))
    loads = (resident_step(pin, desired, seen) for pin in desired.residents)
    goes = any(isinstance(each, Step) and disrupts(each, desired, seen) for each in (*steps, *loads))
    return bool(loaded) and (goes or any(each.is_loading for each in loaded))


def _against(subject: FitSubject | Refusal, seen: Observation, admission: Admission) -> Refusal | None:
    """What is known against it: evidence that it did not fit, or things that do not go together."""
    if isinstance(subject, Refusal):
        return None
    if (refuted := admission.refuted.get(subject.digest)) is not None:
        return Refusal(
            code="known_not_to_fit",
            subject=f"{seen.host} memory",
            expected="no evidence that exactly this did not fit",
            found=refuted,
            hint=f"sparks fit {seen.host} says what would; where what was in its way is gone: take that file out of "
            "the folder of evidence",
        )
    source = admission.evidence.get(subject.digest, "admitted for a first time")
    found = (candidate_of(subject, each, source) for each in subject.served)
    return next((each[0] for each in found if isinstance(each, tuple)), None)


def _not_evidenced(subject: FitSubject | Refusal, seen: Observation) -> Refusal:
    if isinstance(subject, Refusal) and subject.code == "unobserved":
        return subject
    found = subject.found if isinstance(subject, Refusal) else "none"
    return Refusal(
        code="fit_not_evidenced",
        subject=f"{seen.host} memory",
        expected="evidence that exactly this has fitted",
        found=found,
        hint=f"to try it for the first time: sparks converge {seen.host} --admit-first; "
        f"with pyinfra: --data admit={seen.host}",
    )
