"""An assembly fits where each rank does by every instrument, and what would make it fit is told by each apart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.assembly_fit import AssemblyFit, Said
from fleet.fit.instrument import GIB, Instrument
from fleet.observation import Observation
from fleet.record import Unobserved
from tests.fleet.assemblies import DRAFT, DRAFT_NEEDS, fit, needs, readings, seen, told

KHO = "7.0.0-1019-nvidia"


def refused(found: AssemblyFit) -> list[str]:
    every = [*found.refusals, *(each for judged in found.by for each in judged.refusals)]
    return [str(each).partition("\n")[0] for each in every]


def ways(found: AssemblyFit) -> list[str]:
    return [each.change for each in found.by[0].ways]


def test_every_rank_has_its_arithmetic_and_the_set_its_sum() -> None:
    found = fit({"s1": 100.0, "s2": 90.0})
    (judged,) = found.by
    assert (found.answer, judged.instrument, judged.need_bytes) == (Said.FITS, Instrument.MEM_AVAILABLE, 2 * 76 * GIB)
    assert [(each.host, each.need_bytes) for each in judged.ranks] == [("s1", 76 * GIB), ("s2", 76 * GIB)]
    assert [each.what for each in judged.ranks[0].lines] == ["weights", "KV cache"]
    assert str(judged.fraction) == "0.67"


@given(st.floats(0, 121.6), st.floats(0, 121.6))
def test_the_set_fits_where_each_rank_does(one: float, other: float) -> None:
    found = fit({"s1": one, "s2": other}, engine="llama.cpp-rpc")
    assert (found.answer is Said.FITS) == (min(one, other) >= 76 + 8)
    assert bool(found.by[0].ways) <= (found.answer is not Said.FITS)


def test_one_spark_that_cannot_be_read_refuses_the_set() -> None:
    dark = dict.fromkeys(("kernel", "memory"), Unobserved(reason="no answer"))
    found = fit({"s1": 100.0, "s2": seen("s2", 1.0).model_copy(update=dark)})
    assert refused(found) == [f"s2 {each}: expected an observation, found no answer [unobserved]" for each in dark]
    assert (found.answer, found.by[0].answer, found.by[0].ways) == (Said.BLIND, Said.BLIND, ())


def test_a_silent_spark_is_told_once() -> None:
    silent = Observation(host="s2", memory=Unobserved(reason="no answer"), kernel=Unobserved(reason="no answer"))
    assert refused(fit({"s1": 100.0, "s2": silent})) == [
        "s2 memory: expected an observation, found no answer [unobserved]"
    ]


def test_a_spark_that_is_only_named_is_none_that_was_read() -> None:
    found = fit({"s3": 100.0}, cluster="last")
    assert refused(found) == [
        "s4 memory: expected an observation, found it is only named in the roster, and so never looked at [unobserved]"
    ]


def test_each_instrument_says_its_own_and_all_must_admit() -> None:
    found = fit({"s1": 100.0, "s2": 100.0}, readings(s1=95.0, s2=80.0))
    assert [(each.instrument, bool(each.refusals)) for each in found.by] == [
        (Instrument.MEM_AVAILABLE, False), (Instrument.PROBE, True),
    ]  # fmt: skip
    assert [str(each.fraction) for each in found.by] == ["0.75", "None"]
    assert found.answer is Said.SHORT
    assert refused(found) == [
        "s2 memory: expected 76.00 GiB and a reserve of 8.00 GiB, found 80.00 GiB by a probe container free, "
        "4.00 GiB less than that [memory_short]"
    ]


def test_an_instrument_that_did_not_read_all_ranks_says_nothing_of_the_set() -> None:
    found = fit({"s1": 100.0, "s2": 100.0}, told(Instrument.ENGINE_CHECK, s1=95.0))
    assert refused(found) == [
        "s2 memory: expected an observation, found no reading by the engine's own check was given [unobserved]"
    ]


def test_every_way_is_named() -> None:
    drafted: dict[str, Any] = {"draft": DRAFT, "memory": needs(draft=DRAFT_NEEDS | {"weights_bytes": 8 * GIB})}
    found = fit({"s1": 86.0, "s2": 86.0, "s3": 86.0}, spares=["s4", "s3"], **drafted)
    assert ways(found) == [
        "Qwen/Qwen3-14B: context 14,080 instead of 16,384",
        "Qwen/Qwen3-14B: 1 slot instead of 2",
        "Qwen/Qwen3-14B: draft off",
    ]
    joined = fit({"s1": 70.0, "s2": 70.0, "s3": 70.0}, spares=["s3"])
    assert "with s3 as well" in ways(joined)


FRACTIONS: dict[str, tuple[float, float, list[str], list[str]]] = {
    "more than is free": (
        0.9, 100.0,
        [f"{each} memory at 0.9: expected 109.52 GiB and a reserve of 8.00 GiB, found 100.00 GiB by MemAvailable free "
         "[fraction_not_admitted]" for each in ("s1", "s2")],
        ["fraction 0.75 instead of 0.9"],
    ),
    "less than is needed": (
        0.5, 100.0,
        [f"{each} memory at 0.5: expected at least 76.00 GiB, which it must hold, found 60.84 GiB [fraction_too_small]"
         for each in ("s1", "s2")],
        ["Qwen/Qwen3-14B: context 768 instead of 16,384", "fraction 0.75 instead of 0.5"],
    ),
    "admitted": (0.75, 100.0, [], []),
}  # fmt: skip


@pytest.mark.parametrize(("fraction", "free", "refusals", "helps"), FRACTIONS.values(), ids=list(FRACTIONS))
def test_a_decided_fraction_is_admitted_per_rank(
    fraction: float, free: float, refusals: list[str], helps: list[str]
) -> None:
    found = fit({"s1": free, "s2": free}, fraction=fraction)
    assert refused(found) == refusals
    assert ways(found) == helps


def test_where_a_decided_fraction_lets_nothing_help_what_would_without_it_is_named() -> None:
    assert ways(fit({"s1": 80.0, "s2": 80.0}, fraction=0.9)) == [
        "no fraction decided; Qwen/Qwen3-14B: context 12,032 instead of 16,384",
        "no fraction decided; Qwen/Qwen3-14B: 1 slot instead of 2",
    ]


def test_a_pinned_cache_is_taken_whole_and_must_hold_all_slots() -> None:
    small = fit({"s1": 100.0, "s2": 100.0}, kv_cache_bytes=15 * GIB)
    assert refused(small) == [
        f"{each} KV cache: expected 16.00 GiB for all slots at their context, draft and all, found 15.00 GiB pinned "
        "[kv_pinned_short]" for each in ("s1", "s2")
    ]  # fmt: skip
    assert f"KV cache pinned to {16 * GIB:,} B instead of {15 * GIB:,}" in ways(small)
    large = fit({"s1": 100.0, "s2": 100.0}, kv_cache_bytes=20 * GIB)
    assert large.by[0].ranks[0].need_bytes == 80 * GIB
    assert fit({"s1": 87.0, "s2": 87.0}, kv_cache_bytes=20 * GIB).answer is Said.SHORT


def test_heads_that_do_not_divide_are_told_with_what_helps() -> None:
    found = fit({"s1": 100.0, "s2": 100.0, "s3": 100.0}, spares=["s3"], memory=needs(attention_heads=27, kv_heads=3))
    assert "attention heads that 2 ranks divide, found 27 [parallel_strategy_infeasible]" in refused(found)[0]
    assert ways(found) == ["with s3 as well"]
    layers = fit({"s1": 100.0, "s2": 100.0}, engine="llama.cpp-rpc", memory=needs(attention_heads=27, kv_heads=3))
    assert layers.answer is Said.FITS


@pytest.mark.parametrize(
    ("transport", "words", "is_refused"),
    [("rdma", (), True), ("rdma", ("kho=off",), False), ("tcp", (), False)],
)
def test_what_is_known_against_a_transport_is_told(transport: str, words: tuple[str, ...], is_refused: bool) -> None:
    found = fit({"s1": seen("s1", 100.0, KHO, *words), "s2": 100.0}, transport=transport)
    assert [each.code for each in found.refusals] == ["transport_unavailable"] * is_refused
    assert (found.answer is Said.FITS) != is_refused
