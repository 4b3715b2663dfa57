"""Laws of a fit: it is decided per rank, by one instrument, and one Spark that cannot be read refuses the set."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from fleet.fit.demand import WHOLE, Demand, Split
from fleet.fit.instrument import GIB, Device, Instrument, Reading, summed
from fleet.fit.memory import MemoryFit, RankFit, memory_fit
from fleet.fit.needs import DraftNeeds, Needs
from fleet.fit.policy import Policy
from tests.fleet.fit.devices import DARK, demand, device, held, sparks

POLICY = Policy()
HEADS = {"attention_heads": 64, "kv_heads": 8, "layers": 61}
splits = st.sampled_from(
    [Split(kind="tensor", ranks=each) for each in (1, 2, 4, 8)]
    + [Split(kind="layers", ranks=each) for each in (1, 2, 3, 5)]
)
frees = st.floats(0, 121.6)


@given(splits, st.integers(1, 1 << 40), st.integers(0, 1 << 20), st.integers(1, 1 << 17), st.integers(1, 8))
def test_no_split_loses_a_byte(split: Split, weights: int, per_token: int, context: int, slots: int) -> None:
    served = demand(context, slots, weights_bytes=weights, kv_bytes_per_token=per_token, **HEADS)
    whole = sum(each.amount_bytes for each in served.lines(WHOLE, 0))
    ranks = [sum(each.amount_bytes for each in served.lines(split, rank)) for rank in range(split.ranks)]
    assert whole <= sum(ranks) <= whole + split.ranks * (1 + context * slots)


@given(st.lists(frees, min_size=4, max_size=4))
def test_the_margin_is_that_of_the_rank_with_the_least(free: list[float]) -> None:
    fit = held(memory_fit([demand(**HEADS)], Split(kind="tensor", ranks=4), sparks(*free), POLICY))
    assert fit.margin_bytes == min(each.margin_bytes(POLICY) for each in fit.ranks)
    assert fit.holds == (not fit.refusals())
    refused = {each.subject.partition(" ")[0] for each in fit.refusals()}
    assert refused == {each.host for each in fit.ranks if each.margin_bytes(POLICY) < 0}


@given(st.integers(1, 200_000), st.integers(1, 8), frees)
def test_more_of_anything_never_fits_where_less_does_not(context: int, slots: int, free: float) -> None:
    def holds(context: int, slots: int, **more: int) -> bool:
        return held(memory_fit([demand(context, slots, **more)], WHOLE, sparks(free), POLICY)).holds

    if not holds(context, slots):
        assert not holds(context + 1, slots)
        assert not holds(context, slots + 1)
        assert not holds(context, slots, graphs_bytes=1)
        assert not holds(context, slots, workspace_bytes=1)


@given(st.sets(st.integers(0, 3), min_size=1))
def test_one_spark_that_cannot_be_read_refuses_the_set(dark: set[int]) -> None:
    devices = tuple((host, DARK if at in dark else seen) for at, (host, seen) in enumerate(sparks(117, 117, 117, 117)))
    refused = memory_fit([demand(**HEADS)], Split(kind="tensor", ranks=4), devices, POLICY)
    assert isinstance(refused, tuple)
    assert [each.subject for each in refused] == [f"s{at} memory" for at in sorted(dark)]
    assert {each.code for each in refused} == {"unobserved"}


def test_what_is_above_the_ceiling_never_fits() -> None:
    (refusal,) = held(memory_fit([demand(weights_bytes=110 * GIB)], WHOLE, sparks(121.69), POLICY)).refusals()
    assert str(refusal) == (
        "s0 memory: expected at most 109.52 GiB, the ceiling of 0.9 of 121.69 GiB by a probe container, "
        "found 111.00 GiB [memory_above_ceiling]"
    )


INFEASIBLE: dict[str, tuple[Split, dict[str, int], str]] = {
    "heads that the ranks do not divide": (
        Split(kind="tensor", ranks=3), {"attention_heads": 64, "kv_heads": 8},
        "m split as tensors over 3: expected attention heads that 3 ranks divide, found 64",
    ),
    "heads that nobody declared": (
        Split(kind="tensor", ranks=2), {},
        "m split as tensors over 2: expected attention_heads and kv_heads declared, found no such numbers",
    ),
    "KV heads that cannot be shared": (
        Split(kind="tensor", ranks=4), {"attention_heads": 64, "kv_heads": 6},
        "m split as tensors over 4: expected KV heads that divide 4 ranks, or are divided by them, found 6",
    ),
    "fewer layers than sparks": (
        Split(kind="layers", ranks=4), {"layers": 3},
        "m split as layers over 4: expected at least 4 layers, found 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("split", "needs", "sentence"), INFEASIBLE.values(), ids=list(INFEASIBLE))
def test_a_split_that_cannot_be(split: Split, needs: dict[str, int], sentence: str) -> None:
    refused = memory_fit([demand(**needs)], split, sparks(*[100.0] * split.ranks), POLICY)
    assert isinstance(refused, tuple)
    assert [str(each) for each in refused] == [f"{sentence} [parallel_strategy_infeasible]"]


def test_divisibility_is_no_condition_where_layers_are_split() -> None:
    served = demand(attention_heads=64, kv_heads=8, layers=61, kv_bytes_per_token=61 * 4096)
    fit = held(memory_fit([served], Split(kind="layers", ranks=3), sparks(100, 100, 100), POLICY))
    assert [each.kv_bytes // 4096 // 1024 for each in fit.ranks] == [21, 20, 20]


def _draft(**changes: Any) -> DraftNeeds:
    return DraftNeeds(**({"attachment": "separate", "weights_bytes": 1, "kv_bytes_per_token": 1} | changes))


IMPOSSIBLE: dict[str, tuple[Any, str]] = {
    "nothing free of nothing": (lambda: Device.read(Instrument.PROBE, 0, 0), "free_above_total"),
    "more free than there is": (lambda: Device.read(Instrument.PROBE, 1, 2), "free_above_total"),
    "a negative amount": (lambda: Reading(instrument=Instrument.PROBE, amount_bytes=-1), "greater_than_equal"),
    "free memory by what tells only what is held": (lambda: Device.read(Instrument.RSS, 2, 1), "tells_no_free"),
    "a total and a part by two instruments": (
        lambda: Device(total=device(100).total, free=device(50, Instrument.ENGINE_CHECK).free), "mixed_instruments"),
    "ranks by two instruments": (
        lambda: _fit(device(100), device(100, Instrument.MEM_AVAILABLE)), "mixed_instruments"),
    "one spark twice": (lambda: _fit(device(100), device(100), hosts=("a", "a")), "ranks_and_hosts"),
    "fewer sparks than ranks": (lambda: _fit(device(100)), "ranks_and_hosts"),
    "no rank": (lambda: _fit(), "too_short"),
    "a whole model on two sparks": (lambda: Split(kind="whole", ranks=2), "whole_on_several"),
    "no rank to split over": (lambda: Split(kind="tensor", ranks=0), "greater_than"),
    "no context": (lambda: demand(context=0), "greater_than"),
    "no slot": (lambda: demand(slots=0), "greater_than"),
    "no weights": (lambda: Needs(weights_bytes=0, kv_bytes_per_token=1), "greater_than"),
    "a fused draft with weights of its own": (lambda: _draft(attachment="fused"), "fused_draft_weights"),
    "a separate draft without weights": (lambda: _draft(weights_bytes=None), "separate_draft_weights"),
    "a floor above the ceiling": (lambda: Policy(floor="0.95"), "floor_above_ceiling"),
    "a ceiling that cannot be said": (lambda: Policy(ceiling="0.905"), "not_in_steps"),
    "a ceiling above all there is": (lambda: Policy(ceiling="1.01"), "no_fraction"),
    "a ceiling of nothing": (lambda: Policy(ceiling="0"), "no_fraction"),
    "a reserve below nothing": (lambda: Policy(reserve_bytes=-1), "greater_than_equal"),
}  # fmt: skip


def _fit(*devices: Device, hosts: tuple[str, ...] = ("a", "b")) -> MemoryFit:
    ranks = tuple(RankFit(host=host, lines=(), device=each) for host, each in zip(hosts, devices, strict=False))
    return MemoryFit(policy=POLICY, split=Split(kind="tensor", ranks=2), ranks=ranks)


@pytest.mark.parametrize(("make", "code"), IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_what_cannot_be_has_no_constructor(make: Any, code: str) -> None:
    with pytest.raises(ValidationError) as failure:
        make()
    assert code in [each["type"] for each in failure.value.errors()]


@given(st.lists(st.sampled_from(Instrument), min_size=2, max_size=4))
def test_no_sum_mixes_instruments(instruments: list[Instrument]) -> None:
    readings = [Reading(instrument=each, amount_bytes=1) for each in instruments]
    if len(set(instruments)) == 1:
        assert summed(readings).amount_bytes == len(readings)
    else:
        with pytest.raises(PydanticCustomError, match="expected one instrument"):
            summed(readings)


def test_a_demand_for_several_models_is_the_sum_of_theirs() -> None:
    one, other = demand(), Demand(model="n", needs=Needs(weights_bytes=5, kv_bytes_per_token=0), context=1, slots=1)
    together = held(memory_fit([one, other], WHOLE, sparks(100), POLICY))
    alone = held(memory_fit([one], WHOLE, sparks(100), POLICY))
    assert together.margin_bytes == alone.margin_bytes - 5
