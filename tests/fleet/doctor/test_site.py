"""Each check of a roster, and of what a controller keeps, speaks where it should."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from fleet.bandwidth import Verdict, judge
from fleet.bandwidth_schedule import Direction
from fleet.doctor.check import Reached, Site
from fleet.doctor.checks_receipts import RECEIPTS, Kept
from fleet.doctor.examine import examine_kept, examine_measured, examine_site
from fleet.doctor.registry import SITE_CHECKS
from fleet.outcome import Outcome
from fleet.receipt.acts import OperationBegun
from fleet.receipt.events import Closed, Event
from fleet.receipt.fault import Fault, Kind
from fleet.receipt.name import receipt_name
from fleet.receipt.receipt import Receipt, read_receipt
from fleet.record import Unobserved
from fleet.roster import Roster
from tests.fleet.ollama.host import DESIRED, PIN
from tests.fleet.receipt.said import AT, lines_of, written
from tests.fleet.shapes import NAMES, pairs, site
from tests.fleet.spelled import spelled
from tests.fleet.test_roster import GOOD

PLAIN = spelled(DESIRED)
QUIET: dict[str, Any] = PLAIN | {
    "listen": "127.0.0.1:11434",
    "environment": {"OLLAMA_KEEP_ALIVE": "-1", "OLLAMA_CONTEXT_LENGTH": "8192", "OLLAMA_NUM_PARALLEL": "1"},
    "models": [PLAIN["models"][0] | {"memory": {"weights_bytes": 10, "kv_bytes_per_token": 0}}],
}
Change = Callable[[dict[str, Any]], Any]


def values(ollama: dict[str, Any] | None = None) -> dict[str, Any]:
    """A roster of which there is nothing to say."""
    found = copy.deepcopy(GOOD) | {"deployments": {"chat": {"spark": "a", "ollama": ollama or QUIET}}}
    found["fabrics"]["rails"]["floor_gbps"] = 90
    return found


def roster(change: Change = lambda found: None, **ollama: Any) -> Site:
    found = values(QUIET | ollama)
    change(found)
    return Site(Roster.read(found, "test"))


def reached(**changes: Any) -> Site:
    return roster()._replace(reached=(Reached("a", "a.lab", known_hosts="site.known_hosts")._replace(**changes),))


def _mtu(found: dict[str, Any]) -> None:
    for rail in found["fabrics"]["rails"]["cables"][0]["rails"]:
        for end in rail["ends"]:
            end["mtu"] = 1500


def _named(found: dict[str, Any]) -> None:
    found["sparks"]["b"]["enrolled"] = False


def _named_in_a_cluster(found: dict[str, Any]) -> None:
    _named(found)
    found["clusters"] = {"two": {"fabric": "rails", "sparks": ["a", "b"]}}


def _environment(**changes: str) -> dict[str, Any]:
    return {"environment": {name: each for name, each in (QUIET["environment"] | changes).items() if each}}


def _policies(found: dict[str, Any]) -> None:
    image = {"linux-image-6.17.0-1031-nvidia": "6.17.0-1031.31"}
    found["kernels"] = {"new": {"release": "6.17.0-1031-nvidia", "packages": image}}


def _mixed(found: dict[str, Any]) -> None:
    _policies(found)
    found["sparks"]["a"]["kernel"] = "new"
    found["clusters"] = {"two": {"fabric": "rails", "sparks": ["a", "b"]}}


NOBODY = {"shape": "pair", "cables": pairs(NAMES[:2]), "pool": "10.7.0.0/16", "mtu": 9000}
SPEAKS: tuple[tuple[str, Site, str], ...] = (
    ("roster.inventory", roster()._replace(unread="the lab is down"), "inventory: expected its hosts, found the lab"),
    ("roster.no_rail", roster(lambda v: v["sparks"].update(d={"enrolled": True})), "sparks.d: expected a rail"),
    ("roster.unused_fabric", roster(lambda v: v["fabrics"].update(x={"shape": "pair"})), "fabrics.x: expected a cable"),
    ("roster.half_enrolled", roster(_named), "b only named"),
    ("roster.small_mtu", roster(_mtu), "rail 1 (a enp1s0f0np0 - b enp1s0f0np0): expected an MTU of 9000, found 1500"),
    (
        "roster.no_floor",
        roster(lambda v: v["fabrics"]["rails"].pop("floor_gbps")),
        "fabrics.rails.floor_gbps: expected",
    ),
    (
        "roster.cluster_named",
        roster(_named_in_a_cluster),
        "clusters.two.sparks: expected enrolled sparks, found b only named",
    ),
    ("roster.memory_policy", roster(lambda v: v.update(memory={"ceiling": 0.98})), "expected at most 0.95, found 0.98"),
    ("roster.memory_policy", roster(lambda v: v.update(memory={"reserve_bytes": 1})), "expected at least 4294967296"),
    ("roster.memory_undeclared", roster(models=PLAIN["models"]), "expected memory for each resident, found none"),
    ("roster.keep_alive", roster(**_environment(OLLAMA_KEEP_ALIVE="")), "found none, which is 5m"),
    ("roster.keep_alive", roster(**_environment(OLLAMA_KEEP_ALIVE="24h")), "found 24h"),
    (
        "roster.keep_alive",
        roster(residents=[{"model": PIN.name, "context": 8192, "keep_alive": "24h"}]),
        "INFO roster.keep_alive deployments.chat.ollama.residents qwen3:0.6b: expected kept forever, found kept",
    ),
    (
        "roster.context",
        roster(**_environment(OLLAMA_CONTEXT_LENGTH="4096")),
        "expected 8192, the context of qwen3:0.6b",
    ),
    ("roster.listen_open", roster(listen="0.0.0.0:11434"), "found 0.0.0.0:11434: every one of the host"),
    ("roster.unused_policy", roster(_policies), "kernels.new: expected an enrolled spark with"),
    (
        "roster.mixed_kernels",
        roster(_mixed),
        "clusters.two kernel policies: expected one for all of its sparks",
    ),
    ("roster.no_fallback", roster(_mixed), "kernels.new.fallback: expected a release to return to, found none"),
    ("roster.unresolved", reached(unresolved="Name or service not known"), "a a.lab: expected a name that means an"),
    ("roster.unpinned", reached(pinned=False), "a a.lab: expected a host key in site.known_hosts, found none"),
)


@pytest.mark.parametrize(("id", "asked", "words"), SPEAKS, ids=[f"{each[0]}-{at}" for at, each in enumerate(SPEAKS)])
def test_it_speaks(id: str, asked: Site, words: str) -> None:
    found = examine_site(asked)
    assert any(each.id == id and words in str(each) for each in found), [str(each) for each in found]


def test_every_check_of_a_site_is_tried() -> None:
    assert {each.id for each in SITE_CHECKS} == {id for id, _, _ in SPEAKS}


def test_of_a_site_in_order_nothing_is_said() -> None:
    assert examine_site(reached()) == ()


def test_a_fabric_of_others_alone_is_one_finding() -> None:
    found = site([*NAMES[2:4]], other={"shape": "pair", "cables": pairs(NAMES[2:4]), "pool": "10.7.0.0/16"})
    names = {name: spark.replaced(enrolled=False) for name, spark in found.sparks.items()}
    said = examine_site(Site(found.replaced(sparks=names)))
    assert [each.id for each in said] == ["roster.unused_fabric"]


def receipt(number: int, *said: Event) -> Receipt:
    return read_receipt(receipt_name(number, AT, "srv5"), written(lines_of(number, list(said))))


BEGUN = OperationBegun(host="srv5", operation="ollama settings")
CUT, GOOD_END, BAD_END = receipt(1, BEGUN), Closed(outcome=Outcome.CONVERGED), Closed(outcome=Outcome.FAILED)


@pytest.mark.parametrize(
    ("after", "is_told"), [((), True), ((receipt(2, BAD_END),), True), ((receipt(2, GOOD_END),), False)]
)
def test_a_receipt_that_was_not_closed_is_told_until_a_later_run_ends_well(
    after: tuple[Receipt, ...], is_told: bool
) -> None:
    found = examine_kept(Kept((CUT, *after), ()))
    assert [each.id for each in found] == ["receipts.unclosed"] * is_told
    for each in found:
        assert f"receipt {CUT.name}: expected an outcome, found none: srv5 ollama settings: begun" in str(each)
        assert each.fix == f"sparks receipts show {CUT.name}; then sparks converge srv5"


def test_receipts_that_are_not_as_they_were_written_are_told_by_place() -> None:
    fault = Fault(kind=Kind.EDITED, receipt=CUT.name, line=3, expected="a line", found="another")
    (found,) = examine_kept(Kept((), (fault,)))
    assert str(found).startswith(f"ERROR receipts.faulty receipt {CUT.name}:3: expected a line, found another")


def test_every_check_of_what_is_kept_is_tried() -> None:
    assert [each.id for each in RECEIPTS] == ["receipts.unclosed", "receipts.faulty"]


def measured(gbps: float | Unobserved, floor: float | None = 90.0) -> Verdict:
    ends = Roster.read(values(), "test").fabrics["rails"].segments[0].ends
    direction = Direction(rail=1, source=ends[0], target=ends[1], floor_gbps=floor)
    return Verdict(direction=direction, gbps=gbps, judgement=judge(gbps, floor))


@pytest.mark.parametrize(
    ("gbps", "level", "words"),
    [
        (13.1, "ERROR", "expected at least 90 Gb/s, found 13.10 Gb/s, the state of a port that came back"),
        (60.0, "WARN", "expected at least 90 Gb/s, found 60.00 Gb/s"),
        (Unobserved(reason="b did not answer"), "INFO", "expected at least 90 Gb/s, found none: b did not answer"),
    ],
)
def test_a_rail_that_was_measured_too_slow_is_told(gbps: float | Unobserved, level: str, words: str) -> None:
    (found,) = examine_measured((measured(gbps), measured(98.0)))
    assert (str(found.level), found.id, found.host) == (level, "fabric.bandwidth", "a")
    assert words in str(found)


@pytest.mark.parametrize(
    ("place", "scanned"), [("10.0.0.1", "10.0.0.1"), ("[10.0.0.1]:22022", "-p 22022 10.0.0.1"), ("fe80::1", "fe80::1")]
)
def test_the_key_is_asked_for_where_the_inventory_says(place: str, scanned: str) -> None:
    reached = (Reached("a", place, pinned=False, known_hosts="known"),)
    fixes = [each.fix for each in examine_site(roster()._replace(reached=reached)) if each.id == "roster.unpinned"]
    assert fixes == [f"ssh-keyscan {scanned} >> known, compared with its console"]
