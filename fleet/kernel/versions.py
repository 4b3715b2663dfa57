"""Order among kernel releases and among Debian versions."""

import re
from itertools import zip_longest

_RELEASE = re.compile(r"(?P<version>[0-9]+(?:\.[0-9]+)*)(?:-(?P<abi>[0-9]+))?(?P<rest>.*)")


def flavour(release: str) -> str:
    """`nvidia-64k` of `7.0.0-1019-nvidia-64k`; empty where there is none. Each flavour is a line of its own."""
    match = _RELEASE.fullmatch(release)
    return match["rest"].lstrip("-") if match else ""


def release_order(release: str) -> tuple[tuple[int, ...], int, str]:
    """A key that sorts releases from old to new: 6.9.0-1 before 6.17.0-999 before 6.17.0-1008."""
    match = _RELEASE.fullmatch(release)
    if match is None:
        return ((), 0, release)
    return (tuple(map(int, match["version"].split("."))), int(match["abi"] or 0), match["rest"])


def is_newer(one: str, other: str) -> bool:
    """Is one Debian version later than another, as `dpkg --compare-versions` has it (deb-version(7))?"""
    return _compared(one, other) > 0


def _compared(one: str, other: str) -> int:
    for left, right in zip(_parted(one), _parted(other), strict=True):
        if order := _parts_compared(left, right):
            return order
    return 0


def _parted(version: str) -> tuple[str, str, str]:
    """Epoch, upstream version and revision."""
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    return (epoch, upstream, revision) if dash else (epoch, rest, "0")


def _parts_compared(one: str, other: str) -> int:
    """Text and numbers take turns; `~` comes before the end, the end before letters, letters before the rest."""
    left, right = (re.findall(r"([^0-9]*)([0-9]*)", each) for each in (one, other))
    for (text, number), (other_text, other_number) in zip_longest(left, right, fillvalue=("", "")):
        for a, b in zip_longest(map(_rank, text), map(_rank, other_text), fillvalue=0):
            if a != b:
                return 1 if a > b else -1
        if int(number or 0) != int(other_number or 0):
            return 1 if int(number or 0) > int(other_number or 0) else -1
    return 0


def _rank(letter: str) -> int:
    if letter == "~":
        return -1
    return ord(letter) if letter.isalpha() else ord(letter) + 256
