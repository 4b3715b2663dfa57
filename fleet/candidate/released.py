"""The drafts that have been released, as data with where each is known from."""

from fleet.candidate.draft import Draft
from fleet.candidate.identity import ModelId
from fleet.record import Record


class Released(Record):
    """One draft, and what is told of it."""

    draft: Draft
    draft_bytes: int | None = None
    """Of a separate draft, where it is told; rounded as its publisher rounds."""
    fused_bytes: int | None = None
    """Of the artefact with base and draft."""
    fused_shards: int | None = None
    base_bytes: int | None = None
    """Of the base alone, as it is published by itself; never to be added to or taken from `fused_bytes`."""
    base_shards: int | None = None
    source: str


_DEEPSPEC = "DeepSeek's DeepSpec releases, from field notes of 2026"

RELEASED = (
    *(
        Released(
            draft=Draft(
                name=f"deepseek-ai/dspark_qwen3_{size.lower()}_block7",
                algorithm="dspark",
                attachment="separate",
                target=f"Qwen/Qwen3-{size}",
                block_size=7,
            ),
            source=_DEEPSPEC,
        )
        for size in ("4B", "8B", "14B")
    ),
    Released(
        draft=Draft(
            name="deepseek-ai/DeepSeek-V4-Flash-DSpark",
            algorithm="dspark",
            attachment="fused",
            target="deepseek-ai/DeepSeek-V4-Flash",
            block_size=5,
        ),
        fused_bytes=166_900_000_000,
        fused_shards=48,
        base_bytes=159_600_000_000,
        base_shards=46,
        source=_DEEPSPEC,
    ),
    Released(
        draft=Draft(
            name="RedHatAI/GLM-5.3-speculator.dspark",
            algorithm="dspark",
            attachment="separate",
            target="GLM-5.3",
            block_size=8,
        ),
        draft_bytes=2_500_000_000,
        source="Red Hat, for the full GLM-5.3; from field notes of 2026, which do not name that model's owner",
    ),
)


def released(name: ModelId) -> Released | None:
    """The released draft of that name; None where it is not in the grid."""
    return next((each for each in RELEASED if each.draft.name == name), None)
