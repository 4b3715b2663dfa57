"""The look at NetworkManager's files lists what NetworkManager loads, and no other (cases/044)."""

import os
import subprocess
from pathlib import Path

import pytest

from facts.look import SENTINEL
from facts.network import Connections

PROFILE = "[connection]\nid=rail\ntype=ethernet\ninterface-name=enp1s0f1np1\n[ipv4]\nmethod=manual\n"
PLAYED = {
    "nmcli": "#!/bin/sh\nexit 8\n",
    "sudo": '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n',
}
FOLDER = "/etc/NetworkManager"


def listed(folder: Path) -> list[str]:
    """The keyfiles of a host whose folder is this one, with NetworkManager stopped; who runs this is its root."""
    for name, text in PLAYED.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    command = (
        Connections().command().replace(f"{FOLDER}/", f"{folder}{FOLDER}/").replace("-uid 0", f"-uid {os.getuid()}")
    )
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith(SENTINEL)
    heads = [line for line in done.stdout.split("\n") if line.startswith("--- keyfile ")]
    return sorted(line.rpartition("/")[2] for line in heads if str(folder) in line)


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER.lstrip("/") / "system-connections"
    folder.mkdir(parents=True)
    return folder


def test_a_file_that_others_may_open_is_none_of_its_profiles(profiles: Path, tmp_path: Path) -> None:
    for name, mode in {"whole": 0o600, "read": 0o400, "group": 0o640, "loose": 0o644, "run": 0o700, "x": 0o601}.items():
        (profiles / f"{name}.nmconnection").write_text(PROFILE)
        (profiles / f"{name}.nmconnection").chmod(mode)
    (profiles / "link.nmconnection").symlink_to("loose.nmconnection")
    (profiles / "good.nmconnection").symlink_to("whole.nmconnection")
    assert listed(tmp_path) == [f"{each}.nmconnection" for each in ("good", "read", "run", "whole")]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives a file away")
def test_a_file_that_is_not_roots_is_none_of_its_profiles(profiles: Path, tmp_path: Path) -> None:
    for name in ("mine", "given"):
        (profiles / f"{name}.nmconnection").write_text(PROFILE)
        (profiles / f"{name}.nmconnection").chmod(0o600)
    os.chown(profiles / "given.nmconnection", 65534, 0)
    assert listed(tmp_path) == ["mine.nmconnection"]
