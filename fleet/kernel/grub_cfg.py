"""grub.cfg, read for its menu: the lines that make entries, what they start, and which one is the default."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from fleet.kernel.grub import Menu, MenuEntry
from fleet.kernel.running import Parameter

_OPENS = ("menuentry", "submenu")
_LINUX = re.compile(r"linux(16|efi)?")
_INITRD = re.compile(r"initrd(16|efi)?")
_DEFAULT = re.compile(r'set\s+default=(?P<value>"[^"]*"|\'[^\']*\'|\S*)')
_ID = "$menuentry_id_option"
"""How grub-mkconfig spells `--id`, which GRUB before 2.00 does not know."""


class _Open:
    """An entry whose closing brace has not come."""

    def __init__(self, kind: str, title: str, id: str | None, depth: int) -> None:
        self.kind, self.title, self.id, self.depth = kind, title, id, depth
        self.entries: list[MenuEntry] = []
        self.image: str | None = None
        self.initrds: tuple[str, ...] = ()
        self.parameters: tuple[Parameter, ...] = ()

    def closed(self) -> MenuEntry:
        entries = tuple(self.entries) if self.kind == "submenu" else None
        return MenuEntry(
            title=self.title, id=self.id, entries=entries, image=self.image, initrds=self.initrds,
            parameters=self.parameters,
        )  # fmt: skip


def parse_grub_cfg(text: str) -> Menu:
    """The menu of a grub.cfg as grub-mkconfig writes it; raises ValueError where braces or quotes do not close."""
    top = _Open("submenu", "", None, 0)
    stack, depth, defaults, saves = [top], 0, list[str](), False
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if opened := _opened(stripped, depth, number):
            stack.append(opened)
        elif len(stack) > 1:
            saves = saves or (stripped == "savedefault" and stack[-1].kind == "menuentry")
            _within(stack[-1], stripped, number)
        elif found := _DEFAULT.match(stripped):
            defaults.append(found["value"].strip("\"'"))
        depth += _opens(stripped) - _closes(stripped)
        while len(stack) > 1 and depth <= stack[-1].depth:
            entry = stack.pop().closed()
            stack[-1].entries.append(entry)
    if len(stack) > 1 or depth != 0:
        raise ValueError("grub.cfg: expected as many closing braces as opening ones, found others")
    own = [each for each in defaults if not _ONE_SHOT.search(each)]
    return Menu(
        entries=tuple(top.entries),
        default=own[-1] if own else None,
        takes_one_shot=len(own) < len(defaults),
        saves_default=saves,
    )


_ONE_SHOT = re.compile(r"\$\{?next_entry\}?$")


def _opens(line: str) -> int:
    return 1 if line.endswith("{") else 0


def _closes(line: str) -> int:
    return 1 if line == "}" else 0


def _opened(line: str, depth: int, number: int) -> _Open | None:
    kind = line.partition(" ")[0]
    if kind not in _OPENS:
        return None
    if not line.endswith("{"):
        raise ValueError(
            f"grub.cfg line {number}: expected a {kind} that opens its brace on its own line, found another"
        )
    words = _words(line.removesuffix("{"), number)[1:]
    if not words:
        raise ValueError(f"grub.cfg line {number}: expected a title, found none")
    ids = [value for option, value in pairwise(words) if option in (_ID, "--id")]
    ids += [each.removeprefix("--id=") for each in words if each.startswith("--id=")]
    title = next(_titles(words), "")
    return _Open(kind, title, ids[-1] if ids else None, depth)


def _titles(words: list[str]) -> Iterator[str]:
    """The words that are no option and no option's value."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == _ID or (word.startswith("--") and "=" not in word):
            skip = word != "--unrestricted"
        elif not word.startswith("--"):
            yield word


def _within(entry: _Open, line: str, number: int) -> None:
    command = re.split(r"[ \t]", line, maxsplit=1)[0]
    if _LINUX.fullmatch(command):
        image, *parameters = [*_words(line, number)[1:], ""]
        entry.image, entry.parameters = image or None, tuple(_parameter(each) for each in parameters if each)
    elif _INITRD.fullmatch(command):
        entry.initrds = tuple(_words(line, number)[1:])


def _parameter(word: str) -> Parameter:
    name, equals, value = word.partition("=")
    return Parameter(name=name, value=value if equals else None)


def _words(line: str, number: int) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ValueError(f"grub.cfg line {number}: expected quotes that close, found one open") from error
