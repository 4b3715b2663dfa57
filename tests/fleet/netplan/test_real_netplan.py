"""Our reading against the netplan of this machine, whichever it is: all cases, and directories made up.

It needs the package netplan.io, which `make test` installs; there is no skipping.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings

from facts.netplan import NetplanEffective
from fleet.netplan import Complaint, Disagreement, ErrorKind
from fleet.netplan import NetplanEffective as Effective
from tests.fleet.netplan.host import CASES, copy_case, output, write
from tests.fleet.netplan.real import Netplan
from tests.fleet.netplan.trees import trees

NUMBERS = sorted(folder.name[:3] for folder in CASES.glob("*-netplan-*"))
INPUTS = [
    pytest.param(number, path.name, id=f"{number}-{path.name}")
    for number in NUMBERS
    for path in sorted(next(CASES.glob(f"{number}-*")).rglob("input.*.yaml"))
]
NARROWER = Disagreement(id=None, key="accepted", ours=("accepted",), netplan=("refused",))
WIDER = Disagreement(id=None, key="accepted", ours=("refused",), netplan=("accepted",))
BEFORE_1_0 = {"007", "009", "038"}
"""Cases with what netplan takes since 1.0: dummies, WireGuard without a peer, a VLAN's parent that nobody defines."""


UNLIKE_NETPLAN = {
    "163": Disagreement(
        id="enP7s7", key="addresses", ours=("10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"),
        netplan=("10.0.0.1/24", "10.0.0.2/24"),
    ),
}  # fmt: skip
"""Cases that we knowingly read otherwise: what the second opinion is for."""


@pytest.fixture(scope="module")
def netplan() -> Iterator[Netplan]:
    with Netplan() as running:
        yield running


def is_before_1_0(found: Effective) -> bool:
    """0.106 takes `networkmanager:` where networkd renders, and not what BEFORE_1_0 is about."""
    assert found.version, "expected dpkg to know the version of netplan.io, found none"
    return found.version.startswith("0.")


def agrees(found: Effective, *known: Disagreement) -> bool:
    return set(found.disagreements) <= (set(known) if is_before_1_0(found) else set())


@pytest.mark.parametrize("number", NUMBERS)
def test_a_case_means_to_netplan_what_it_means_to_us(number: str, netplan: Netplan, tmp_path: Path) -> None:
    found = netplan.effective(copy_case(number, tmp_path, "*.y*ml*"))
    if number in UNLIKE_NETPLAN:
        assert found.disagreements == (UNLIKE_NETPLAN[number],)
        return
    assert agrees(found, *[NARROWER] if number in BEFORE_1_0 else []), found.disagreements


@pytest.mark.parametrize(("number", "name"), INPUTS)
def test_so_does_each_of_its_files(number: str, name: str, netplan: Netplan, tmp_path: Path) -> None:
    found = netplan.effective(copy_case(number, tmp_path, name))
    assert agrees(found, *[NARROWER] if number in BEFORE_1_0 else []), found.disagreements


@settings(max_examples=80, deadline=None)
@given(files=trees())
def test_any_directory_means_to_netplan_what_it_means_to_us(files: dict[str, str], netplan: Netplan) -> None:
    with TemporaryDirectory() as folder:
        found = netplan.effective(write(Path(folder), files))
    assume(not (is_before_1_0(found) and WIDER in found.disagreements))
    assert found.disagreements == ()
    assert (found.complaint is None) == found.is_accepted


SECRET = "EXAMPLE-SECRET"
SECRETS = f"""
network:
  renderer: NetworkManager
  wifis: {{w0: {{access-points: {{{SECRET}-ssid: {{password: {SECRET}}}}}, networkmanager: {{name: {SECRET}}}}}}}
  ethernets: {{e0: {{auth: {{key-management: 802.1x, method: peap, identity: {SECRET}, password: {SECRET}}}}}}}
  modems: {{m0: {{apn: {SECRET}, username: {SECRET}}}}}
"""


QUOTED = f"  wifis: {{w1: {{mtu: many, access-points: {{a: {{password: {SECRET}}}}}}}}}\n"


@pytest.mark.parametrize("more", ["", QUOTED, f"  {SECRET}: {{}}\n"])
def test_no_secret_leaves_the_host_whether_netplan_prints_it_or_complains(
    more: str, netplan: Netplan, tmp_path: Path
) -> None:
    write(tmp_path, {"a.yaml": SECRETS + more})
    printed = netplan.get(str(tmp_path))
    assert SECRET in printed.stdout.decode() + printed.stderr.decode()
    assert SECRET not in netplan.said(tmp_path)
    found = netplan.effective(tmp_path)
    assert SECRET not in repr(found)
    assert found.disagreements == ()
    assert (found.complaint is None) == (more == "")


def test_what_netplan_prints_as_null_is_not_there(netplan: Netplan, tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "network: {ethernets: {e0: {mtu: 0}, e1: {}}}\n"})
    assert b"mtu: null" in netplan.get(str(tmp_path)).stdout
    assert netplan.effective(tmp_path).disagreements == ()


@pytest.mark.parametrize("text", ["", "{}\n", "network: {}\n", "network: {version: 2, ethernets: {}}\n"])
def test_where_netplan_prints_nothing_there_is_nothing(text: str, netplan: Netplan, tmp_path: Path) -> None:
    found = netplan.effective(write(tmp_path, {"a.yaml": text}))
    assert (found.devices, found.disagreements, found.complaint) == ((), (), None)


def test_a_complaint_says_where(netplan: Netplan, tmp_path: Path) -> None:
    found = netplan.effective(write(tmp_path, {"a.yaml": "network: {}\n", "b c.yaml": "network: {\n  version: 3}\n"}))
    assert found.complaint == Complaint(kind=ErrorKind.REJECTED, path="/etc/netplan/b c.yaml", line=2, column=12)


def test_the_fact_itself_says_the_same(netplan: Netplan, tmp_path: Path) -> None:
    root = copy_case("017", tmp_path)
    found = NetplanEffective().process(output(root, NetplanEffective).splitlines())
    assert found == netplan.effective(root)
    assert Effective.from_canonical(found.canonical) == found
