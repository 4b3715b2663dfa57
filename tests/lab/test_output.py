"""A file is written whole or not at all, and what cannot be a file is one line."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from fleet.record import Record
from lab.command import Failed
from lab.output import put, refuse_output
from lab.plans.files import write


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "map.svg"
    target.write_text("old")
    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[step], full)
    with pytest.raises(Failed, match=r"map\.svg: expected a file that can be written, found No space left on device"):
        put(str(target), "new")
    assert target.read_text() == "old"
    with pytest.raises(Failed, match=r"plan\.json: expected a file that can be written"):
        write(str(tmp_path / "plan.json"), Record())
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "map.svg", tmp_path / "latest.svg"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    put(str(link), "\x1b[31mnew\x1b[0m")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_new_file_gets_the_mode_that_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        put(str(tmp_path / "map.svg"), "new")
    finally:
        os.umask(before)
    assert (tmp_path / "map.svg").stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.write_text("")
    for path, found in [
        (tmp_path, "found a folder"),
        (pipe, "found a device or pipe; - is standard output"),
        (file / "x.svg", "to be none"),
        (tmp_path / "no" / "x.svg", "found No such file or directory"),
    ]:
        for act in (refuse_output, lambda it: put(it, "new")):
            with pytest.raises(Failed) as raised:
                act(str(path))
            assert str(raised.value.message).startswith(f"{path}: expected a file")
            assert found in raised.value.message
            assert "\n" not in raised.value.message
    assert pipe.is_fifo()
