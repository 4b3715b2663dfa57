"""What one Spark's Ollama needs: the functions that decide, for the planner and for the operations alike.

Each looks at state, never at events: a run that was killed between two commands is finished by the next.
"""

from fleet.observation import Observation, known
from fleet.ollama.deployment import OllamaDeployment, OllamaModelPin, OllamaResidentPin
from fleet.ollama.published import moved_at_the_registry
from fleet.ollama.residency import Residency, Resident
from fleet.ollama.service_due import service_step
from fleet.ollama.source import Source
from fleet.ollama.steps import ConfigureService, CopyModel, EvictResident, LoadResident, PullModel
from fleet.ollama.store import ModelStore, OllamaModel
from fleet.record import Unobserved
from fleet.refusal import Refusal

__all__ = ["evict_steps", "model_step", "residency_to_be", "resident_step", "service_step"]

CLOCK_SLACK_SECONDS = 5
"""A look rounds to seconds, and a request may end between the answer and the reading of the clock."""


def model_step(
    pin: OllamaModelPin, seen: Observation, source: Source | None = None
) -> PullModel | CopyModel | Refusal | None:
    """What brings a model where it is absent, or where its tag shall move; another digest is refused.

    + source: where it can be copied from, which is better than to download it
    """
    if blind := seen.unobserved("ollama_models"):
        return blind
    subject = f"{seen.host} ollama model {pin.name}"
    store = known(seen.ollama_models)
    found = store.model(pin.name)
    if found is not None and found.manifest_digest == pin.manifest_digest:
        return None
    if found is not None and found.manifest_digest != pin.replaces:
        return _republished(pin, found, subject)
    if source is not None and store.directory is not None:
        return _copy(pin, found, subject, source, store.directory)
    if not pin.pull:
        return _absent(pin, found, subject)
    return moved_at_the_registry(pin, seen, subject) or _pull(pin, found, subject)


def _moves(pin: OllamaModelPin, store: ModelStore) -> bool:
    """Does another model go for it under its tag?"""
    found = store.model(pin.name)
    return found is not None and found.manifest_digest != pin.manifest_digest and found.manifest_digest == pin.replaces


def _republished(pin: OllamaModelPin, found: OllamaModel, subject: str) -> Refusal:
    """Both digests, and the row of either decision."""
    kept = pin.row(manifest_digest=found.manifest_digest, size_bytes=found.size_bytes, replaces=None)
    moved = pin.row(replaces=found.manifest_digest, pull=True)
    return Refusal(
        code="model_digest_differs",
        subject=subject,
        expected=pin.manifest_digest,
        found=found.manifest_digest,
        hint=f"decide in the roster: {kept} keeps what is there; {moved} moves the tag to what was pinned",
    )


def _pull(pin: OllamaModelPin, found: OllamaModel | None, subject: str) -> PullModel:
    return PullModel(
        subject=subject,
        before="absent" if found is None else found.manifest_digest,
        after=pin.manifest_digest,
        reason=f"declared, and may be pulled: up to {pin.size_bytes:,} bytes",
        model=pin.name,
        manifest_digest=pin.manifest_digest,
        size_bytes=pin.size_bytes,
        replaces=None if found is None else found.manifest_digest,
    )


def _copy(pin: OllamaModelPin, found: OllamaModel | None, subject: str, source: Source, directory: str) -> CopyModel:
    return CopyModel(
        subject=subject,
        before="absent" if found is None else found.manifest_digest,
        after=pin.manifest_digest,
        reason=f"declared; {source.spark} has it: up to {pin.size_bytes:,} bytes over rail {source.rail}",
        model=pin.name,
        manifest_digest=pin.manifest_digest,
        size_bytes=pin.size_bytes,
        source=source.spark,
        address=source.address,
        client=source.client,
        directory=directory,
        replaces=None if found is None else found.manifest_digest,
    )


def _absent(pin: OllamaModelPin, found: OllamaModel | None, subject: str) -> Refusal:
    return Refusal(
        code="model_absent",
        subject=subject,
        expected=pin.manifest_digest,
        found="no such model" if found is None else found.manifest_digest,
        hint=f"ollama pull {pin.name} on the host, or in the roster: {pin.row(pull=True)}",
    )


