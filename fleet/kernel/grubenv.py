"""GRUB's environment block: the saved entry, and the one-shot of the next boot."""

import re

from pydantic import Field

from fleet.record import Record

HEAD = "# GRUB Environment Block\n"
"""All that GRUB asks of a block (grub-core/lib/envblk.c). It is 1024 bytes as a rule, and GRUB writes in place."""


class GrubEnvironment(Record):
    """grubenv, unescaped."""

    values: dict[str, str] = Field(default_factory=dict)
    """By name; of what stands there only what decides about a boot."""

    @property
    def saved_entry(self) -> str | None:
        """What `grub-set-default` has written; None where nothing, or an empty text, is."""
        return self.values.get("saved_entry") or None

    @property
    def next_entry(self) -> str | None:
        """What `grub-reboot` has written, for the next boot alone; None where no boot is pending."""
        return self.values.get("next_entry") or None


DECIDES = ("saved_entry", "next_entry", "prev_saved_entry", "recordfail", "boot_success", "boot_once")
"""The names that are read."""

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ENTRY = re.compile(r"(?:[^\\\n]|\\.)*", re.DOTALL)
"""One entry: a backslash keeps whatever follows, a line break too."""


def parse_grubenv(text: str) -> GrubEnvironment:
    """From the text of a block; raises ValueError for what GRUB would refuse.

    An empty text is a block that is not there, which GRUB passes over.
    """
    if not text:
        return GrubEnvironment()
    if not text.startswith(HEAD):
        raise ValueError("grubenv: expected its head line, found another")
    return GrubEnvironment(values=dict(_entries(text)))


def _entries(text: str) -> list[tuple[str, str]]:
    found, place = [], 0
    while place < len(text):
        entry = _ENTRY.match(text, place)
        assert entry is not None, "the pattern matches an empty text too"
        name, equals, value = entry[0].partition("=")
        if equals and not name.startswith("#") and name in DECIDES:
            found.append((name, _ESCAPE.sub(r"\1", value)))
        place = entry.end() + 1
    return found
