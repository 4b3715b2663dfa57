"""Files of others are removed whole, with a copy kept, or not at all; on a played host below a folder."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from fleet.revert import ReloadProfiles, RemoveFile
from operations import others
from tests import forked

ROOT = Path(__file__).resolve().parents[2]
PATH = "/etc/netplan/40-cx7.yaml"
TEXT = """\
network:
  version: 2
  ethernets:
    enp1s0f0np0: {addresses: [10.1.1.1/24]}
"""
FAKES = {
    "netplan": '#!/bin/sh\necho "netplan $*" >> {root}/said\n'
    'root=${{3:-{root}}}; [ ! -e "$root/refuse" ] && [ ! -e {root}/refuse ] || '
    '{{ echo "$root/etc/netplan/50-x.yaml:5:7: Error" >&2; exit 1; }}\n',
    "nmcli": '#!/bin/sh\necho "nmcli $*" >> {root}/said\n[ ! -e {root}/stopped ] || exit 8\n',
}


class Host:
    """A folder that is a host: its /etc, /run and /var, and what netplan and nmcli were asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / PATH.lstrip("/")
        self.file.parent.mkdir(parents=True)
        (root / "run").mkdir()
        (root / "bin").mkdir()
        (root / "said").touch()
        for name, text in FAKES.items():
            (root / "bin" / name).write_text(text.format(root=root))
            (root / "bin" / name).chmod(0o755)
        self.file.write_text(TEXT)
        self.environment = os.environ | {"PATH": f"{root / 'bin'}:{os.environ['PATH']}", "COLUMNS": "200"}

    def below(self, script: str) -> str:
        """The script with every place it writes to below the folder."""
        for place in ("/etc/netplan", "/var/lib/sparks", "/run/sparks-netplan"):
            script = script.replace(place, f"{self.root}{place}")
        return script.replace('"/$at/netplan', f'"{self.root}/$at/netplan')

    def run(self, step: RemoveFile | ReloadProfiles) -> subprocess.CompletedProcess[str]:
        script = self.below(f"set -eu\n{others._script(step)}")
        script = script.replace(f'"$root"{self.root}', '"$root"')
        return subprocess.run(["sh", "-c", script], env=self.environment, capture_output=True, text=True, timeout=60,
                              check=False)  # fmt: skip

    @property
    def kept(self) -> list[Path]:
        return sorted((self.root / "var/lib/sparks/reverted").glob("*"))

    @property
    def said(self) -> list[str]:
        return (self.root / "said").read_text().splitlines()


@pytest.fixture
def played(tmp_path: Path) -> Host:
    return Host(tmp_path)


def removal(text: str = TEXT, down: tuple[str, ...] = ()) -> RemoveFile:
    return RemoveFile(
        subject=f"a {PATH}", before="", after="", reason="", path=PATH, ports=("enp1s0f0np0",), down=down, addresses=(),
        content_digest="sha256:" + hashlib.sha256(text.encode()).hexdigest(),
    )  # fmt: skip


def test_the_file_goes_and_a_copy_stays_for_root_alone(played: Host) -> None:
    done = played.run(removal())
    assert done.returncode == 0, done.stderr
    assert not played.file.exists()
    (copy,) = played.kept
    assert copy.name.startswith("40-cx7.yaml.")
    assert copy.read_text() == TEXT
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert [line.split()[:3] for line in played.said][1:] == [
        ["netplan", "generate"],
        ["nmcli", "connection", "reload"],
    ]


def test_a_profile_that_is_still_up_is_taken_down(played: Host) -> None:
    assert played.run(removal(down=("u-1",))).returncode == 0
    assert "nmcli --wait 90 connection down uuid u-1" in played.said
    assert not [line for line in played.said if "delete" in line or "apply" in line]


def test_a_file_that_changed_since_it_was_looked_at_stays(played: Host) -> None:
    done = played.run(removal("another text"))
    assert done.returncode == 65
    assert "expected the file that was looked at, found it changed; nothing was removed" in done.stderr
    assert played.file.read_text() == TEXT
    assert not played.kept
    assert not played.said