def resident_step(
    pin: OllamaResidentPin, desired: OllamaDeployment, seen: Observation
) -> LoadResident | Refusal | None:
    """A load where the model is not loaded as declared; one that the CPU computes is refused.

    How an absent model comes is another decision, which refuses where none may.
    """
    model = next(each for each in desired.models if each.name == pin.model)
    blind = seen.unobserved("ollama_service", "ollama_models", "ollama_residency")
    refusal = blind or model_step(model, seen)
    if isinstance(refusal, Refusal) and refusal.code != "model_absent":
        return refusal
    subject = f"{seen.host} ollama resident {pin.model}"
    found = residency_to_be(desired, seen).resident(pin.model)
    after = f"context {pin.context}, kept {pin.keep}"
    if found is None:
        return _load(pin, subject, "not loaded", after)
    if found.is_loading:
        return _load(pin, subject, "still loading", after)
    return _unfit(found, model, subject) or _reload(pin, found, subject, after)


def _reload(pin: OllamaResidentPin, found: Resident, subject: str, after: str) -> LoadResident | None:
    if found.context_length == pin.context and _is_kept(pin, found):
        return None
    kept = "forever" if found.keep == "forever" else "for a time that runs down"
    return _load(pin, subject, f"context {found.context_length}, kept {kept}", after)


def _is_kept(pin: OllamaResidentPin, found: Resident) -> bool:
    """A finite time only runs down: what is left is at most what was asked for."""
    wanted = pin.keep.seconds
    if wanted is None or found.seconds_left is None:
        return wanted is None and found.keep == "forever"
    return found.seconds_left <= wanted + CLOCK_SLACK_SECONDS


def _load(pin: OllamaResidentPin, subject: str, before: str, after: str) -> LoadResident:
    return LoadResident(
        subject=subject,
        before=before,
        after=after,
        reason="declared resident",
        model=pin.model,
        context=pin.context,
        keep_alive=pin.keep.request,
    )


def _unfit(found: Resident, model: OllamaModelPin, subject: str) -> Refusal | None:
    """Why a loaded model is not what was declared, and loading it again would not help."""
    if found.manifest_digest != model.manifest_digest:
        code, expected, shown = "resident_digest_differs", model.manifest_digest, found.manifest_digest
    elif found.is_on_cpu:
        code, expected, shown = "resident_on_cpu", "100% GPU", found.processor
    elif found.context_length is None:
        code, expected, shown = (
            "resident_context_unknown",
            "a server that tells the context",
            "one that does not",
        )
    else:
        return None
    hint = "find out why on the host; systemctl restart ollama.service unloads it"
    return Refusal(code=code, subject=subject, expected=expected, found=shown, hint=hint)


def evict_steps(desired: OllamaDeployment, seen: Observation) -> tuple[EvictResident | Refusal, ...]:
    """Each loaded model that is no declared resident, where the deployment has such models go."""
    if not desired.evict_undeclared:
        return ()
    if blind := seen.unobserved("ollama_service", "ollama_residency"):
        return (blind,)
    loaded = {each.name for each in residency_to_be(desired, seen).residents}
    declared = {pin.model for pin in desired.residents}
    return tuple(
        EvictResident(
            subject=f"{seen.host} ollama resident {name}",
            before="loaded",
            after="not loaded",
            reason="nobody declared it, and evict_undeclared is set",
            model=name,
        )
        for name in sorted(loaded - declared)
    )


def residency_to_be(desired: OllamaDeployment, seen: Observation) -> Residency:
    """What will be loaded once service and models are as desired: a restart unloads everything, and a tag that moves
    what is loaded of it."""
    step = service_step(desired, seen)
    if isinstance(step, ConfigureService) and step.restart:
        return Residency(source="stopped")
    found = known(seen.ollama_residency)
    store = None if isinstance(seen.ollama_models, Unobserved) else seen.ollama_models
    moving = {pin.name for pin in desired.models if store is not None and _moves(pin, store)}
    return found.replaced(residents=tuple(each for each in found.residents if each.name not in moving))
