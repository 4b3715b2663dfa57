"""A speculative draft and the one model that it was made for.

A wrong pair gives the same text, slower, and acceptance figures that mean nothing: it must not come about.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from fleet.candidate.identity import ModelId
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.wall import wall


class Draft(Record):
    """A draft as it was released."""

    name: ModelId
    """Of the draft, or of the artefact that it is fused into."""
    algorithm: Literal["dspark", "dflash", "eagle3"]
    attachment: Literal["separate", "fused"]
    """`fused`: one artefact has base and draft. The base is not to be had from it alone, nor any size of it."""
    target: ModelId
    """The one model that it drafts for."""
    block_size: int = Field(gt=0)
    """How many tokens it drafts at most: a larger `num_speculative_tokens` has no meaning."""

    @property
    def served(self) -> str:
        """What is named as the model to serve: the target, or the artefact that has both."""
        return self.target if self.attachment == "separate" else self.name


class Binding(Record):
    """A draft that is bound to what is served."""

    draft: Draft
    served: ModelId
    tokens: int = Field(gt=0)
    """`num_speculative_tokens`."""
    draft_bytes: int | None
    """Weights of a separate draft; None for a fused one."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        for refusal in _refusals(self.draft, self.served, self.tokens, self.draft_bytes):
            raise wall("draft_unbound", str(refusal))
        return self


def bound(draft: Draft, served: str, tokens: int, draft_bytes: int | None) -> Binding | tuple[Refusal, ...]:
    """The draft bound to what is served, or every reason why it is none for that."""
    refusals = _refusals(draft, served, tokens, draft_bytes)
    return refusals or Binding(draft=draft, served=served, tokens=tokens, draft_bytes=draft_bytes)


def _refusals(draft: Draft, served: str, tokens: int, draft_bytes: int | None) -> tuple[Refusal, ...]:
    found = (_other_target(draft, served), _beyond_block(draft, tokens), _totals(draft, draft_bytes))
    return tuple(each for each in found if each is not None)


def _other_target(draft: Draft, served: str) -> Refusal | None:
    if served == draft.served:
        return None
    hint = None
    if draft.attachment == "fused" and served == draft.target:
        hint = f"the base has no draft in it: serve {draft.name}"
    return Refusal(
        code="draft_wrong_target", subject=f"draft {draft.name}", expected=draft.served, found=served, hint=hint
    )


def _beyond_block(draft: Draft, tokens: int) -> Refusal | None:
    if 0 < tokens <= draft.block_size:
        return None
    expected = f"num_speculative_tokens from 1 to its block of {draft.block_size}"
    return Refusal(code="draft_block_exceeded", subject=f"draft {draft.name}", expected=expected, found=str(tokens))


def _totals(draft: Draft, draft_bytes: int | None) -> Refusal | None:
    fused = draft.attachment == "fused"
    if fused == (draft_bytes is None):
        return None
    expected = f"no size beside that of {draft.name}, which has both" if fused else "the size of its own weights"
    found = "none" if draft_bytes is None else f"{draft_bytes:,} B"
    return Refusal(code="draft_totals_mixed", subject=f"draft {draft.name}", expected=expected, found=found)
