"""Which file says what: by the cases, and as laws over directories that hypothesis makes up."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from facts.remote import netplan_tree
from fleet.netplan import EffectiveDevice, MergedNetplan, NetplanFile, Setting, effective
from fleet.netplan.files import parse
from fleet.netplan.harmless import ALLOWED
from tests.fleet.netplan.host import copy_case, look, write
from tests.fleet.netplan.trees import trees

READER: Any = netplan_tree
EXPECTED = yaml.safe_load(Path(__file__).with_name("provenance.yaml").read_text(encoding="utf-8"))


def full(path: str) -> str:
    return path if path.startswith("/") else f"/etc/netplan/{path}"


def device(whole: MergedNetplan, id: str) -> EffectiveDevice:
    found = whole.device(id)
    assert found
    return found


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda one: f"{one['case']}-{one.get('inputs', 'all')}")
def test_each_value_of_a_case_names_its_files(expected: dict[str, Any], tmp_path: Path) -> None:
    whole = effective(look(copy_case(expected["case"], tmp_path, expected.get("inputs", "*.y*ml*"))))
    for id, by_key in expected.get("settings", {}).items():
        for key, found in by_key.items():
            wanted = [Setting(key=key, **{**one, "sources": tuple(map(full, one["sources"]))}) for one in found]
            assert list(device(whole, id).written(key)) == wanted
    for id, (renderer, *paths) in expected.get("renderers", {}).items():
        one = device(whole, id)
        assert (one.renderer, one.renderer_sources) == (renderer, tuple(map(full, paths)))


NM = "network: {renderer: NetworkManager, ethernets: {e0: {%s}}}\n"


@pytest.mark.parametrize(
    ("first", "second", "key", "found"),
    [
        ("link-local: [ipv4]", "link-local: []", "link-local", [("[]", ["2.yaml"], None)]),
        ("match: {driver: [a, b]}", "match: {driver: c}", "match.driver", [("c", ["2.yaml"], None)]),
        ("optional: true", "optional: no", "optional", [("false", ["2.yaml"], None)]),
        ("dhcp4-overrides: {route-metric: 5, use-dns: n}", "dhcp4-overrides: {use-routes: false}",
         "dhcp4-overrides.use-dns", [("false", ["1.yaml"], None)]),
        ("mtu: 9000", "networkmanager: {passthrough: {ethernet.mtu: '1400'}}", "mtu",
         [("9000", ["1.yaml"], "ethernet.mtu")]),
        ("nameservers: {addresses: [1.1.1.1, 'fd00::1']}", "networkmanager: {passthrough: {ipv4.dns: 9.9.9.9}}",
         "nameservers.addresses", [("1.1.1.1", ["1.yaml"], "ipv4.dns"), ("fd00::1", ["1.yaml"], None)]),
        ("routes: [{to: 10.1.0.0/16, via: 10.0.0.1}, {to: 10.2.0.0/16, via: 10.0.0.1}]",
         "networkmanager: {passthrough: {ipv4.route2: '10.3.0.0/16,10.0.0.2'}}", "routes",
         [("{to: 10.1.0.0/16, via: 10.0.0.1}", ["1.yaml"], None),
          ("{to: 10.2.0.0/16, via: 10.0.0.1}", ["1.yaml"], "ipv4.route2")]),
        ("auth: {key-management: 802.1x, password: a}", "auth: {password: b}", "auth.password",
         [("<redacted>", ["2.yaml"], None)]),
    ],
)  # fmt: skip
def test_two_files_make_one_value(
    first: str, second: str, key: str, found: list[tuple[str, list[str], str | None]], tmp_path: Path
) -> None:
    whole = effective(look(write(tmp_path, {"1.yaml": NM % first, "2.yaml": NM % second})))
    wanted = [(value, tuple(map(full, sources)), winner) for value, sources, winner in found]
    assert [(one.value, one.sources, one.displaced_by) for one in device(whole, "e0").written(key)] == wanted


def test_only_networkmanager_lets_passthrough_win(tmp_path: Path) -> None:
    text = "network: {ethernets: {e0: {dhcp4: true, networkmanager: {passthrough: {ipv4.method: manual}}}}}\n"
    (setting,) = device(effective(look(write(tmp_path, {"a.yaml": text}))), "e0").written("dhcp4")
    assert setting.displaced_by is None


def test_two_spellings_are_one_key(tmp_path: Path) -> None:
    text = "network: {bonds: {b: {parameters: {%s}}}}\n"
    files = {"1.yaml": text % "packets-per-member: 5", "2.yaml": text % "packets-per-slave: 6"}
    (found,) = device(effective(look(write(tmp_path, files))), "b").settings
    assert (found.key, found.value) == ("parameters.packets-per-member", "6")
    assert [one.value for one in found.overrides] == ["5"]


def read(files: Mapping[str, str]) -> tuple[NetplanFile, ...]:
    """The reader's answer about some files, in this process; of one name only the last directory's."""
    last = {path.rpartition("/")[2]: path for path in sorted(files, key=lambda path: "ler".index(path[0]))}
    entries = [
        {
            "path": f"/{path}", "directory": path.partition("/")[0], "mode": 0o600,
            "tree": READER.tree_of(files[path].encode(), ALLOWED),
        }
        for path in last.values()
    ]  # fmt: skip
    return parse(json.dumps({"files": entries}))


def told(whole: MergedNetplan) -> set[tuple[str, Setting]]:
    return {(one.device.id, setting) for one in whole.devices for setting in one.settings}


def says(file: NetplanFile, id: str, setting: Setting) -> bool:
    """Does this file alone make the value? A `match` narrows the id, as a name, only after a file without it."""
    found = effective((file,)).device(id)
    values = {(one.key, one.value) for one in found.settings} if found else set()
    narrows = setting.key == "match.name" and any(key.partition(".")[0] == "match" for key, _ in values)
    return narrows or (setting.key, setting.value) in values


@settings(max_examples=60, deadline=None)
@given(trees())
def test_every_value_has_a_file_that_really_writes_it(files: dict[str, str]) -> None:
    by_path = {file.path: file for file in read(files)}
    for id, setting in told(effective(by_path.values())):
        assert setting.sources
        assert all(says(by_path[path], id, setting) for path in setting.sources), setting


@settings(max_examples=60, deadline=None)
@given(trees())
def test_a_value_rests_on_no_file_that_it_does_not_name(files: dict[str, str]) -> None:
    """Without any other file it is the same, so nothing that could change it goes unnamed."""
    all_files = read(files)
    whole = told(effective(all_files))
    for file in all_files:
        left = told(effective(one for one in all_files if one is not file))
        named = {(id, one) for id, one in whole if file.path in {*one.sources, *(o.path for o in one.overrides)}}
        same = {(id, one.key, one.value, one.sources, one.overrides) for id, one in left}
        for id, one in whole - named:
            if not one.key.startswith("match"):
                assert (id, one.key, one.value, one.sources, one.overrides) in same
        assert not named & left
