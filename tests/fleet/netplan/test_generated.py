"""The documents of any site are what the real `netplan generate` takes, and it makes of them what we meant."""

import configparser
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings

from fleet.desired import DesiredEnd
from fleet.rail_document import document_for
from fleet.roster import Roster
from tests.fleet.strategies import cabled_rosters


@settings(max_examples=8)
@given(cabled_rosters())
def test_netplan_generates_the_profiles_that_were_meant(values: dict[str, Any]) -> None:
    netplan = shutil.which("netplan")
    assert netplan, "netplan.io is in virtual/host-packages.txt: run `make host-packages`"
    roster = Roster.read(values, "x")
    for name in roster.enrolled:
        with tempfile.TemporaryDirectory() as root:
            ends = roster.desired_for(name).rail_ends
            _write(Path(root), ends)
            done = subprocess.run(
                [netplan, "generate", "--root-dir", root], capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stdout + done.stderr) == (0, "")
            for end in ends:
                _check(Path(root), end)


def _write(root: Path, ends: tuple[DesiredEnd, ...]) -> None:
    for end in ends:
        document = document_for(end)
        path = root / document.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(document.mode)
        path.write_text(document.text)


def _check(root: Path, end: DesiredEnd) -> None:
    uuid = document_for(end).uuid
    profile = configparser.ConfigParser()
    profile.read(root / f"run/NetworkManager/system-connections/netplan-NM-{uuid}.nmconnection")
    assert profile["connection"]["uuid"] == uuid
    assert profile["connection"]["interface-name"] == end.interface
    assert profile["ipv4"]["address1"] == str(end.address)
    assert profile["ethernet"]["mtu"] == str(end.mtu)
    routes = [value for key, value in profile["ipv4"].items() if key.startswith("route") and "," in value]
    assert routes == [f"{route.to},{route.via}" for route in end.routes]
