"""The netplan cases. What `netplan get` says of them, and how (037), is in `test_real_netplan.py`."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.netplan import effective
from tests.fleet.netplan.host import CASES, copy_case, look, output, write

EXPECTED = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))


def holds(expected: Any, found: Any) -> bool:
    """Is everything expected there? A list is compared whole, a mapping only where it is expected."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(key in found and holds(expected[key], found[key]) for key in expected)
    if isinstance(expected, list):
        return len(expected) == len(found) and all(holds(*pair) for pair in zip(expected, found, strict=True))
    return bool(expected == found)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda one: f"{one['case']}-{one.get('inputs', 'all')}")
def test_a_case_means_what_it_says(expected: dict[str, Any], tmp_path: Path) -> None:
    files = look(copy_case(expected["case"], tmp_path, expected.get("inputs", "*.y*ml*")))
    whole = effective(files)
    refused = expected.get("refused", {})
    assert {file.path: file.error.reason for file in files if file.error} == refused
    assert [problem.reason for _, problem in whole.problems] == list(refused.values())
    assert whole.is_accepted == (not refused)
    if "devices" in expected:
        assert {one.device.id for one in whole.devices} == set(expected["devices"])
    for id, device in expected.get("devices", {}).items():
        found = whole.device(id)
        assert found
        assert holds(device, found.device.to_json()), found.device.to_json()
    by_path = {file.path: file.to_json() for file in files}
    assert holds(expected.get("files", {}), by_path)
    assert "files" not in expected or set(expected["files"]) == set(by_path)
    assert holds(expected.get("conflicts", []), [conflict.to_json() for conflict in whole.conflicts])
    sources = {address: list(one.sources_of(address)) for one in whole.devices for address in one.device.addresses}
    assert holds(expected.get("sources", {}), sources)
    assert whole.renderer == expected.get("renderer", whole.renderer)
    assert holds(expected.get("renderers", {}), {one.device.id: one.renderer for one in whole.devices})


REJECTED = [
    text.strip().partition(": ")[::2]
    for line in next(CASES.glob("028-*")).joinpath("input.rejected.yaml").read_text().splitlines()[1:]
    for text in line.strip("# ").split("|")
]


@pytest.mark.parametrize(("key", "value"), REJECTED)
def test_netplan_rejects_what_yaml_would_take(key: str, value: str, tmp_path: Path) -> None:
    (file,) = look(write(tmp_path, {"a.yaml": f"network: {{ethernets: {{e0: {{{key}: {value}}}}}}}\n"}))
    assert file.error
    assert file.error.reason.startswith(f"network.ethernets.e0.{key}: invalid ")
    assert file.devices[0].errors
    assert file.devices[0].mtu is None
    assert not file.devices[0].dhcp4


@pytest.mark.parametrize(("mode", "too_open"), [(0o600, False), (0o644, True), (0o660, True), (0o601, True)])
def test_a_file_that_others_can_reach_is_too_open(mode: int, too_open: bool, tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "network: {version: 2}\n"})
    (tmp_path / "etc/netplan/a.yaml").chmod(mode)
    (file,) = look(tmp_path)
    assert (file.mode, file.too_open) == (mode, too_open)
    assert file.to_json()["mode"] == f"{mode:04o}"


def test_no_secret_of_the_inventory_leaves_the_host(tmp_path: Path) -> None:
    copy_case("039", tmp_path)
    said, files = output(tmp_path), look(tmp_path)
    for text in (said, repr(files), str([file.to_json() for file in files]), repr(effective(files))):
        assert "EXAMPLE-SECRET" not in text
        assert "EXAMPLE-SSID" not in text
        assert "EXAMPLE-USER" not in text
        assert "1234" not in text.replace("01234", "")
    assert {device.id for file in files for device in file.devices} >= {"wlP9s9", "enP7s7", "wg0", "cdc-wdm0"}


@pytest.mark.parametrize("case", ["004", "009", "025", "033"])
def test_no_line_of_a_case_with_secrets_is_quoted(case: str, tmp_path: Path) -> None:
    said = output(copy_case(case, tmp_path, "*.y*ml*"))
    for secret in ("EXAMPLE", "AAAAAAAA", "check_indentation", "\\t"):
        assert secret not in said


def test_the_word_null_is_a_text_and_never_an_absence(tmp_path: Path) -> None:
    """037: `netplan get` prints null for what is missing; here what is missing is None."""
    (file,) = look(write(tmp_path, {"a.yaml": 'network: {ethernets: {e0: {set-name: "null", match: {name: x}}}}\n'}))
    assert file.devices[0].written.set_name == "null"
    assert file.devices[0].binds.interface == "null"
    assert file.devices[0].written.mtu is None


def test_no_netplan_at_all_is_an_empty_list(tmp_path: Path) -> None:
    assert look(tmp_path) == ()
