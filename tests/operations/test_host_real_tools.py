"""What we write and how we read, held against the tools of this machine: systemd, kmod, util-linux."""

import shutil
import subprocess
from pathlib import Path

import pytest

from facts.remote import host_modules, host_state, host_systemd
from fleet.host.kernel_values_step import governor_files, huge_page_files
from fleet.host.modules_step import modprobe_file
from fleet.host.policy import HostPolicy
from fleet.host.swap_step import swap_files
from fleet.host.text import HostFile
from fleet.host.tmpfiles_step import tmpfiles_file

POLICY = HostPolicy.model_validate(
    {
        "huge_pages": {"enabled": "never", "defrag": "defer+madvise"},
        "governor": "performance",
        "swap": {"size_gib": 1},
        "memory_guard": {"startup_gib": 5, "steady_gib": 3, "label": "sparks.deployment=tp4"},
        "modules": {"nvidia": {"NVreg_Quiet": 1}},
        "tmpfiles": ({"path": "/var/cache/sparks", "mode": "0750"},),
    }
)
assert POLICY.memory_guard is not None
UNITS = (*huge_page_files(POLICY), *governor_files(POLICY), *swap_files(POLICY), *POLICY.memory_guard.files)


def has(*programs: str) -> bool:
    return all(shutil.which(each, path="/usr/sbin:/usr/bin:/sbin:/bin") for each in programs)


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(root: Path, path: str, text: str) -> Path:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.skipif(not has("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize(
    "unit", [each for each in UNITS if each.text and not each.path.endswith(".py")], ids=lambda each: each.path[20:]
)
def test_systemd_finds_nothing_wrong_with_a_unit(tmp_path: Path, unit: HostFile) -> None:
    file = write(tmp_path, unit.path, unit.text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert file.name not in done.stderr


def names(text: str) -> list[str]:
    return [line.rpartition("/")[2] for line in text.splitlines() if line.startswith("# /")]


@pytest.mark.skipif(not has("systemd-analyze"), reason="no systemd here")
def test_files_are_read_in_systemds_own_order(tmp_path: Path) -> None:
    root = str(tmp_path)
    for place in (
        "etc/sysctl.d/99-x",
        "usr/lib/sysctl.d/10-y",
        "run/sysctl.d/10-y",
        "run/sysctl.d/9-z",
        "etc/sysctl.d/a",
    ):
        write(tmp_path, f"{place}.conf", f"# {place}\nvm.x = 1\n")
    (tmp_path / "etc/sysctl.d/50-masked.conf").symlink_to("/dev/null")
    theirs = names(said("systemd-analyze", "cat-config", f"--root={root}", "sysctl.d"))
    ours = [Path(each).name for each in host_state.sysctl_files(root)]
    assert [each for each in ours if "masked" not in each] == [each for each in theirs if "masked" not in each]
    for place in ("etc/systemd/system.conf", "usr/lib/systemd/system.conf", "run/systemd/system.conf.d/99-z.conf",
                  "etc/systemd/system.conf.d/10-a.conf", "usr/lib/systemd/system.conf.d/10-a.conf"):  # fmt: skip
        write(tmp_path, place, f"# {place}\n[Manager]\n")
    theirs = names(said("systemd-analyze", "cat-config", f"--root={root}", "systemd/system.conf"))
    assert [Path(each).name for each in host_systemd.conf_paths(root, "system.conf")] == theirs


@pytest.mark.skipif(not has("modprobe"), reason="kmod is in virtual/host-packages.txt: run `make host-packages`")
def test_options_are_given_in_kmods_own_order(tmp_path: Path) -> None:
    for file in modprobe_file(POLICY):
        write(tmp_path, file.path, file.text)
    write(tmp_path, "etc/modprobe.d/a.conf", "options nvidia NVreg_Quiet=2\n")
    write(tmp_path, "etc/modprobe.d/zz.conf", "options nvidia NVreg_Quiet=3\n")
    shown = said("/usr/sbin/modprobe", "--showconfig", "-C", str(tmp_path / "etc/modprobe.d"))
    theirs = [line.rpartition("=")[2] for line in shown.splitlines() if line.startswith("options nvidia")]
    found = host_modules.options(str(tmp_path), {"nvidia": ["NVreg_Quiet"]})
    assert [each["value"] for each in found] == theirs == ["2", "1", "3"]


@pytest.mark.skipif(not has("systemd-tmpfiles"), reason="no systemd here")
def test_systemd_makes_what_tmpfiles_say(tmp_path: Path) -> None:
    (file,) = tmpfiles_file(POLICY)
    written = write(tmp_path, file.path, file.text)
    said("systemd-tmpfiles", "--create", f"--root={tmp_path}", str(written))
    assert (tmp_path / "var/cache/sparks").stat().st_mode & 0o777 == 0o750
