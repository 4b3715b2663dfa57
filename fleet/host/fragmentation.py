"""How far files are scattered on their disk, as `e4defrag -c` says (e2fsprogs 1.47.0)."""

import re

from fleet.host.answer import answer
from fleet.record import Record

_COUNTS = re.compile(r"\s*(?P<now>\d+)/(?P<best>\d+)\s+(?P<size>\d+) KB\s*$")
_TOTAL = re.compile(r"\s*Total/best extents\s+(\d+)/(\d+)\s*$")
_SCORE = re.compile(r"\s*Fragmentation score\s+(\d+)\s*$")
_NAME = re.compile(r"(?:\d+\. )?(?P<path>/.*)$")
_NOT_ONE = ("can't be defragmented", "none can be defragmented")
"""Of an empty file, and of a directory without files."""


class FileLayout(Record):
    """One file: in how many pieces it lies, and in how many it could."""

    path: str
    extents: int
    best: int

    @property
    def is_ideal(self) -> bool:
        """Does it lie as well as ext4 can lay it?"""
        return self.extents <= self.best


class Fragmentation(Record):
    """A file, or all files below a directory."""

    path: str
    filesystem: str
    extents: int | None = None
    """None where there is nothing to count: another file system than ext4, or no file with content."""
    best: int | None = None
    score: int | None = None
    """0 to 30 is no problem, 31 to 55 a little, from 56 on it needs defragmentation."""
    worst: tuple[FileLayout, ...] = ()
    """At most five, the worst first; an ideal file is among them where there are few."""

    @property
    def scattered(self) -> tuple[FileLayout, ...]:
        """Those of the worst that could lie better."""
        return tuple(each for each in self.worst if not each.is_ideal)

    @property
    def is_ideal(self) -> bool:
        """Is there nothing to say about it?"""
        return self.extents is None or self.best is None or self.extents <= self.best


def parse_fragmentation(text: str) -> Fragmentation:
    """What a look found; raises ValueError where it could not count."""
    found = answer(text)
    if found["filesystem"] != "ext4":
        return Fragmentation(path=found["path"], filesystem=found["filesystem"])
    return parse_e4defrag(found["path"], found["out"], found["err"])


def parse_e4defrag(path: str, out: str, err: str) -> Fragmentation:
    """What `e4defrag -c` printed about a path; raises ValueError where that is no count.

    Somebody other than root is told nothing at all, with status 0.
    """
    if "not ext4" in err or "not regular file" in err:
        raise ValueError(f"{path}: expected a file or a directory on ext4, found {err.splitlines()[0]!r}")
    lines = out.splitlines()
    if any(said in line for line in lines for said in _NOT_ONE):
        return Fragmentation(path=path, filesystem="ext4")
    total, score = (_only(pattern, lines) for pattern in (_TOTAL, _SCORE))
    if total is None or score is None:
        raise ValueError(f"{path}: expected counts of e4defrag, found none; only root is told")
    return Fragmentation(
        path=path, filesystem="ext4", extents=int(total[1]), best=int(total[2]), score=int(score[1]),
        worst=tuple(_layouts(lines)),
    )  # fmt: skip


def _only(pattern: re.Pattern[str], lines: list[str]) -> re.Match[str] | None:
    return next((found for line in lines if (found := pattern.match(line))), None)


def _layouts(lines: list[str]) -> list[FileLayout]:
    """A name that is long, or has spaces, has its counts on the next line."""
    layouts, name = [], ""
    for line in lines:
        counts = _COUNTS.search(line)
        head = line[: counts.start()] if counts else line
        found = _NAME.match(head.rstrip())
        name = found["path"] if found else name
        if counts and name:
            layouts.append(FileLayout(path=name, extents=int(counts["now"]), best=int(counts["best"])))
            name = ""
    return layouts
