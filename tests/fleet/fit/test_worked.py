"""The worked examples of labs' own records, to the byte. Figures: field notes of 2026; what they leave out is said."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.fit.demand import WHOLE, Demand, Split
from fleet.fit.fraction import decided, resolved
from fleet.fit.instrument import GIB, Instrument, gib
from fleet.fit.memory import kv_pinned, memory_fit
from fleet.fit.needs import DraftNeeds, Needs
from fleet.fit.policy import Policy
from tests.fleet.fit.devices import TOTAL, demand, held, sparks

POLICY = Policy()
GLM = Needs(
    weights_bytes=8 * 47 * GIB,  # "47 GiB weights a node" at TP8
    kv_bytes_per_token=53_965,  # "52.7 KB/token/rank", in KiB, rounded up; every rank has all of it
    kv_heads=1,
    attention_heads=64,  # not told; any number that eight ranks divide
)
"""Full GLM-5.3 MXFP4 over eight Sparks."""


def test_512k_tokens_of_glm_take_26_gib_on_each_of_eight_ranks() -> None:
    served = Demand(model="GLM-5.3", needs=GLM, context=512 * 1024, slots=1)
    fit = held(memory_fit([served], Split(kind="tensor", ranks=8), sparks(*[101.0] * 8), POLICY))
    assert {each.kv_bytes for each in fit.ranks} == {28_293_201_920}
    assert gib(28_293_201_920) == "26.35 GiB"
    assert {each.need_bytes for each in fit.ranks} == {47 * GIB + 28_293_201_920}
    assert fit.holds


@given(st.integers(0, 66_192))
def test_a_drafter_makes_a_pinned_kv_cache_too_small(of_draft: int) -> None:
    """TP4 at 131,072 tokens with a drafter needed 8.08 GiB of KV where 8 was pinned; only the sum of both is known."""
    together = -(-int(8.08 * GIB) // 131_072)
    assert together == 66_192
    needs = Needs(
        weights_bytes=4 * 90 * GIB, kv_bytes_per_token=together - of_draft, kv_heads=1, attention_heads=64,
        draft=DraftNeeds(attachment="separate", weights_bytes=2_500_000_000, kv_bytes_per_token=of_draft),
    )  # fmt: skip
    served = Demand(model="GLM-5.3", needs=needs, context=131_072, slots=1)
    fit = held(memory_fit([served], Split(kind="tensor", ranks=4), sparks(*[117.0] * 4), POLICY))
    assert {each.kv_bytes for each in fit.ranks} == {8_675_917_824}
    assert [str(each) for each in kv_pinned(8 * GIB, fit)] == [
        f"s{at} KV cache: expected 8.08 GiB for all slots at their context, draft and all, found 8.00 GiB pinned "
        "[kv_pinned_short]"
        for at in range(4)
    ]
    assert kv_pinned(8_675_917_824, fit) == ()


@pytest.mark.parametrize(
    ("free", "fraction"),
    [
        (101.0, "0.76"),  # (101 - 8) / 121.69 = 0.7642…
        (117.0, "0.89"),  # (117 - 8) / 121.69 = 0.8957…
        (101.0 - 6.8, "0.7"),  # the engine's own check moments later finds 6.8 GiB less: 0.7083…
        (117.0 - 6.8, "0.83"),  # 0.8398…
        (121.69, "0.9"),  # 0.9342…, and the ceiling
    ],
)
def test_a_resolved_fraction_is_rounded_down_to_two_decimals(free: float, fraction: str) -> None:
    fit = held(memory_fit([demand()], WHOLE, sparks(free), POLICY))
    assert resolved(fit) == Decimal(fraction)


def test_a_resolved_fraction_is_the_floor_over_ranks() -> None:
    needs = {"attention_heads": 4, "kv_heads": 4}
    fit = held(memory_fit([demand(**needs)], Split(kind="tensor", ranks=4), sparks(117, 109, 101, 113), POLICY))
    assert resolved(fit) == Decimal("0.76")


def test_a_decided_fraction_is_admitted_per_rank() -> None:
    """0.85 of 121.69 GiB is 103.44 GiB; with a reserve of 8 it needs 111.44 GiB free on each rank."""
    needs = {"attention_heads": 2, "kv_heads": 2}
    fit = held(memory_fit([demand(**needs)], Split(kind="tensor", ranks=2), sparks(117, 111), POLICY))
    assert [str(each) for each in decided(Decimal("0.85"), fit)] == [
        "s1 memory at 0.85: expected 103.44 GiB and a reserve of 8.00 GiB, found 111.00 GiB by a probe container free "
        "[fraction_not_admitted]"
    ]
    assert decided(Decimal("0.84"), fit) == ()


def test_instruments_that_differ_decide_apart() -> None:
    """What a probe admits, the engine's own check may not: neither figure corrects the other."""
    probe = held(memory_fit([demand()], WHOLE, sparks(110), POLICY))
    check = held(memory_fit([demand()], WHOLE, sparks(110 - 6.8, instrument=Instrument.ENGINE_CHECK), POLICY))
    assert decided(Decimal("0.83"), probe) == ()
    assert [each.code for each in decided(Decimal("0.83"), check)] == ["fraction_not_admitted"]


def test_qwen3_at_8k_has_the_kv_cache_that_llama_cpp_says() -> None:
    """28 layers x 8 KV heads x 128 x K and V x 2 B (f16), 8,192 tokens: `KV self size = 896.00 MiB`."""
    served = demand(context=8192, kv_bytes_per_token=28 * 8 * 128 * 2 * 2, weights_bytes=522_653_767)
    fit = held(memory_fit([served], WHOLE, sparks(101), POLICY))
    assert fit.ranks[0].kv_bytes == 896 << 20
    assert fit.margin_bytes == 93 * GIB - (896 << 20) - 522_653_767


def test_the_total_is_what_labs_measured() -> None:
    assert gib(TOTAL) == "121.69 GiB"
