"""Where each setting of a definition stands: in which files, over which others, and whether it counts at all."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fleet.netplan import scalars
from fleet.netplan.displaced import Place, displaced
from fleet.netplan.merge import Definition
from fleet.netplan.written import Written, written
from fleet.record import Record

ByFile = list[tuple[str, Written]]
"""What each file says, in netplan's order."""
_IN_PASSTHROUGH = re.compile(r"networkmanager\.passthrough\.ipv[46]\.address(?:es|s)?\d*")


class Overridden(Record):
    """A value that a later file replaces."""

    path: str
    value: str


class Setting(Record):
    """One value of a definition over all files, or one item of a list."""

    key: str
    """As netplan's files spell it, from the definition down: `match.name`, `addresses`. Of two spellings the newer."""
    value: str
    """As netplan takes it: `true`, `9000`; redacted where it stayed on the host."""
    sources: tuple[str, ...]
    """The file whose value counts; of an item, every file that writes it, since lists only grow."""
    overrides: tuple[Overridden, ...] = ()
    """What earlier files say under the same key, in netplan's order."""
    displaced_by: str | None = None
    """The passthrough setting that NetworkManager runs instead: to change this one changes nothing."""

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Most settings override nothing and count: printed without saying so."""
        unsaid = {name for name in ("overrides", "displaced_by") if not getattr(self, name)}
        return {name: value for name, value in handler(self).items() if name not in unsaid}

    def sets_address(self, address: str) -> bool:
        """Does it put this address, as `192.168.102.10/24`, on the interface?"""
        if self.displaced_by is not None:
            return False
        if self.key == "addresses":
            return self.value == address
        first, *_ = [*scalars.parts(self.value), ""]
        return bool(_IN_PASSTHROUGH.fullmatch(self.key)) and scalars.cidr(first) == address


def provenance(definition: Definition, networkmanager: bool) -> tuple[Setting, ...]:
    """Every setting of the definition; passthrough settings displace others only where NetworkManager acts."""
    instead = displaced(definition.settings) if networkmanager else {}
    whole = written(definition.settings)
    by_file = [(path, written(settings)) for path, settings in definition.sources]
    return (*_values(whole, by_file, instead), *_items(whole, by_file, instead))


def _values(whole: Written, by_file: ByFile, instead: dict[Place, str]) -> Iterator[Setting]:
    for key, value in whole.values.items():
        writers = [(path, own.values[key]) for path, own in by_file if key in own.values]
        yield Setting(
            key=key,
            value=value,
            sources=tuple(path for path, _ in writers[-1:]),
            overrides=tuple(Overridden(path=path, value=text) for path, text in writers[:-1]),
            displaced_by=instead.get((key, None)),
        )


def _items(whole: Written, by_file: ByFile, instead: dict[Place, str]) -> Iterator[Setting]:
    for key, items in whole.items.items():
        for item in dict.fromkeys(items):
            writers = dict.fromkeys(path for path, own in by_file if item in own.items.get(key, ()))
            yield Setting(key=key, value=item, sources=tuple(writers), displaced_by=instead.get((key, item)))
