"""GRUB's menu, and which of its entries the next boot starts, as GRUB itself decides.

The rules are those of GRUB 2.06 and 2.12, grub-core/normal/menu.c (get_entry_number, menuentry_eq, run_menu), read on
2026-11-30: a selector that begins with a number is that number; else it is a title or an id; what matches nothing is
entry 0, and nobody is told. `>` parts the levels, `>>` is the character itself.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from fleet.kernel.grubenv import GrubEnvironment
from fleet.kernel.running import Parameter, release_of
from fleet.record import Record


class MenuEntry(Record):
    """One entry, or a submenu with entries of its own."""

    title: str
    id: str | None = None
    """What `--id` gives: `gnulinux-6.17.0-1031-nvidia-advanced-<uuid>`. It stays where titles are translated."""
    entries: tuple["MenuEntry", ...] | None = None
    """Of a submenu; None for an entry that starts something."""
    image: str | None = None
    """The kernel's file, as GRUB sees it: `/boot/vmlinuz-…`, or `/vmlinuz-…` where /boot is a file system."""
    initrds: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    """The kernel's command line; a variable that only GRUB knows (`$vt_handoff`) stands as it is written."""

    @property
    def release(self) -> str | None:
        """The release that it starts; None for what is no kernel."""
        return release_of(self.image or "")

    def is_called(self, selector: str) -> bool:
        """Does the first level of a selector name it by title or id?"""
        return any(_matches(name, selector) for name in (self.title, self.id) if name is not None)


class Menu(Record):
    """grub.cfg, as far as it decides what is started."""

    entries: tuple[MenuEntry, ...]
    default: str | None
    """What it sets `default` to where no one-shot is pending; `${saved_entry}` is GRUB's spelling for the saved one."""
    takes_one_shot: bool
    """Does it look at `next_entry` of the environment?"""
    saves_default: bool = False
    """Does an entry that is started become the saved one (`GRUB_SAVEDEFAULT=true`)?"""

    def paths(self) -> Iterator[tuple[MenuEntry, ...]]:
        """Every entry that starts something, below the submenus on the way to it."""
        return _paths(self.entries, ())


class By(StrEnum):
    """How a level of a selector was matched."""

    NAME = "name"
    """A title or an id."""
    NUMBER = "number"
    """Its place, which another kernel moves."""
    NOTHING = "nothing"
    """It matches nothing, or says nothing, so that the first entry is started."""


class NextBoot(Record):
    """What the next boot starts."""

    source: Literal["one_shot", "saved", "default"]
    selector: str
    """Empty where there is none."""
    path: tuple[str, ...]
    """The titles from the top to the entry; empty for an empty menu."""
    ids: tuple[str | None, ...]
    by: tuple[By, ...]
    """How each level was found."""
    entry: MenuEntry | None

    @property
    def release(self) -> str | None:
        """The release that it starts; None for none that is known."""
        return None if self.entry is None else self.entry.release

    @property
    def is_pinned(self) -> bool:
        """Is each level found by a name, and does the last say the release? `gnulinux-simple-…` starts the newest."""
        is_named = self.release is not None and names(self.selector, self.release)
        return is_named and bool(self.by) and all(each is By.NAME for each in self.by)


def next_boot(menu: Menu, environment: GrubEnvironment) -> NextBoot:
    """What the next boot starts: the one-shot where one is pending, else the default."""
    if menu.takes_one_shot and environment.next_entry:
        return _found(menu, "one_shot", environment.next_entry)
    return default_boot(menu, environment)


def default_boot(menu: Menu, environment: GrubEnvironment) -> NextBoot:
    """What every boot without a one-shot starts."""
    source, selector = selected_by(menu.default, environment)
    return _found(menu, source, selector)


def selected_by(default: str | None, environment: GrubEnvironment) -> tuple[Literal["saved", "default"], str]:
    """What a menu with this `default` selects by, and from where it has it."""
    if _SAVED.fullmatch(default or ""):
        return "saved", environment.saved_entry or ""
    return "default", default or ""


