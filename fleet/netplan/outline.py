"""A netplan file as plain lines `section.id.key: value`, sorted: what may be shown of one that is not ours.

What leaves a host of such a file is what it says by an allow-list, not its text; so a document of ours is laid beside
it in the same form.
"""

from collections.abc import Iterator
from itertools import takewhile

from fleet.netplan.device import NetplanFile
from fleet.netplan.written import written


def outline(file: NetplanFile) -> str:
    """What a file was read to say."""
    lines = [f"renderer: {file.renderer}"] if file.renderer else []
    for device in file.devices:
        place, said = f"{device.section}.{device.id}", written(device.written)
        lines += [f"{place}.{key}: {value}" for key, value in said.values.items()]
        lines += [f"{place}.{key}: {item}" for key, items in said.items.items() for item in items]
    return "".join(f"{line}\n" for line in sorted(lines))


def outline_of(text: str) -> str:
    """The same of the text of a document of ours, whose YAML is maps, lists of scalars and lists of flat maps."""
    lines = sorted(line for line in _lines(text) if line != "version: 2")
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> Iterator[str]:
    places: list[tuple[int, str]] = []
    lines = [(len(raw) - len(raw.lstrip()), raw.strip().replace('"', "")) for raw in text.splitlines()]
    for at, (depth, said) in enumerate(lines):
        if said.startswith("- "):
            yield f"{_place(places)}: {_item(said[2:], [one for _, one in _below(lines[at + 1 :], depth)])}"
            continue
        while places and places[-1][0] >= depth:
            places.pop()
        key, _, value = said.partition(": ")
        if said.endswith(":"):
            places.append((depth, key[:-1]))
        elif value and not _is_of_an_item(lines[:at], depth):
            yield f"{_place([*places, (depth, key)])}: {value}"


def _below(lines: list[tuple[int, str]], depth: int) -> Iterator[tuple[int, str]]:
    """The lines that belong to a list's item."""
    yield from takewhile(lambda line: line[0] > depth, lines)


def _is_of_an_item(before: list[tuple[int, str]], depth: int) -> bool:
    """Does a line belong to a list's item, which has been said already?"""
    parent = next((line for line in reversed(before) if line[0] < depth), None)
    return parent is not None and parent[1].startswith("- ")


def _item(first: str, more: list[str]) -> str:
    return f"{{{', '.join([first, *more])}}}" if ": " in first else first


def _place(places: list[tuple[int, str]]) -> str:
    return ".".join(name for _, name in places if name != "network")
