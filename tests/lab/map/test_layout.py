"""Nothing on a picture lies on anything else, nothing is outside it, and every cable ends where it is plugged in."""

from functools import lru_cache
from typing import Any

import pytest

from fleet.map import map_of
from fleet.roster import Roster
from lab.map.geometry import Box, hull
from lab.map.layout import picture
from lab.map.picture import Card, Picture, Text
from tests.fleet import shapes
from tests.fleet.spelled import spelled

COUNTS = range(2, 13)
LONG = "a-lab-that-names-its-sparks-after-the-room-and-the-shelf-they-are-in"


@lru_cache
def pictures(count: int) -> dict[str, tuple[Roster, Picture]]:
    found: dict[str, tuple[Roster, Picture]] = {}
    for name, roster in shapes.sites(count).items():
        found[name] = roster, picture(map_of(name, roster, None))
        found[f"{name}, observed"] = roster, picture(map_of(name, roster, shapes.seen_every_way(roster)))
    return found


def disjoint(boxes: list[tuple[str, Box]]) -> None:
    ordered = sorted(boxes, key=lambda each: each[1])
    for at, (one, box) in enumerate(ordered, 1):
        for other, its in ordered[at:]:
            if its.x >= box.right:
                break
            assert not box.overlaps(its), f"{one} on {other}"


def texts_of(drawn: Picture) -> list[Text]:
    return [*drawn.content.texts, *(text for card in drawn.content.cards for text in card.all_texts())]


def proper(drawn: Picture) -> None:
    """Every law of a picture's geometry."""
    content = drawn.content
    whole = Box(0, 0, drawn.width, drawn.height)
    cards = [(f"{card.kind} {card.name}", card.box) for card in content.cards]
    disjoint([*cards, *((text.text, text.box) for text in content.texts)])
    disjoint([(text.text, text.box) for text in texts_of(drawn)])
    assert all(whole.holds(box) for _, box in cards)
    assert all(whole.holds(text.box) for text in texts_of(drawn))
    for card in content.cards:
        inside(card)
    for wire in content.wires:
        assert all(whole.has(point) for point in wire.line.along())
        clear(wire.name, wire.line.along(), drawn)


def inside(card: Card) -> None:
    """What is written on a card, and the cages of a Spark, are on it."""
    assert all(card.box.holds(text.box) for text in card.texts), card
    assert all(card.box.holds(symbol.box) for symbol in card.symbols), card
    assert all(card.box.holds(part.box) for part in card.parts), card
    disjoint([(text.text, text.box) for text in card.texts] + [(str(sign), sign.box) for sign in card.symbols])
    for part in card.parts:
        inside(part)


def clear(name: str, points: list[tuple[float, float]], drawn: Picture) -> None:
    """A cable passes over no card but its own label and the switches, and over no text but its label's."""
    reach = hull([Box(x, y, 0.01, 0.01) for x, y in points])
    others = [card for card in drawn.content.cards if card.name != name and card.box.overlaps(reach)]
    for card in others:
        assert card.kind == "switch" or not passes(points, card.box), f"{name} on {card.name}"
    for text in (text for card in others for text in card.all_texts() if text.box.overlaps(reach)):
        assert not passes(points, text.box), f"{name} on {text.text}"


def passes(points: list[tuple[float, float]], box: Box) -> bool:
    """Does a line go through the box, and not only along its edge?"""
    return any(box.grown(-0.01).has(point) for point in points)


@pytest.mark.parametrize("count", COUNTS)
def test_nothing_lies_on_anything_else_in_any_shape(count: int) -> None:
    for _, drawn in pictures(count).values():
        proper(drawn)


@pytest.mark.parametrize("count", COUNTS)
def test_every_cable_ends_at_the_cages_it_is_plugged_into(count: int) -> None:
    for roster, drawn in pictures(count).values():
        cards = {card.name: card for card in drawn.content.cards if card.kind in ("spark", "switch")}
        found = set()
        for wire in drawn.content.wires:
            ends = (wire.line.points[0], wire.line.points[-1])
            for plugged in wire.name.split(" - "):
                spark, _, cage = plugged.rpartition(".")
                card = cards[plugged] if plugged in cards else cards[spark].part(cage)
                assert any(on_edge(end, card.box) for end in ends), wire
                found.add((spark, cage))
        wanted = {(end.spark, str(end.twin.cage)) for segment in roster.segments for end in segment.ends}
        assert wanted <= found


def on_edge(point: tuple[float, float], box: Box) -> bool:
    return box.grown(0.01).has(point) and not box.grown(-0.01).has(point)


@pytest.mark.parametrize("count", [2, 4, 5, 8, 12])
def test_every_spark_address_and_subnet_is_written(count: int) -> None:
    for roster, drawn in pictures(count).values():
        written = [text.text for text in texts_of(drawn)]
        assert sorted(card.name for card in drawn.content.cards if card.kind == "spark") == sorted(roster.sparks)
        for segment in roster.segments:
            assert any(segment.subnet in each for each in written)
            assert all(str(end.address.ip) in written for end in segment.ends)
            assert all(end.interface in written for end in segment.ends)


def test_a_ring_is_drawn_round_in_cable_order() -> None:
    for count in range(4, 13):
        _, drawn = pictures(count)["ring"]
        middles = {card.name: card.box.middle for card in drawn.content.cards if card.kind == "spark"}
        x, y = (sum(each[axis] for each in middles.values()) / count for axis in (0, 1))
        order = shapes.NAMES[:count]
        for one, other in zip(order, order[1:] + order[:1], strict=True):
            (ax, ay), (bx, by) = middles[one], middles[other]
            assert (ax - x) * (by - y) - (ay - y) * (bx - x) > 0, "expected each next Spark clockwise"


def test_two_dozen_sparks_on_two_switches_stay_clear() -> None:
    plane = {"shape": "switch", "pool": "192.168.0.0/17"}
    cables = [f"{name}.f{cage} - switch{cage}" for name in shapes.NAMES for cage in (0, 1)]
    roster = shapes.site(shapes.NAMES, switch={**plane, "cables": cables})
    proper(picture(map_of("all", roster, shapes.seen_every_way(roster))))


def test_long_names_and_many_findings_stay_clear() -> None:
    names = [f"{LONG}-{number}.example.org" for number in range(8)]
    wide: dict[str, Any] = {"pool": "192.168.128.0/17", "prefix": 30, "first_rail": 65000}
    fabrics: tuple[dict[str, Any], ...] = (
        {"shape": "ring", "cables": shapes.round_trip(names)},
        {"shape": "switch", "cables": [f"{name}.f1 - {LONG[:64]}" for name in names], "prefix": 24},
        {"shape": "pair", "cables": shapes.pairs(names)},
    )
    for fabric in fabrics:
        roster = shapes.site(names, None, **{LONG[:60]: {**wide, **fabric}})
        proper(picture(map_of(LONG, roster, {name: shapes.blank(roster, name) for name in names})))


def test_a_managed_address_is_on_its_spark() -> None:
    values = spelled(shapes.sites(4)["switch and pairs"])
    for at, spark in enumerate(values["sparks"].values()):
        spark["management"] = {"dhcp": True} if at % 2 else {"address": f"172.16.100.{10 + at}/24"}
    roster = Roster.read(values, "test")
    drawn = picture(map_of("managed", roster, None))
    proper(drawn)
    written = [text.text for text in texts_of(drawn)]
    assert "enP7s7 172.16.100.10/24" in written
    assert "enP7s7 dhcp" in written
