"""Packages that are held, on a played host."""

from pathlib import Path

import pytest

from fleet.host.decide import HELD
from fleet.host.policy import HostPolicy
from tests.operations.played_host import PlayedHost

POLICY = HostPolicy(held=("nvidia-driver-580-open", "docker.io"))
DRIVER, DOCKER = "nvidia-driver-580-open|580.95.05-0ubuntu1|arm64|\n", "docker.io|28.2.2|arm64|\n"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.write("/packages", f"hold ok installed|{DOCKER}install ok installed|{DRIVER}")
    marked = f"hold ok installed|{DOCKER}hold ok installed|{DRIVER}"
    played.write("/marked", marked)
    played.program("apt-mark", f'echo "$*" >> {tmp_path}/told; cp {tmp_path}/marked {tmp_path}/packages')
    return played


def test_only_what_is_not_held_is_marked(host: PlayedHost) -> None:
    assert host.made_so(POLICY, HELD) == ["hold_packages"]
    assert host.told == ["hold nvidia-driver-580-open"]
    assert host.made_so(HostPolicy(), HELD) == []


def test_a_package_that_is_not_there_is_refused(host: PlayedHost) -> None:
    host.write("/packages", f"install ok installed|{DRIVER}deinstall ok config-files|{DOCKER}")
    (said,) = host.refusals(POLICY, HELD)
    assert (
        said
        == "a package docker.io: expected one that is installed, to be held as it is, found absent [package_missing]"
    )
    assert host.told == []
