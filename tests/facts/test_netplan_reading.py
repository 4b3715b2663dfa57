"""What the reader does with files that are not as they should be, and with hosts that are not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts.look import SENTINEL
from facts.netplan import NetplanFiles
from tests.fleet.netplan.host import look, write

GOOD = "network: {version: 2, ethernets: {e0: {dhcp4: true}}}\n"


def reasons(root: Path) -> dict[str, str | None]:
    return {file.name: file.error.reason if file.error else None for file in look(root)}


def test_one_bad_file_leaves_the_others_readable(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": GOOD, "b.yaml": b"network: \xff\n", "c.yaml": b"x" * 300_000, "d.yaml": "a: [\n"})
    folder = tmp_path / "etc/netplan"
    (folder / "e.yaml").symlink_to("nowhere")
    (folder / "f.yaml").mkdir()
    os.mkfifo(folder / "g.yaml")
    (folder / "h.yaml").symlink_to("/dev/null")
    (folder / "i.yaml").symlink_to("i.yaml")
    assert reasons(tmp_path) == {
        "a.yaml": None,
        "b.yaml": "expected UTF-8, found other bytes",
        "c.yaml": "expected at most 256 KiB, found more",
        "d.yaml": "expected YAML, found a syntax error",
        "e.yaml": "expected a file, found a symbolic link to nothing",
        "f.yaml": "expected a file, found a directory",
        "g.yaml": "expected a regular file, found a device, socket or pipe",
        "h.yaml": None,
        "i.yaml": "expected to read it, found ELOOP",
    }


def test_a_name_that_is_no_text_is_still_listed(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": GOOD})
    os.rename(tmp_path / "etc/netplan/a.yaml", os.fsencode(tmp_path / "etc/netplan") + b"/\xff.yaml")
    assert [file.name for file in look(tmp_path)] == ["\ufffd.yaml"]


def test_a_merged_usr_is_listed_once(tmp_path: Path) -> None:
    write(tmp_path, {"usr/lib/netplan/00-network-manager-all.yaml": "network: {renderer: NetworkManager}\n"})
    (tmp_path / "lib").symlink_to("usr/lib")
    assert [(file.path, file.renderer) for file in look(tmp_path)] == [
        ("/lib/netplan/00-network-manager-all.yaml", "NetworkManager")
    ]


def test_a_host_without_pyyaml_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": GOOD})
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin/python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    command = ["sh", "-c", NetplanFiles().command(str(tmp_path))]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (ran.returncode, ran.stderr) == (0, "")
    with pytest.raises(FactProcessError, match="expected PyYAML on the host"):
        NetplanFiles().process(ran.stdout.splitlines())


TORN = [
    "", "[]", "null", "{}", '{"files": [{}]}', '{"files": 1}', "{" * 9000,
    '{"files": [{"path": "a", "directory": "x"}]}',
    '{"files": [{"path": "a", "directory": "etc", "tree": ["z"]}]}',
]  # fmt: skip


@pytest.mark.parametrize("said", TORN)
def test_an_answer_that_is_not_whole_is_no_value(said: str) -> None:
    with pytest.raises(FactProcessError):
        NetplanFiles().process([said, SENTINEL])
    with pytest.raises(FactProcessError):
        NetplanFiles().process([said])


def test_the_command_is_small() -> None:
    assert len(NetplanFiles().command()) < 24_000
