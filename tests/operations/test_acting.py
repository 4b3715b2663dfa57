"""A file is written whole or not at all."""

import subprocess
from pathlib import Path

import pytest

from operations.acting import write_file

TEXT = 'it\'s $HOME `x` "y" %s \\n\nünï\n'


def written(path: Path, check: str = "true", text: str = TEXT) -> "subprocess.CompletedProcess[str]":
    script = f"set -eu\n{write_file(str(path), text, 0o600, check=check)}"
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=30, check=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a file.yaml"


def test_bytes_and_mode_are_exact_and_nothing_is_left_beside(path: Path) -> None:
    path.with_name(f".{path.name}.abcdef.new").write_text("left by a killed run")
    assert written(path).returncode == 0
    assert path.read_bytes() == TEXT.encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_the_new_file_is_private_before_it_is_checked(path: Path) -> None:
    done = written(path, check='stat -c %a "$new"; cat "$new"')
    assert done.stdout == f"600\n{TEXT}"


def test_a_refused_file_keeps_the_old_one(path: Path) -> None:
    path.write_text("old")
    assert written(path, check="exit 65").returncode == 65
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_directory_that_cannot_be_written_is_one_clear_line(path: Path) -> None:
    done = written(path.parent / "nosuch" / "x")
    assert done.returncode != 0
    done = written(Path("/proc/sys/x"))
    assert done.returncode == 74
    assert "expected room to write it whole, found the write refused; the old file stands" in done.stderr


def test_a_link_is_replaced_and_never_followed(path: Path) -> None:
    elsewhere = path.parent / "elsewhere"
    elsewhere.write_text("untouched")
    path.symlink_to(elsewhere)
    assert written(path).returncode == 0
    assert elsewhere.read_text() == "untouched"
    assert not path.is_symlink()
