"""What a pull would bring, by the registry's word: its size before it happens, or another model. Pure."""

from collections.abc import Iterable

from fleet.observation import Observation
from fleet.ollama.deployment import OllamaModelPin
from fleet.ollama.registry import Published
from fleet.ollama.steps import PullModel
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Step


def moved_at_the_registry(pin: OllamaModelPin, seen: Observation, subject: str) -> Refusal | None:
    """A refusal where a pull would end on another digest; None where it would not, or nobody can tell."""
    found = _published(pin.name, seen)
    if found is None or not found.digests or pin.manifest_digest in found.digests:
        return None
    row = pin.row(manifest_digest=found.digests[0], size_bytes=found.size_bytes or pin.size_bytes)
    return Refusal(
        code="model_republished",
        subject=subject,
        expected=f"{pin.manifest_digest} under the tag at the registry",
        found=found.digests[0],
        hint=f"decide in the roster: {row} follows the tag; what was pinned comes only from a spark that has it "
        f"(copy_from)",
    )


def sizes(steps: Iterable[Step], seen: Observation) -> tuple[str, ...]:
    """What each pull will download, in words: others publish and networks fail, so no plan rests on it."""
    pulls = [each for each in steps if isinstance(each, PullModel)]
    return tuple(f"{each.subject}: {_said(each.model, seen)}" for each in pulls)


def _said(name: str, seen: Observation) -> str:
    found = _published(name, seen)
    return str(found or Published(model=name, reason="nobody asked"))


def _published(name: str, seen: Observation) -> Published | None:
    """What is known of a tag at the registry; None where nobody asked."""
    if isinstance(seen.ollama_registry, Unobserved):
        return Published(model=name, reason=seen.ollama_registry.reason)
    return next((each for each in seen.ollama_registry if each.model == name), None)
