"""The kernel that a host runs, and its command line read as the kernel reads it."""

import posixpath
from collections.abc import Iterator
from typing import Annotated

from fleet.record import VOLATILE, Record

_SPACES = " \t\n\v\f\r"
_IMAGES = ("vmlinuz-", "vmlinux-")


class Parameter(Record):
    """One word of the kernel command line."""

    name: str
    value: str | None = None
    """None for a word without `=`; without the double quotes that hold its spaces together."""

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value}"


class CommandLine(Record):
    """/proc/cmdline: its words in order, repeats and all."""

    parameters: tuple[Parameter, ...] = ()
    init: tuple[str, ...] = ()
    """The words after `--`, which the kernel hands to init unread."""

    def values(self, name: str) -> tuple[str | None, ...]:
        """Every value of a parameter, in order; `-` and `_` are one letter in a name."""
        return tuple(each.value for each in self.parameters if _same(each.name, name))

    def last(self, name: str) -> str | None:
        """The value that wins where only one can; None where there is none (ask `has` for a bare word)."""
        return next(reversed(self.values(name)), None)

    def has(self, name: str) -> bool:
        """Is the parameter there, with or without a value?"""
        return bool(self.values(name))

    @property
    def booted_release(self) -> str | None:
        """The release that the boot loader started, from BOOT_IMAGE; None where it does not tell."""
        return release_of(self.last("BOOT_IMAGE") or "")


def release_of(image: str) -> str | None:
    """The release that the name of a kernel's file says; None where it says none."""
    name = posixpath.basename(image)
    prefix = next((each for each in _IMAGES if name.startswith(each)), None)
    return name.removeprefix(prefix) or None if prefix else None


class Kernel(Record):
    """The running kernel. `boot_id` and `uptime_seconds` change by themselves: compare the other fields."""

    release: str
    """`6.17.0-1031-nvidia`; a release that ends with -64k has 65536-byte pages."""
    page_size_bytes: int
    command_line: CommandLine
    boot_id: str
    """Another after every boot."""
    uptime_seconds: Annotated[float, VOLATILE]


def _same(one: str, other: str) -> bool:
    return one.replace("-", "_") == other.replace("-", "_")


def parse_command_line(text: str) -> CommandLine:
    """The words of a kernel command line, as lib/cmdline.c's next_arg parts them.

    Only the double quote quotes, anywhere in a word, and nothing escapes it; a quote around the whole
    word, or around the value, is dropped.
    """
    words = tuple(_parameter(word) for word in _words(text.rstrip("\n")))
    end = next((place for place, word in enumerate(words) if word == Parameter(name="--")), len(words))
    after = map(str, words[end + 1 :])
    return CommandLine(parameters=words[:end], init=tuple(after))


def _words(text: str) -> Iterator[str]:
    word, quoted = "", False
    for character in text:
        if character in _SPACES and not quoted:
            if word:
                yield word
            word = ""
            continue
        quoted ^= character == '"'
        word += character
    if word:
        yield word


def _parameter(word: str) -> Parameter:
    is_quoted = word.startswith('"')
    bare = word.removeprefix('"')
    place = bare.find("=", 1)
    has_quoted_value = place > 0 and bare.startswith('"', place + 1)
    if is_quoted or has_quoted_value:
        bare = bare.removesuffix('"')
    if place < 1:
        return Parameter(name=bare)
    value = bare[place + 1 :]
    return Parameter(name=bare[:place], value=value.removeprefix('"') if has_quoted_value else value)


def parse_kernel(text: str) -> Kernel:
    """From lines `release=`, `page_size=`, `boot_id=`, `uptime=` and, last, `cmdline=`."""
    head, found, command_line = text.partition("\ncmdline=")
    if not found:
        raise ValueError("kernel: expected cmdline, found none")
    values = dict(line.split("=", 1) for line in head.split("\n") if "=" in line)
    missing = {"release", "page_size", "boot_id", "uptime"} - values.keys()
    if missing:
        raise ValueError(f"kernel: expected {', '.join(sorted(missing))}, found none")
    return Kernel(
        release=values["release"],
        page_size_bytes=int(values["page_size"]),
        command_line=parse_command_line(command_line),
        boot_id=values["boot_id"],
        uptime_seconds=float(values["uptime"]),
    )
