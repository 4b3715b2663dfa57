"""What would make it fit really does, by the function that said that it does not fit; and no way is left out."""

from hypothesis import given
from hypothesis import strategies as st

from fleet.fit.advice import CONTEXT_STEP, Asked, ways
from fleet.fit.demand import WHOLE, Demand, Split
from fleet.fit.instrument import GIB
from fleet.fit.memory import memory_fit
from fleet.fit.needs import DraftNeeds
from fleet.fit.policy import Policy
from tests.fleet.fit.devices import DARK, demand, held, sparks

POLICY = Policy()
HEADS = {"attention_heads": 64, "kv_heads": 8}
DRAFT = DraftNeeds(attachment="separate", weights_bytes=2 * GIB, kv_bytes_per_token=1 << 18)


def asked(one: Demand, free: float, split: Split = WHOLE, spares: tuple[float, ...] = ()) -> Asked:
    devices = sparks(*[free] * split.ranks, *spares)
    return Asked((one,), split, devices[: split.ranks], POLICY, devices[split.ranks :])


def test_each_way_says_what_to_change() -> None:
    one = demand(context=8192, slots=4, draft=DRAFT, **HEADS)
    found = ways(asked(one, 48.0, Split(kind="tensor", ranks=1), (48.0, 48.0)))
    assert [each.change for each in found] == [
        "m: context 7,424 instead of 8,192",
        "m: 3 slots instead of 4",
        "m: draft off",
        "with s1 as well",
    ]


@given(st.integers(1, 20_000), st.integers(1, 6), st.booleans(), st.floats(8, 121))
def test_each_way_fits(context: int, slots: int, drafted: bool, free: float) -> None:
    one = demand(context, slots, draft=DRAFT if drafted else None)
    question = asked(one, free)
    if not question.holds():
        assert all(each.margin_bytes >= 0 for each in ways(question))


@given(st.integers(2, 20_000), st.integers(1, 3), st.floats(10, 60))
def test_the_largest_context_that_fits_is_named(context: int, slots: int, free: float) -> None:
    one = demand(context, slots)

    def holds(tokens: int) -> bool:
        return held(memory_fit([one.replaced(context=tokens)], WHOLE, sparks(free), POLICY)).holds

    if holds(context):
        return
    best = max((each for each in range(CONTEXT_STEP, context, CONTEXT_STEP) if holds(each)), default=None)
    named = [each.change for each in ways(asked(one, free)) if each.change.startswith("m: context")]
    assert named == ([] if best is None else [f"m: context {best:,} instead of {context:,}"])


def test_where_one_change_is_not_enough_all_are_named_at_once() -> None:
    one = demand(context=32768, slots=4, draft=DRAFT, kv_bytes_per_token=1 << 20)
    (way,) = ways(asked(one, 9.75))
    assert way.change == "m: 1 slot, draft off; m: context 768 instead of 32,768"


def test_where_not_even_the_weights_fit_there_is_no_way() -> None:
    assert ways(asked(demand(weights_bytes=100 * GIB), 50.0)) == ()


def test_a_whole_model_is_never_told_to_take_one_more_spark() -> None:
    assert ways(asked(demand(weights_bytes=100 * GIB), 50.0, spares=(120.0,))) == ()


def test_no_spark_joins_that_cannot_be_read_or_that_the_heads_do_not_allow() -> None:
    one = demand(weights_bytes=150 * GIB, kv_bytes_per_token=0, **HEADS)
    question = asked(one, 70.0, Split(kind="tensor", ranks=2))
    assert ways(question._replace(spares=(("dark", DARK),))) == ()
    assert ways(question._replace(spares=sparks(70.0)[:0])) == ()
    found = ways(question._replace(spares=(("c", sparks(70.0)[0][1]), ("d", sparks(70.0)[0][1]))))
    assert [each.change for each in found] == ["with c, d as well"]
