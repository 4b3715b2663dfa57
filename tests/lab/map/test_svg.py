"""The file stands alone, is the same each time, hides nothing behind colour, and lets no name out of its place."""

from collections import Counter
from itertools import combinations
from xml.etree.ElementTree import Element, fromstring

import pytest

from fleet.map import Map, map_of
from fleet.map_state import State
from fleet.roster import Roster
from lab.map.layout import picture
from lab.map.style import FAINT, INK, LOOKS, PAPER
from lab.map.svg import svg
from tests.fleet import shapes
from tests.fleet.spelled import spelled

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<b>&amp;\"'\x1b[31m\x00\ufffe日本 --></svg>"


def drawn(name: str = "switch and pairs", count: int = 8) -> Map:
    roster = shapes.sites(count)[name]
    return map_of(name, roster, shapes.seen_every_way(roster))


def root(drawn: Map) -> Element:
    return fromstring(svg(picture(drawn)))


@pytest.mark.parametrize("name", shapes.sites(4))
def test_every_spark_cable_and_switch_is_in_it_with_its_state(name: str) -> None:
    site = drawn(name, 4)
    groups = [(each.get("class"), each.get("data-name"), each.get("data-state")) for each in root(site).iter(f"{SVG}g")]
    found = Counter(groups)
    for spark in site.sparks:
        assert found["spark", spark.name, spark.state.value] == 1
    for fabric in site.fabrics:
        for cable in fabric.cables:
            assert found["cable", " - ".join(cable.ends), cable.state.value] == 1
            assert found["label", " - ".join(cable.ends), cable.state.value] == 1
        for plane in fabric.planes:
            assert any(kind == "switch" and it == plane.switch for kind, it, _ in found)


def test_every_state_that_is_shown_is_a_word_too() -> None:
    site = drawn()
    words = [str(text.text) for text in root(site).iter(f"{SVG}text")]
    for spark in site.sparks:
        assert spark.state.value in words
    for cable in (cable for fabric in site.fabrics for cable in fabric.cables):
        assert cable.state.value in words


def test_every_finding_is_written_out_or_counted() -> None:
    few, many = drawn("pair", 2), drawn("two switches", 12)
    written = " ".join(str(text.text).strip() for text in root(few).iter(f"{SVG}text"))
    for finding in (each for spark in few.sparks for each in spark.findings):
        assert str(finding) in written
    assert any(
        " more, which sparks map --format text tells" in str(text.text) for text in root(many).iter(f"{SVG}text")
    )


def test_it_needs_no_other_file_and_runs_nothing() -> None:
    text = svg(picture(drawn()))
    allowed = {"svg", "title", "desc", "g", "rect", "path", "circle", "text"}
    assert {each.tag.removeprefix(SVG) for each in fromstring(text).iter()} == allowed
    assert not any(name.endswith(("href", "src", "style")) or name.startswith("on")
                   for each in fromstring(text).iter() for name in each.attrib)  # fmt: skip
    assert "url(" not in text
    assert text.count("http") == 1, "expected its namespace alone"


def test_the_same_map_is_the_same_file() -> None:
    assert svg(picture(drawn())) == svg(picture(drawn()))


def test_no_name_leaves_its_place() -> None:
    values = spelled(shapes.sites(2)["switch"])
    for plane in values["fabrics"]["switch"]["planes"]:
        plane["switch"] = NASTY
    tree = root(map_of(NASTY, Roster.read(values, "test"), None))
    assert {each.tag.removeprefix(SVG) for each in tree.iter()} <= {
        "svg", "title", "desc", "g", "rect", "path", "circle", "text",
    }  # fmt: skip
    written = [str(text.text) for text in tree.iter(f"{SVG}text")]
    assert sum(each.startswith("<b>&amp;\"'�[31m��日本 -->") for each in written) == 2, (
        "expected the title and the switch"
    )


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_it_reads_on_its_own_paper() -> None:
    assert contrast(FAINT, PAPER) >= 3
    for look in LOOKS.values():
        assert contrast(INK, look.tint) >= 7
        assert contrast(look.colour, PAPER) >= 3


def test_states_differ_by_more_than_colour() -> None:
    assert set(LOOKS) == set(State)
    for one, other in combinations(State, 2):
        assert LOOKS[one].sign != LOOKS[other].sign
        if {one, other} != {State.AS_DESIRED, State.DECLARED}:
            assert LOOKS[one].dashes != LOOKS[other].dashes
