"""What `e4defrag -c` prints, in all the shapes it has."""

from pathlib import Path

import pytest

from fleet.host.fragmentation import Fragmentation, parse_e4defrag

CASES = Path(__file__).parents[2] / "cases"
ERRORS = CASES / "132-e4defrag-errors"


def test_case_130_a_directory_with_long_names_and_spaces() -> None:
    found = parse_e4defrag("/data", (CASES / "130-e4defrag-directory/input.txt").read_text(), "")
    assert (found.extents, found.best, found.score) == (27, 4, 1)
    assert [(each.extents, each.best) for each in found.worst] == [(12, 1), (12, 1), (2, 1), (1, 1)]
    assert found.worst[2].path == "/data/dir with space/file (1).gguf"
    assert found.worst[0].path.endswith("a" * 64)
    assert [each.extents for each in found.scattered] == [12, 12, 2]
    assert not found.is_ideal


def test_case_132_an_empty_file_has_nothing_to_count() -> None:
    found = parse_e4defrag("/data/models/empty", (ERRORS / "input.empty.txt").read_text(), "")
    assert found == Fragmentation(path="/data/models/empty", filesystem="ext4")
    assert found.is_ideal


@pytest.mark.parametrize("name", ["tmpfs", "symlink"])
def test_case_132_what_is_no_file_on_ext4_is_not_observed(name: str) -> None:
    text = (ERRORS / f"input.{name}.txt").read_text()
    err, _, out = text.partition("e4defrag ")
    with pytest.raises(ValueError, match="expected a file or a directory on ext4"):
        parse_e4defrag("/x", out, err)


def test_case_132_somebody_else_than_root_is_told_nothing_and_that_is_not_perfect() -> None:
    with pytest.raises(ValueError, match="only root is told"):
        parse_e4defrag("/x", (ERRORS / "input.nonroot.txt").read_text(), "")


SINGLE = """\
e4defrag 1.47.0 (5-Feb-2023)
<File>                                         now/best       size/ext
/tmp/frag/tiny                                   1/1              4 KB

 Total/best extents\t\t\t\t1/1
 Average size per extent\t\t\t4 KB
 Fragmentation score\t\t\t\t0
 [0-30 no problem: 31-55 a little bit fragmented: 56- needs defrag]
 This file (/tmp/frag/tiny) does not need defragmentation.
 Done.
"""
"""Captured here, e2fsprogs 1.47.0, 2026-11-30; so the next."""
NO_FILES = "e4defrag 1.47.0 (5-Feb-2023)\n In this directory(/tmp/none), none can be defragmented.\n Done.\n"


def test_one_file_and_a_directory_without_any() -> None:
    one = parse_e4defrag("/tmp/frag/tiny", SINGLE, "")
    assert (one.extents, one.best, one.is_ideal, one.scattered) == (1, 1, True, ())
    assert parse_e4defrag("/tmp/none", NO_FILES, "") == Fragmentation(path="/tmp/none", filesystem="ext4")