def test_where_netplan_would_refuse_the_rest_nothing_is_removed(played: Host) -> None:
    (played.root / "refuse").touch()
    done = played.run(removal())
    assert done.returncode == 65
    assert "expected files that netplan accepts, found /etc/netplan/50-x.yaml:5:7 refused" in done.stderr
    assert played.file.exists()
    assert not played.kept
    assert not list((played.root / "var/lib/sparks/reverted").iterdir())
    assert not list((played.root / "run").iterdir())


def test_a_host_without_networkmanager_running_has_nothing_to_forget(played: Host) -> None:
    (played.root / "stopped").touch()
    assert played.run(removal()).returncode == 0
    assert not played.file.exists()


def test_removing_the_same_text_again_keeps_one_copy(played: Host) -> None:
    for _ in range(2):
        played.file.write_text(TEXT)
        assert played.run(removal()).returncode == 0
    assert len(played.kept) == 1


def test_profiles_whose_file_is_gone_are_forgotten(played: Host) -> None:
    step = ReloadProfiles(subject="a NetworkManager", before="", after="", reason="", down=())
    assert played.run(step).returncode == 0
    assert played.said == ["netplan generate", "nmcli connection reload"]
    assert played.file.exists()


DEPLOY = """
from tests.forked import everywhere
import fleet.lock
everywhere(fleet.lock.PLACE, {root!r} + "/run-sparks")
import facts.look
from fleet.observation import Observation
from fleet.roster import Roster
from operations import answer, others
from tests.fleet import observed
from pathlib import Path

answer.as_root = lambda command, otherwise="": command
others.GONE_WITHIN_SECONDS = 0.0
file = Path({file!r})
carry_out = others.carry_out

def seen():
    found = observed.blank("@local")
    renderer = "network: {{version: 2, renderer: NetworkManager}}\\n"
    found = observed.with_file(found, observed.netplan_file("/etc/netplan/01-network-manager-all.yaml", renderer))
    if file.exists():
        found = observed.with_file(found, observed.netplan_file({path!r}, file.read_text()))
    return found

def below(host, steps, script_of):
    def below_root(step):
        script = script_of(step)
        for place in ("/etc/netplan", "/var/lib/sparks", "/run/sparks-netplan"):
            script = script.replace(place, {root!r} + place)
        script = script.replace('"/$at/netplan', '"' + {root!r} + '/$at/netplan')
        return script.replace('"$root"' + {root!r}, '"$root"')

    yield from carry_out(host, steps, below_root)

others._seen = seen
others.carry_out = below
spark = {{"enrolled": True, **{spark!r}}}
desired = Roster.read({{"sparks": {{"local": spark}}}}, "test").desired_for("local")
others.declared(name="files of others", desired=desired)
"""


def converge(played: Host, spark: dict[str, object]) -> subprocess.CompletedProcess[str]:
    deploy = played.root / "deploy.py"
    deploy.write_text(DEPLOY.format(file=str(played.file), path=PATH, root=str(played.root), spark=spark))
    return forked.ran(forked.pyinfra_command, "@local", deploy, "-y", environment=played.environment)


def test_the_operation_removes_once_and_then_has_nothing_to_do(played: Host) -> None:
    done = converge(played, {"revert": [PATH]})
    assert done.returncode == 0, done.stderr
    assert not played.file.exists()
    asked = len(played.said)
    again = converge(played, {"revert": [PATH]})
    assert again.returncode == 0, again.stderr
    assert "No changes" in again.stderr
    assert len(played.said) == asked


def test_the_operation_refuses_what_nobody_declared(played: Host) -> None:
    done = converge(played, {})
    assert done.returncode == 1
    assert "sparks adopt local" in done.stderr
    assert "Traceback" not in done.stderr
    assert played.file.read_text() == TEXT
    assert not played.said
