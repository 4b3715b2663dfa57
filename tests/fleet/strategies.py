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


POOLS = ("10.128.0.0/9", "172.16.0.0/14", "192.168.0.0/15")
"""None has 10.0.0.11, by which `observed` is logged in: a port that carries SSH is another matter."""


@st.composite
def cabled_rosters(draw: st.DrawFn, shapes: tuple[str, ...] = ("pair", "triangle", "ring", "switch")) -> dict[str, Any]:
    """Plain values of a roster of 2 to 12 Sparks in one shape, written short; all of them enrolled."""
    shape = draw(st.sampled_from(shapes))
    count = {"pair": 2 * draw(st.integers(1, 6)), "triangle": 3}.get(shape) or draw(
        st.integers(4 if shape == "ring" else 2, 12)
    )
    sparks = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    prefix = draw(st.integers(20, 30 if shape != "switch" else 27))
    fabric = {
        "shape": shape,
        "cables": _cables(shape, sparks, draw(st.sampled_from(["f0", "f1"]))),
        "pool": draw(st.sampled_from(POOLS)),
        "prefix": prefix,
        "mtu": draw(st.sampled_from([1500, 4200, 9000])),
        "first_rail": draw(st.integers(0, 1000)),
        "transit": shape == "ring" and draw(st.booleans()),
    }
    return {"sparks": {name: {"enrolled": True} for name in sparks}, "fabrics": {"all": fabric}}


def _cables(shape: str, sparks: list[str], cage: str) -> list[str]:
    other = "f1" if cage == "f0" else "f0"
    if shape == "switch":
        return [f"{name}.{cage} - leaf1" for name in sparks]
    if shape == "pair":
        return [f"{one}.{cage} - {two}.{cage}" for one, two in zip(sparks[::2], sparks[1::2], strict=True)]
    return [f"{one}.{cage} - {two}.{other}" for one, two in zip(sparks, [*sparks[1:], sparks[0]], strict=True)]
