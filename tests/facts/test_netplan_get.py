"""What the second opinion says where netplan fails, lies with its status, or is not there."""

import json
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts.look import SENTINEL, remote_python, source_of
from facts.netplan import NetplanEffective
from facts.remote import netplan_get
from fleet.netplan import Complaint, Disagreement, ErrorKind
from fleet.netplan import NetplanEffective as Effective
from fleet.netplan.harmless import ALLOWED
from tests.fleet.netplan.host import write

READER: Any = netplan_get
GOOD = "network: {version: 2, ethernets: {e0: {mtu: 9000}}}\n"
PRINTED = "network:\n  version: 2\n  ethernets:\n    e0:\n      mtu: %s\n"


def look(root: Path, out: str = "", err: str = "", code: int = 0) -> Effective:
    """The fact, where `netplan get` ends so."""
    done = subprocess.CompletedProcess([], code, out.encode(), err.encode())
    return process(root, mock.Mock(return_value=done))


def process(root: Path, ask: mock.Mock) -> Effective:
    asked = {"root": str(root), "allowed": ALLOWED, "tree": source_of("netplan_tree")}
    with mock.patch.multiple(READER, ask=ask, version=lambda: "1.1.2-7"):
        return NetplanEffective().process([json.dumps(READER.look(asked)), SENTINEL])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, {"a.yaml": GOOD})


def test_a_value_that_netplan_reads_otherwise_is_a_disagreement(root: Path) -> None:
    assert look(root, PRINTED % 9000).disagreements == ()
    (found,) = look(root, PRINTED % 1500).disagreements
    assert found == Disagreement(id="e0", key="mtu", ours=("9000",), netplan=("1500",))


@pytest.mark.parametrize(
    ("out", "key", "ours", "netplan"),
    [
        ("", "section", ("ethernets",), ()),
        ("network: {bonds: {e0: {mtu: 9000}}}", "section", ("ethernets",), ("bonds",)),
        ("network: {renderer: NetworkManager, ethernets: {e0: {renderer: networkd, mtu: 9000}}}", "renderer",
         ("networkd",), ("NetworkManager",)),
        ("network: {ethernets: {e0: {mtu: 9000, renderer: NetworkManager}}}", "renderer", ("networkd",),
         ("NetworkManager",)),
        ("network: {ethernets: {e0: {mtu: 9000, accept-ra: false}}}", "accept-ra", (), ("false",)),
        ("network: {ethernets: {e0: {mtu: 9000, addresses: [10.0.0.1/24]}}}", "addresses", (), ("10.0.0.1/24",)),
    ],
)  # fmt: skip
def test_whatever_differs_is_named(
    out: str, key: str, ours: tuple[str, ...], netplan: tuple[str, ...], root: Path
) -> None:
    (found,) = look(root, out).disagreements
    assert (found.key, found.ours, found.netplan) == (key, ours, netplan)


def test_a_definition_that_only_netplan_has_is_named(root: Path) -> None:
    (found,) = look(root, PRINTED % 9000 + "    e1: {}\n").disagreements
    assert found == Disagreement(id="e1", key="section", ours=(), netplan=("ethernets",))


TRACEBACK = "Traceback (most recent call last):\n  File …\nnetplan.libnetplan.LibNetplanException: %s"
SENTENCE = "Error in network definition: e0: some SECRET of a later netplan"


@pytest.mark.parametrize(("err", "code"), [(TRACEBACK, 1), ("Command failed: %s", 0)])
@pytest.mark.parametrize(("place", "line", "column"), [("a.yaml:1:7", 1, 7), ("a.yaml", None, None)])
def test_that_netplan_takes_no_file_is_told_whatever_its_status(
    err: str, code: int, place: str, line: int | None, column: int | None, root: Path
) -> None:
    found = look(root, "", err % f"{root}/etc/netplan/{place}: {SENTENCE}", code)
    assert found.complaint == Complaint(kind=ErrorKind.REJECTED, path="/etc/netplan/a.yaml", line=line, column=column)
    assert found.disagreements == (Disagreement(id=None, key="accepted", ours=("accepted",), netplan=("refused",)),)
    assert "SECRET" not in repr(found)


def test_so_is_that_netplan_takes_what_we_think_it_refuses(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": GOOD.replace("9000", "many")})
    (found,) = look(tmp_path, PRINTED % 9000).disagreements
    assert (found.key, found.ours, found.netplan) == ("accepted", ("refused",), ("accepted",))


WARNING = (
    "** (process:1): WARNING **: 00:00:00.0: Permissions for /etc/netplan/a.yaml are too open. Netplan configuration…"
)


def test_a_warning_is_no_complaint(root: Path) -> None:
    assert look(root, PRINTED % 9000, WARNING).complaint is None


@pytest.mark.parametrize(
    ("out", "err", "code", "reason"),
    [
        ("", "ModuleNotFoundError: SECRET", 1, "expected netplan get to end well, found status 1"),
        ("", "", -11, "expected netplan get to end well, found status -11"),
        ("network: [SECRET\n", "", 0, "expected YAML from netplan get, found something else"),
    ],
)
def test_a_netplan_that_fails_is_no_value(out: str, err: str, code: int, reason: str, root: Path) -> None:
    with pytest.raises(FactProcessError, match=reason) as error:
        look(root, out, err, code)
    assert "SECRET" not in str(error.value)


def test_a_netplan_that_hangs_is_no_value(root: Path) -> None:
    hangs = mock.Mock(side_effect=subprocess.TimeoutExpired("netplan", 120))
    with pytest.raises(FactProcessError, match="found no answer in 120 s"):
        process(root, hangs)


def test_files_that_change_meanwhile_are_no_value(root: Path) -> None:
    def ask(where: str) -> "subprocess.CompletedProcess[bytes]":
        write(Path(where), {"b.yaml": GOOD})
        return subprocess.CompletedProcess([], 0, (PRINTED % 9000).encode(), b"")

    with pytest.raises(FactProcessError, match="found them changed"):
        process(root, mock.Mock(side_effect=ask))


def test_a_host_without_netplan_says_so(root: Path) -> None:
    bare = root / "bin"
    bare.mkdir()
    (bare / "python3").symlink_to("/usr/bin/python3")
    command = remote_python("netplan_get", root=str(root), allowed=ALLOWED, tree=source_of("netplan_tree"))
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env={"PATH": str(bare)})
    assert (ran.returncode, ran.stderr) == (0, "")
    with pytest.raises(FactProcessError, match="expected netplan on the host"):
        NetplanEffective().process(ran.stdout.splitlines())
