"""`sparks adopt`: what it prints can be pasted, and what it cannot say is told with status 3."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.roster import Roster
from lab import adopt as command
from tests.fleet import observed
from tests.fleet.adoption.test_node_map import ring
from tests.fleet.adoption.test_rows import CX7, F1, by_hand, cx7, host
from tests.lab.test_site import Site

TWO = {"sparks": {"a": {"enrolled": True}, "b": {"enrolled": True}}}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, TWO)


def run(site: Site, *arguments: str) -> Result:
    return CliRunner().invoke(command.adopt, [*arguments, "-i", str(site.inventory)], prog_name="sparks adopt")


def sees(monkeypatch: pytest.MonkeyPatch, *seen: Observation) -> None:
    monkeypatch.setattr(command, "collect", lambda inventory, looks: {each.host: each for each in seen})


def pasted(text: str) -> Roster:
    roster: dict[str, Any] = json.loads(json.dumps(TWO))
    exec(text, {"roster": roster})
    return Roster.read(roster, "test")


def test_rows_can_be_pasted_at_the_end_of_the_roster(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    sees(monkeypatch, host("a", cx7(enp1s0f1np1="10.1.1.1/24")), by_hand(host("b"), F1, "10.1.1.2/24"))
    done = run(site, "a")
    assert done.exit_code == 0, done.output
    roster = pasted(done.stdout)
    assert [each.file for each in roster.sparks["a"].adopted] == [CX7]
    assert roster.desired_for("b").end_on(F1)


def test_json_has_the_same_rows(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    sees(monkeypatch, host("a", cx7(enp1s0f1np1="10.1.1.1/24")), by_hand(host("b"), F1, "10.1.1.2/24"))
    values = json.loads(run(site, "a", "--json").stdout)
    declared = pasted(run(site, "a").stdout)
    assert values["sparks"]["a"]["adopted"] == [each.to_json() for each in declared.sparks["a"].adopted]
    assert list(values["fabrics"]) == list(declared.fabrics)


def test_what_no_row_can_say_is_told_and_the_rest_printed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = by_hand(host("a", cx7(enp1s0f1np1="10.1.1.1/24")), "enp1s0f0np0", "10.5.5.5/24")
    sees(monkeypatch, seen, by_hand(host("b"), F1, "10.1.1.2/24"))
    done = run(site, "a")
    assert done.exit_code == 3
    assert "what no row can say:" in done.stderr
    assert "found none for 10.5.5.5/24, lost at the next boot" in done.stderr
    assert pasted(done.stdout).sparks["a"].adopted


def test_a_host_that_was_not_observed_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = dict.fromkeys(("netplan", "links", "connections"), Unobserved(reason="no answer"))
    sees(monkeypatch, Observation(host="a", **silent), observed.blank("b"))
    done = run(site, "a")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "a netplan: expected an observation, found no answer [unobserved]\n"


def test_a_name_that_is_not_enrolled_is_one_line(site: Site) -> None:
    done = run(site, "zed")
    assert done.exit_code == 1
    assert done.stderr == f"zed: expected an enrolled spark of {site.inventory}, one of a, b, found none\n"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_node_map_becomes_a_roster(form: str, site: Site, tmp_path: Path) -> None:
    import yaml

    path = tmp_path / f"nodes.{form}"
    path.write_text(json.dumps(ring()) if form == "json" else yaml.safe_dump(ring()))
    done = run(site, "fabric", "--from", str(path))
    assert done.exit_code == 0, done.output
    names: dict[str, Any] = {}
    exec(done.stdout, names)
    assert len(Roster.read(names["roster"], "test").segments) == 8
    assert json.loads(run(site, "fabric", "--from", str(path), "--json").stdout) == names["roster"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"nodes": [', ":1:12: expected JSON or YAML, found a syntax error"),
        ("nodes:\n  - a: b\n c: d\n", ":3:2: expected JSON or YAML, found a syntax error"),
        ("[]", ": the map: expected an object with nodes, found []"),
        ('{"nodes": [{"name": "x"}]}', ": nodes[0].name: expected a host name that ends in the node's number"),
        ("nodes: 2024-99-99", ": expected a node map in JSON or YAML, found ValueError: month must be in 1..12"),
        ("nodes: !!timestamp x", ": expected a node map in JSON or YAML, found AttributeError"),
        ("[" * 3000, ": expected a node map in JSON or YAML, found RecursionError"),
        ('{"nodes": ' + "9" * 5000 + "}", ": expected a node map in JSON or YAML, found ValueError: Exceeds the limit"),
        (None, ": expected a node map in JSON or YAML, found No such file or directory"),
    ],
)
def test_a_bad_map_is_named(text: str | None, line: str, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    if text is not None:
        path.write_text(text)
    done = run(site, "fabric", "--from", str(path))
    assert done.exit_code == 1
    assert f"{path}{line}" in done.stderr
    assert not done.stdout


def test_options_that_do_not_go_together_are_named(site: Site, tmp_path: Path) -> None:
    assert "--from: expected it with `sparks adopt fabric`" in run(site, "a", "--from", "x").stderr
    assert "--pool: expected it with --from" in run(site, "a", "--pool", "10.0.0.0/8").stderr
