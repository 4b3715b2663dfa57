"""Hypothesis strategies for rosters that can be, and for what a host shows of them."""

from typing import Any

from hypothesis import strategies as st

from fleet.hardware import TWINS

names = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


@st.composite
def pair_rosters(draw: st.DrawFn) -> dict[str, Any]:
    """Plain values of a roster of one to four pairs, each on one cage with one or two rails."""
    pairs = draw(st.integers(1, 4))
    sparks = draw(st.lists(names, min_size=2 * pairs, max_size=2 * pairs, unique=True))
    third = iter(draw(st.permutations(range(200))))
    cables = []
    for index in range(pairs):
        cage = draw(st.sampled_from(["f0", "f1"]))
        twins = [twin for twin in TWINS if twin.cage == cage][: draw(st.integers(1, 2))]
        mtu = draw(st.integers(576, 9978))
        cables.append(
            {"rails": [_rail(next(third), twin.interface, sparks[2 * index : 2 * index + 2], mtu) for twin in twins]}
        )
    return {
        "sparks": {name: {"enrolled": draw(st.booleans()) or index == 0} for index, name in enumerate(sparks)},
        "fabrics": {"rails": {"shape": "pair", "cables": cables}},
    }


def _rail(number: int, interface: str, sparks: list[str], mtu: int) -> dict[str, Any]:
    return {
        "rail": number,
        "ends": [
            {"spark": spark, "interface": interface, "address": f"10.7.{number}.{10 + at}/24", "mtu": mtu}
            for at, spark in enumerate(sparks)
        ],
    }
