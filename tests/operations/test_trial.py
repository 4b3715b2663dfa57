"""The script that chooses an entry for the next boot alone and reboots: all of it, or nothing is pending afterwards."""

import os
import subprocess
from pathlib import Path

import pytest

from fleet.kernel.trial import Entry
from operations import trial
from tests.fleet.kernel.menus import NEW, OLD, grub_cfg, selector

ENTRY = Entry(release=NEW, selector=selector(NEW), parameters=(), missing="")
STUBS = {
    "grub-editenv": """
case $2 in
    list) cat "$PLAY/env" ;;
    unset) sed -i "/^$3=/d" "$PLAY/env" ;;
esac
""",
    "grub-reboot": 'echo "next_entry=${WRITES-$1}" >> "$PLAY/env"',
    "sync": "",
    "systemctl": 'echo "$*" >> "$PLAY/said"; exit ${REBOOT-0}',
}


class Host:
    """A machine with GRUB's programs, played; the menu is a real one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in STUBS.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}")
            (folder / name).chmod(0o755)
        (folder / "grub.cfg").write_text(grub_cfg(NEW, OLD))
        (folder / "env").write_text(f"saved_entry={selector(OLD)}\n")

    def runs(self, **environment: str) -> tuple[int, str]:
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-euc", trial.boot_once_script(ENTRY)], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, **environment, "PATH": path, "PLAY": str(self.folder)},
        )  # fmt: skip
        return done.returncode, done.stderr.strip()

    @property
    def environment(self) -> list[str]:
        return (self.folder / "env").read_text().splitlines()

    @property
    def is_told_to_reboot(self) -> bool:
        said = self.folder / "said"
        return said.exists() and said.read_text() == "reboot\n"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(trial, "MENU", str(tmp_path / "grub.cfg"))
    return Host(tmp_path)


def test_the_entry_is_chosen_once_and_the_default_stays(host: Host) -> None:
    assert host.runs() == (0, "")
    assert host.environment == [f"saved_entry={selector(OLD)}", f"next_entry={selector(NEW)}"]
    assert host.is_told_to_reboot


def test_an_id_that_is_not_in_the_menu_is_not_chosen(host: Host) -> None:
    """GRUB takes any id without a word, and then starts the first entry."""
    (host.folder / "grub.cfg").write_text(grub_cfg(OLD))
    status, error = host.runs()
    assert (status, len(host.environment), host.is_told_to_reboot) == (1, 1, False)
    assert error.startswith("expected 'gnulinux-7.0.0-1019-nvidia-64k-advanced-")


def test_what_is_pending_is_not_overwritten(host: Host) -> None:
    (host.folder / "env").write_text("next_entry=0\n")
    assert host.runs() == (1, "expected no entry for the next boot alone, found 0")
    assert (host.environment, host.is_told_to_reboot) == (["next_entry=0"], False)


@pytest.mark.parametrize("fault", [{"WRITES": "gnulinux-other"}, {"WRITES": ""}, {"REBOOT": "1"}])
def test_where_it_cannot_be_so_nothing_stays_pending(host: Host, fault: dict[str, str]) -> None:
    status, error = host.runs(**fault)
    assert status == 1
    assert error.startswith("expected ")
    assert host.environment == [f"saved_entry={selector(OLD)}"]
