"""A file is written whole or not at all; what takes long is told while it runs."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyinfra import logger

from operations import acting, approved
from operations.acting import write_file
from operations.stream import Broken

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


class _Watcher:
    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def going_on(self, host: str, line: str) -> None:
        self.said.append((host, line))


def told(monkeypatch: pytest.MonkeyPatch, answers: Iterator[str]) -> tuple[bool, list[tuple[str, str]]]:
    """What the command of a step that takes long does: pyinfra calls it, and the host says these lines."""
    state: Any = None
    host: Any = SimpleNamespace(name="srv5", print_prefix="[srv5] ")
    watcher: Any = _Watcher()
    monkeypatch.setattr(approved, "_watcher", lambda _: watcher)
    monkeypatch.setattr(acting, "lines", lambda host, command, given: answers)
    return acting._told(state, host, acting.Script("true"), lambda _: None, lambda *_: None), watcher.said


def test_what_a_step_says_on_its_way_is_told_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, iter(["10%", "20%"])) == (True, [("srv5", "10%"), ("srv5", "20%")])


def test_a_step_that_breaks_off_fails_its_host_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[str]:
        yield "10%"
        raise Broken("it broke off")

    errors: list[str] = []
    monkeypatch.setattr(logger, "error", errors.append)
    assert told(monkeypatch, broken()) == (False, [("srv5", "10%")])
    assert errors == ["[srv5] it broke off"]
