"""Is a host well at the end of a run: its stamp, what serves on it, a real answer, what stays loaded. Pure."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from fleet.desired import DesiredSpark
from fleet.generation import BEGUN, STAMP, Generation, Origin, origin
from fleet.observation import Observation, known
from fleet.ollama.decide import evict_steps, resident_step
from fleet.ollama.deployment import UNIT, OllamaDeployment, OllamaResidentPin
from fleet.record import Digest, Record, Unobserved
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.target import Scope


class Verdict(StrEnum):
    """How one thing stands; a later one is graver."""

    OK = "ok"
    UNOBSERVED = "unobserved"
    DIFFERS = "differs"


class Finding(Record):
    """One thing about a host that must hold; `str()` is a sentence."""

    code: str
    """Stable snake_case name of what was looked at."""
    subject: str
    """What it is about, host first."""
    verdict: Verdict
    expected: str
    found: str

    @property
    def is_good(self) -> bool:
        """Does it hold?"""
        return self.verdict is Verdict.OK

    def __str__(self) -> str:
        if self.is_good:
            return f"{self.subject}: {self.found}"
        return f"{self.subject}: expected {self.expected}, found {self.found} [{self.code}]"


def health(
    desired: DesiredSpark, seen: Observation, applied: Digest | None, scope: Scope = Scope.SERVE
) -> tuple[Finding, ...]:
    """Everything that must hold on one host once a run is over.

    + seen: an observation with `facts.needs.health_looks`
    + applied: the plan that was carried out here just now; None where nothing was due, or nobody acted. Then a process
      that was adopted, or has restarted by itself, is told and is no fault
    """
    found = [_stamp(seen, applied)]
    if desired.ollama is not None and scope.includes(Scope.SERVE):
        found += [_process(seen, applied), *_completions(desired.ollama, seen), *_residency(desired.ollama, seen)]
    return tuple(found)


def worst(findings: Iterable[Finding]) -> Verdict:
    """The gravest verdict."""
    order = tuple(Verdict)
    return max((each.verdict for each in findings), key=order.index, default=Verdict.OK)


def _stamp(seen: Observation, applied: Digest | None) -> Finding:
    expected = "a stamp of ours, or none" if applied is None else f"plan {applied}"
    verdict, found = _stamped(seen, applied)
    return Finding(
        code="generation", subject=f"{seen.host} {STAMP}", verdict=verdict, expected=expected, found=found
    )  # fmt: skip


def _stamped(seen: Observation, applied: Digest | None) -> tuple[Verdict, str]:
    if isinstance(seen.generation, Unobserved):
        return Verdict.UNOBSERVED, seen.generation.reason
    match seen.generation.generation, seen.generation.begun:
        case Unobserved(reason=reason), _:
            return Verdict.UNOBSERVED, reason
        case _, begun if begun is not None:
            return Verdict.DIFFERS, f"{BEGUN}: a run that has not come to its end"
        case None, _:
            good = applied is None
            return (Verdict.OK if good else Verdict.DIFFERS), "no stamp" + (
                ": no run of ours has acted" if good else ""
            )
        case Generation(plan=plan, at=at), _:
            return _fits(applied in (None, plan)), f"plan {plan} of {at:%Y-%m-%d %H:%M:%S} UTC"
        case _:
            raise AssertionError("expected a stamp or none")


def _fits(good: bool) -> Verdict:
    return Verdict.OK if good else Verdict.DIFFERS


def _process(seen: Observation, applied: Digest | None) -> Finding:
    verdict, found = _running(seen, applied)
    return Finding(
        code="serving_process", subject=f"{seen.host} {UNIT}", verdict=verdict, expected=Origin.STARTED, found=found
    )


def _running(seen: Observation, applied: Digest | None) -> tuple[Verdict, str]:
    blind = seen.unobserved("invocation", "generation")
    if blind is not None:
        return Verdict.UNOBSERVED, blind.found
    running = known(seen.invocation)
    if running.invocation is None:
        return Verdict.DIFFERS, "no process"
    if running.other is not None:
        return Verdict.DIFFERS, f"another one where clients reach it: {running.other}"
    where = origin(running.invocation, known(seen.generation))
    fits = {Origin.STARTED, Origin.BOOTED} if applied else set(Origin) - {Origin.ANOTHER}
    return _fits(where in fits), f"pid {running.invocation.pid}, {where}"


def _completions(desired: OllamaDeployment, seen: Observation) -> Iterator[Finding]:
    for pin in desired.residents:
        verdict, found = _answer(pin, seen)
        yield Finding(
            code="completion",
            subject=f"{seen.host} ollama completion {pin.model}",
            verdict=verdict,
            expected="an answer of one token",
            found=found,
        )


def _answer(pin: OllamaResidentPin, seen: Observation) -> tuple[Verdict, str]:
    if isinstance(seen.completions, Unobserved):
        return Verdict.UNOBSERVED, seen.completions.reason
    said = next((each for each in seen.completions if each.model == pin.model), None)
    if said is None or not said.asked:
        return Verdict.UNOBSERVED, f"it was not asked: {said.failure if said else 'nobody wanted to know'}"
    if said.is_answered:
        return Verdict.OK, f"{'an answer' if said.kind == 'completion' else 'an embedding'}"
    return Verdict.DIFFERS, said.failure or "an empty answer"


def _residency(desired: OllamaDeployment, seen: Observation) -> Iterator[Finding]:
    for pin in desired.residents:
        outcome = resident_step(pin, desired, seen)
        yield _resident(outcome, f"{seen.host} ollama resident {pin.model}", pin)
    for stranger in evict_steps(desired, seen):
        if isinstance(stranger, Step) or not desired.residents:
            yield _resident(stranger, stranger.subject, None)


def _resident(outcome: Step | Refusal | None, subject: str, pin: OllamaResidentPin | None) -> Finding:
    expected = "not loaded" if pin is None else f"loaded with context {pin.context}, kept {pin.keep}"
    match outcome:
        case None:
            verdict, found = Verdict.OK, expected
        case Step(before=before):
            verdict, found = Verdict.DIFFERS, before
        case Refusal(code="unobserved", found=found):
            verdict = Verdict.UNOBSERVED
        case Refusal(found=found):
            verdict = Verdict.DIFFERS
    return Finding(code="residency", subject=subject, verdict=verdict, expected=expected, found=found)