def selector_for(menu: Menu, release: str) -> str | None:
    """The ids by which a release is selected, also before it is in the menu; None where the menu has no ids to go by.

    The entry is the plain one of that release: no recovery mode. Ids of grub-mkconfig differ by the release alone.
    """
    plain = [path for path in menu.paths() if _is_plain(path) and path[-1].release is not None]
    exact = [path for path in plain if path[-1].release == release and _says(str(path[-1].id), release)]
    if exact:
        return _joined(str(each.id) for each in exact[0])
    for path in plain:
        last, other = str(path[-1].id), str(path[-1].release)
        if _says(last, other):
            ids = [*(str(each.id) for each in path[:-1]), last.replace(f"-{other}-", f"-{release}-", 1)]
            return _joined(ids)
    return None


def names(selector: str, release: str) -> bool:
    """Would it start this very release from any menu that has it? It has names alone, and the last says the release."""
    levels = _levels(selector)
    return _says(levels[-1], release) and not any(_NUMBER.match(each) for each in levels)


def entry_at(menu: Menu, selector: str) -> MenuEntry | None:
    """The entry that exactly these titles or ids name; None where GRUB would start another in its place."""
    found = _found(menu, "default", selector)
    return found.entry if found.by and all(each is By.NAME for each in found.by) else None


_SAVED = re.compile(r"\$\{saved_entry\}|\$saved_entry")
_NUMBER = re.compile(r"[ \t\n\v\f\r]*(0[xX][0-9a-fA-F]+|[0-9]+)")
"""What grub_strtoul reads from the front of a selector."""


def _found(menu: Menu, source: Literal["one_shot", "saved", "default"], selector: str) -> NextBoot:
    path: list[MenuEntry] = []
    by: list[By] = []
    entries: tuple[MenuEntry, ...] | None = menu.entries
    levels = iter(_levels(selector))
    while entries:
        place, how = _selected(entries, next(levels, ""))
        path.append(entries[place])
        by.append(how)
        entries = entries[place].entries
    entry = path[-1] if path and path[-1].entries is None else None
    titles, ids = tuple(each.title for each in path), tuple(each.id for each in path)
    return NextBoot(source=source, selector=selector, path=titles, ids=ids, by=tuple(by), entry=entry)


def _selected(entries: tuple[MenuEntry, ...], level: str) -> tuple[int, By]:
    if number := _NUMBER.match(level):
        place = int(number[1], 16 if number[1][:2].lower() == "0x" else 8 if number[1].startswith("0") else 10)
        return (place, By.NUMBER) if place < len(entries) else (0, By.NOTHING)
    for place, entry in enumerate(entries):
        if level and entry.is_called(level):
            return place, By.NAME
    return 0, By.NOTHING


def _levels(selector: str) -> list[str]:
    """The levels of a selector, each as written: `>>` is no border."""
    return re.split(r"(?<!>)>(?!>)", selector)


def _matches(name: str, level: str) -> bool:
    return name == level.replace(">>", ">")


def _joined(ids: Iterator[str] | list[str]) -> str:
    return ">".join(each.replace(">", ">>") for each in ids)


def _says(name: str, release: str) -> bool:
    """Does a name say this very release? `6.17.0-1031-nvidia` is not said by `…-1031-nvidia-64k-advanced-…`."""
    rest = name.partition(release)[2]
    before = name.partition(release)[0]
    is_whole = not before or before[-1] in "- "
    return (
        release in name and is_whole and (not rest or rest[0] in " ," or rest.startswith(("-advanced-", "-recovery-")))
    )


def _is_plain(path: tuple[MenuEntry, ...]) -> bool:
    """Has every level an id, and is it no entry for repairs or for another init?"""
    return all(each.id for each in path) and "-advanced-" in str(path[-1].id)


def _paths(entries: tuple[MenuEntry, ...], above: tuple[MenuEntry, ...]) -> Iterator[tuple[MenuEntry, ...]]:
    for each in entries:
        if each.entries is None:
            yield (*above, each)
        else:
            yield from _paths(each.entries, (*above, each))
