"""The settings of a definition that no decision of ours reads, by netplan's own keys: they are merged and shown too."""

from collections.abc import Iterator
from typing import NamedTuple

from fleet.keyfile import REDACTED
from fleet.netplan import scalars
from fleet.netplan import vocabulary as words
from fleet.netplan.tree import Mapping, Node, Scalar, Sequence, named


class Leaf(NamedTuple):
    """One value, or one item of a list, as `parameters.mode` or `routing-policy`."""

    key: str
    """Of two spellings the newer one."""
    text: str
    """In one spelling; redacted where it stayed on the host."""
    is_item: bool = False


def leaves(section: str, node: Node, skipped: frozenset[str]) -> Iterator[Leaf]:
    """Every readable key of the definition that netplan knows; not what stands under the keys that are skipped."""
    kinds = {**words.COMMON, **words.SECTION_KEYS[section]}
    return (leaf for leaf in _of_mapping(kinds, node, "", skipped) if leaf.key not in skipped)


def _of_mapping(kinds: dict[str, str], node: Node, prefix: str, skipped: frozenset[str]) -> Iterator[Leaf]:
    for name, child in named(node):
        if name in kinds and (prefix + name not in skipped or kinds[name] == "addresses"):
            yield from _of_kind(kinds[name], child, prefix + words.SYNONYMS.get(name, name), skipped)


def _of_kind(kind: str, node: Node, key: str, skipped: frozenset[str]) -> Iterator[Leaf]:
    """A bridge's parameters turn STP on again where they do not speak of it, whatever an earlier file says."""
    if kind == "bridge_parameters" and "stp" not in dict(named(node)):
        yield Leaf(f"{key}.stp", "true")
    if kind in words.BELOW:
        yield from _of_mapping(words.BELOW[kind], node, f"{key}.", skipped)
    elif kind == "addresses":
        yield from _of_options(node)
    elif isinstance(node, Sequence):
        yield from (Leaf(key, _spelled(words.ITEMS.get(kind, {}), item), True) for item in node.items)
    elif isinstance(node, Mapping):
        for name, child in named(node):
            yield from _of_kind("uint" if kind == "scalars_by_name" else "text", child, f"{key}.{name}", skipped)
    else:
        yield Leaf(key, _scalar(kind, node))


def _of_options(node: Node) -> Iterator[Leaf]:
    """What is said of single addresses: a label, a lifetime."""
    for item in node.items if isinstance(node, Sequence) else ():
        for address, options in named(item):
            where = f"addresses.{scalars.cidr(address) or address}."
            yield from _of_mapping(words.ADDRESS_OPTIONS, options, where, frozenset())


def _scalar(kind: str, node: Scalar) -> str:
    return REDACTED if node.text is None else scalars.spelled(kind, node.text)


def _spelled(kinds: dict[str, str], item: Node, kind: str = "text") -> str:
    """An item on one line; the keys of a mapping in one order."""
    if isinstance(item, Scalar):
        return _scalar(kind, item)
    if isinstance(item, Sequence):
        return f"[{', '.join(_spelled({}, child) for child in item.items)}]"
    below = {name: words.BELOW.get(kinds.get(name, ""), {}) for name, _ in named(item)}
    pairs = sorted(f"{name}: {_spelled(below[name], child, kinds.get(name, 'text'))}" for name, child in named(item))
    return f"{{{', '.join(pairs)}}}"
