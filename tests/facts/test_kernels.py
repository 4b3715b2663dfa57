"""The looks at installed kernels: real scripts below a directory, with played programs in front of the path."""

import os
import subprocess
from pathlib import Path

import pytest

from facts.kernel import KexecHandover
from facts.kernels import DkmsModules, InstalledKernels, KernelPackages
from facts.look import Look
from facts.upgrades import KernelUpgrades
from fleet.kernel.files import KernelFiles
from tests.conftest import CaseText
from tests.fleet.kernel.test_installed import as_asked

OLD, NEW = "6.17.0-1031-nvidia", "7.0.0-1019-nvidia-64k"


def play(tmp_path: Path, name: str, script: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def run(tmp_path: Path, command: object) -> str:
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", str(command)], capture_output=True, text=True, check=True, env=os.environ | {"PATH": path}
    )
    return done.stdout


def value(tmp_path: Path, fact: Look[object], command: object) -> object:
    return fact.read(run(tmp_path, command))


def test_packages_about_kernels_and_named_ones_leave_the_host(tmp_path: Path, case: CaseText) -> None:
    (tmp_path / "list").write_text(
        as_asked(case("110", "input.txt")) + "install ok installed|bash|5|arm64|\n"
        "install ok installed|libc++1|5|arm64|\ninstall ok installed|memory-saver-dkms|1|all|dkms\n"
    )
    play(tmp_path, "dpkg-query", f"cat {tmp_path}/list")
    fact = KernelPackages()
    found = fact.read(run(tmp_path, fact.command(named="libc++1")))
    assert found is not None
    names = [each.name for each in found.packages]
    assert names[-2:] == ["libc++1", "memory-saver-dkms"]
    assert len(names) == 13
    play(tmp_path, "dpkg-query", "exit 2")
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path, fact.command())


def test_what_is_there_of_each_kernel(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for path in (
        f"boot/vmlinuz-{OLD}",
        f"boot/initrd.img-{OLD}",
        f"lib/modules/{OLD}/modules.dep",
        f"boot/vmlinuz-{NEW}",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / f"lib/modules/{OLD}/build").mkdir()
    play(tmp_path, "dpkg", f"echo 'linux-image-unsigned-{OLD}:arm64: {root}/boot/vmlinuz-{OLD}'; exit 1")
    play(tmp_path, "modinfo", 'case "$*" in *"-F version nvidia") echo 580.95;; *) exit 1;; esac')
    fact = InstalledKernels()
    found = fact.read(run(tmp_path, fact.command(root=str(root))))
    assert found is not None
    assert found.kernels == (
        KernelFiles(
            release=OLD, has_image=True, package=f"linux-image-unsigned-{OLD}", initrd_bytes=1, has_modules=True,
            has_headers=True, nvidia_version="580.95",
        ),
        KernelFiles(release=NEW, has_image=True),
    )  # fmt: skip
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path, fact.command(root=str(tmp_path)))


def test_dkms_that_complains_is_read_all_the_same(tmp_path: Path, case: CaseText) -> None:
    (tmp_path / "said").write_text(case("115", "input.v3.txt"))
    play(tmp_path, "dkms", f"cat {tmp_path}/said >&2; exit 4")
    fact = DkmsModules()
    found = fact.read(run(tmp_path, fact.command()))
    assert found is not None
    assert len(found.modules) == 6
    absent = fact.read("end-of-fact")
    assert absent is not None
    assert not absent.is_there


def test_what_upgrades_by_itself(tmp_path: Path) -> None:
    play(tmp_path, "systemctl", 'case "$2" in apt-daily-upgrade.timer) echo enabled;; *) echo not-found; exit 4;; esac')
    play(tmp_path, "apt-config", "echo 'APT::Periodic::Unattended-Upgrade \"1\";'; echo 'Dir \"/\";'")
    play(tmp_path, "unattended-upgrade", "")
    fact = KernelUpgrades()
    found = fact.read(run(tmp_path, fact.command()))
    assert found is not None
    assert found.is_active
    assert found.timers["apt-daily.timer"] == "not-found"


def test_kexec_handover_of_this_machine_is_an_answer(tmp_path: Path) -> None:
    fact = KexecHandover()
    assert fact.read(run(tmp_path, fact.command())) is not None
