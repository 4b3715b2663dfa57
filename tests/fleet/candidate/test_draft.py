"""A draft is bound to the one model that it was made for, in its block, with sizes that are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.candidate.draft import Binding, Draft, bound
from fleet.candidate.released import RELEASED, Released, released

grid = st.sampled_from(RELEASED)


def size(of: Released) -> int | None:
    """What is said of the draft's own size."""
    return 1 if of.draft.attachment == "separate" else None


@given(grid, st.integers(-2, 12))
def test_a_released_draft_is_bound_to_its_target_within_its_block(one: Released, tokens: int) -> None:
    found = bound(one.draft, one.draft.served, tokens, size(one))
    if 1 <= tokens <= one.draft.block_size:
        assert isinstance(found, Binding)
    else:
        assert isinstance(found, tuple)
        assert [each.code for each in found] == ["draft_block_exceeded"]


@given(grid, grid)
def test_no_draft_is_bound_to_the_target_of_another(one: Released, other: Released) -> None:
    if one.draft.served == other.draft.served:
        return
    found = bound(one.draft, other.draft.served, 1, size(one))
    assert isinstance(found, tuple)
    assert [each.code for each in found] == ["draft_wrong_target"]


@given(grid)
def test_sizes_are_known_apart_where_draft_and_base_are_apart(one: Released) -> None:
    wrong = None if one.draft.attachment == "separate" else 7_300_000_000
    found = bound(one.draft, one.draft.served, 1, wrong)
    assert isinstance(found, tuple)
    assert [each.code for each in found] == ["draft_totals_mixed"]


def test_a_fused_draft_is_not_served_by_its_base() -> None:
    fused = released("deepseek-ai/DeepSeek-V4-Flash-DSpark")
    assert fused is not None
    found = bound(fused.draft, "deepseek-ai/DeepSeek-V4-Flash", 6, 1)
    assert isinstance(found, tuple)
    assert [str(each) for each in found] == [
        "draft deepseek-ai/DeepSeek-V4-Flash-DSpark: expected deepseek-ai/DeepSeek-V4-Flash-DSpark, found "
        "deepseek-ai/DeepSeek-V4-Flash [draft_wrong_target]\n"
        "  the base has no draft in it: serve deepseek-ai/DeepSeek-V4-Flash-DSpark",
        "draft deepseek-ai/DeepSeek-V4-Flash-DSpark: expected num_speculative_tokens from 1 to its block of 5, found 6 "
        "[draft_block_exceeded]",
        "draft deepseek-ai/DeepSeek-V4-Flash-DSpark: expected no size beside that of "
        "deepseek-ai/DeepSeek-V4-Flash-DSpark, which has both, found 1 B [draft_totals_mixed]",
    ]


def test_the_grid_is_what_was_released() -> None:
    """Field notes of 2026, figure by figure."""
    qwen = [(each.draft.name, each.draft.target, each.draft.block_size) for each in RELEASED[:3]]
    assert qwen == [
        ("deepseek-ai/dspark_qwen3_4b_block7", "Qwen/Qwen3-4B", 7),
        ("deepseek-ai/dspark_qwen3_8b_block7", "Qwen/Qwen3-8B", 7),
        ("deepseek-ai/dspark_qwen3_14b_block7", "Qwen/Qwen3-14B", 7),
    ]
    fused, glm = RELEASED[3:]
    assert (fused.fused_shards, fused.fused_bytes) == (48, 166_900_000_000)
    assert (fused.base_shards, fused.base_bytes) == (46, 159_600_000_000)
    assert (glm.draft.name, glm.draft.block_size, glm.draft_bytes) == (
        "RedHatAI/GLM-5.3-speculator.dspark", 8, 2_500_000_000,
    )  # fmt: skip
    assert all(each.source for each in RELEASED)
    assert released("nobody/nothing") is None


@pytest.mark.parametrize("one", RELEASED, ids=lambda each: each.draft.name)
def test_an_unbound_draft_has_no_constructor(one: Released) -> None:
    with pytest.raises(ValidationError, match="draft_wrong_target"):
        Binding(draft=one.draft, served="another/model", tokens=1, draft_bytes=size(one))


def test_a_block_of_nothing_is_none() -> None:
    with pytest.raises(ValidationError):
        Draft(name="a", algorithm="dflash", attachment="fused", target="b", block_size=0)
