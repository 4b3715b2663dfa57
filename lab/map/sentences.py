"""What a map says in words, the same in a picture and in text."""

from collections import Counter

from fleet.map import Map, MapFabric
from fleet.map_state import State

MEANING = {
    State.AS_DESIRED: "observed, nothing is left to do",
    State.DECLARED: "as the roster says; no host was asked",
    State.ONLY_NAMED: "known, never touched and never asked",
    State.PENDING: "observed, a run would change it",
    State.NOT_OBSERVED: "a look failed; nothing is assumed",
    State.REFUSED: "observed, something stands in the way of any change",
}


def summary(drawn: Map) -> str:
    """How many Sparks are how, in one sentence."""
    counts = Counter(spark.state for spark in drawn.sparks)
    found = ", ".join(f"{counts[state]} {state.value}" for state in State if counts[state])
    sparks = "1 Spark" if len(drawn.sparks) == 1 else f"{len(drawn.sparks)} Sparks"
    return f"{sparks}: {found}"


def caption(fabric: MapFabric) -> str:
    """What a fabric is. A part of it can stand otherwise than the whole, so the state is not in it."""
    transit = " with transit" if fabric.transit else ""
    return f"fabric {fabric.name}, shape {fabric.shape}{transit}"
