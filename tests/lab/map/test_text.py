"""The text says all of the map, in rows that an 80-column terminal shows whole."""

import click
import pytest

from fleet.map import Map, map_of
from lab.map.text import text
from tests.fleet import shapes
from tests.lab.map.test_layout import LONG


def drawn(name: str, count: int = 4) -> Map:
    roster = shapes.sites(count)[name]
    return map_of(name, roster, shapes.seen_every_way(roster))


def plain(drawn: Map, width: int = 80) -> str:
    return click.unstyle(text(drawn, width))


@pytest.mark.parametrize("name", shapes.sites(4))
def test_every_thing_on_the_map_is_a_row_with_its_state(name: str) -> None:
    site = drawn(name)
    rows = [" ".join(row.split()) for row in plain(site).splitlines()]
    for spark in site.sparks:
        assert f"{spark.name}: {spark.state.value}" in rows
    for fabric in site.fabrics:
        for cable in fabric.cables:
            assert f"cable {cable.ends[0]} - {cable.ends[1]}: {cable.state.value}" in rows
        for segment in fabric.segments:
            assert f"rail {segment.rail} {segment.subnet} MTU {segment.mtu}: {segment.state.value}" in rows
            for end in segment.ends:
                assert f"{end.spark} {end.interface} {end.address} {end.state.value}" in rows


def test_every_finding_is_there_with_its_reason_and_what_would_help() -> None:
    site = drawn("switch and pairs", 8)
    flat = " ".join(plain(site).split())
    for finding in (each for spark in site.sparks for each in spark.findings):
        assert f"{finding.state.value}: {finding.subject}" in flat
        assert finding.reason is None or finding.reason in flat
        assert finding.hint is None or finding.hint in flat


@pytest.mark.parametrize("name", shapes.sites(4))
def test_no_line_is_wider_than_the_terminal(name: str) -> None:
    assert max(map(len, plain(drawn(name)).splitlines())) <= 80


def test_long_names_keep_to_the_width() -> None:
    names = [f"{LONG}-{number}.example.org" for number in range(2)]
    roster = shapes.site(names, pair={"shape": "pair", "cables": shapes.pairs(names), "pool": "192.168.128.0/17"})
    rows = plain(map_of("site", roster, None)).splitlines()
    assert max(map(len, rows)) <= 80
    assert plain(map_of("site", roster, None)).count(f"{LONG[:8]}") >= 6


def test_without_colour_nothing_is_lost() -> None:
    site = drawn("ring")
    assert "\x1b" in text(site)
    assert "\x1b" not in plain(site)
