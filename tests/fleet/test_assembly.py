"""An assembly that cannot be is no part of a roster, and the roster says where it is wrong."""

from typing import Any

import pytest

from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.target import target_of
from tests.fleet.assemblies import BIG, DRAFT, DRAFT_NEEDS, needs, values

DRAFTED: dict[str, Any] = {"draft": DRAFT, "memory": needs(draft=DRAFT_NEEDS)}
MINE: dict[str, Any] = {
    "name": "lab/mine", "algorithm": "dflash", "attachment": "separate", "target": BIG["model"], "block_size": 4,
}  # fmt: skip
IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "a cluster that is not there": (
        {"cluster": "no"}, "assemblies.big.cluster: expected one of last, one, three, two, found no"),
    "several Sparks for llama.cpp": ({"engine": "llama.cpp"}, "expected one spark for llama.cpp, found 2 of two"),
    "an engine that is none": ({"engine": "ollama"}, "expected 'vllm', 'llama.cpp' or 'llama.cpp-rpc', found 'ollama'"),
    "no transport": ({"transport": None}, "assemblies.big.transport: expected rdma or tcp between several sparks"),
    "a transport of one": ({"cluster": "one"}, "assemblies.big.transport: expected none on one spark, found rdma"),
    "a spare that is in it": ({"spares": ["s2"]}, "assemblies.big.spares: expected each once of s3, s4, found s2"),
    "a spare twice": ({"spares": ["s3", "s3"]}, "assemblies.big.spares: expected each once of s3, s4, found s3"),
    "a spare that nobody knows": ({"spares": ["x"]}, "assemblies.big.spares: expected each once of s3, s4, found x"),
    "a fraction above all": ({"fraction": 1.5}, "assemblies.big.fraction: expected a fraction above 0, up to 1"),
    "a fraction for llama.cpp": (
        {"engine": "llama.cpp-rpc", "fraction": 0.9}, "fraction: expected none with llama.cpp-rpc"),
    "a pinned cache for llama.cpp": (
        {"engine": "llama.cpp-rpc", "kv_cache_bytes": 1}, "kv_cache_bytes: expected none with llama.cpp-rpc"),
    "no context": ({"context": 0}, "assemblies.big.context: expected greater than 0, found 0"),
    "no number": ({"slots": float("nan")}, "assemblies.big.slots"),
    "a draft of another model": (
        DRAFTED | {"model": "Qwen/Qwen3-8B"}, "expected Qwen/Qwen3-14B, found Qwen/Qwen3-8B [draft_wrong_target]"),
    "more tokens than its block": (
        DRAFTED | {"draft": DRAFT | {"tokens": 8}},
        "num_speculative_tokens from 1 to its block of 7, found 8 [draft_block_exceeded]"),
    "a draft that is fused elsewhere": (
        DRAFTED | {"memory": needs(draft={"attachment": "fused", "kv_bytes_per_token": 1})},
        "expected the size of its own weights, found none [draft_totals_mixed]"),
    "a fused draft with weights of its own": (
        DRAFTED | {"model": "deepseek-ai/DeepSeek-V4-Flash-DSpark",
                   "draft": {"name": "deepseek-ai/DeepSeek-V4-Flash-DSpark", "tokens": 5}},
        "no size beside that of deepseek-ai/DeepSeek-V4-Flash-DSpark, which has both"),
    "a draft that nobody knows": (
        DRAFTED | {"draft": {"name": "lab/mine", "tokens": 1}},
        "draft lab/mine: unreleased: expected one of that name, or one of deepseek-ai/dspark_qwen3_4b_block7"),
    "a released draft, written out otherwise": (
        DRAFTED | {"draft": DRAFT | {"unreleased": MINE | {"name": DRAFT["name"]}}},
        "unreleased: expected none, since it is released"),
    "a draft without its needs": ({"draft": DRAFT}, "memory.draft, what it needs, or neither, found it alone"),
    "needs without a draft": (DRAFTED | {"draft": None}, "or neither, found memory.draft alone"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "sentence"), IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_what_cannot_be_is_told(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RosterError) as failure:
        Roster.read(values(**changes), "site")
    assert sentence in str(failure.value)


@pytest.mark.parametrize("taken", ["s1", "chat"])
def test_its_name_means_nothing_else(taken: str) -> None:
    site = values()
    site["deployments"] = {"chat": {"spark": "s1", "ollama": {}}}
    site["assemblies"][taken] = BIG
    with pytest.raises(RosterError, match="expected a name of its own, found a spark's or deployment's"):
        Roster.read(site, "site")


@pytest.mark.parametrize(
    "draft", [DRAFT, {"name": "lab/mine", "tokens": 4, "unreleased": MINE}], ids=["released", "unreleased"]
)
def test_a_draft_is_bound_to_the_model_that_it_was_made_for(draft: dict[str, Any]) -> None:
    assembly = Roster.read(values(**DRAFTED | {"draft": draft}), "site").assemblies["big"]
    assert assembly.draft is not None
    assert assembly.draft.draft.target == assembly.model


def test_nothing_converges_it() -> None:
    found = target_of(Roster.read(values(), "site"), "big")
    assert isinstance(found, Refusal)
    assert str(found).endswith(
        "found an assembly, which nothing here converges [target_unknown]\n"
        "  does it fit: sparks fit big; who is there now: sparks status big"
    )
