"""The YAML nodes of one file as they came from the host: duplicate keys kept, secrets gone."""

from typing import Any, NamedTuple


class Scalar(NamedTuple):
    """One value. `text` is None where it stayed on the host."""

    line: int
    text: str | None
    quoted: bool = False


class Sequence(NamedTuple):
    """A list of values."""

    line: int
    items: "tuple[Node, ...]"


class Mapping(NamedTuple):
    """Keys and values in the order of the file, a key as often as it stands there."""

    line: int
    pairs: "tuple[tuple[Node, Node], ...]"


Node = Scalar | Sequence | Mapping


def node_of(found: Any) -> Node:
    """The node in the reader's JSON; raises ValueError when it is none."""
    match found:
        case ["s", int(line), str(text), int(quoted)]:
            return Scalar(line, text, bool(quoted))
        case ["r", int(line)]:
            return Scalar(line, None)
        case ["c", int(line)]:
            return Sequence(line, ())
        case ["q", int(line), list(items)]:
            return Sequence(line, tuple(node_of(item) for item in items))
        case ["m", int(line), list(pairs)]:
            return Mapping(line, tuple((node_of(key), node_of(value)) for key, value in pairs))
    raise ValueError("expected a YAML node, found something else")


def without_nulls(node: Node) -> Node:
    """The tree without the pairs whose value is a plain null: `netplan get` prints some for what is not set."""
    if isinstance(node, Sequence):
        return Sequence(node.line, tuple(without_nulls(item) for item in node.items))
    if not isinstance(node, Mapping):
        return node
    kept = ((key, value) for key, value in node.pairs if not (isinstance(value, Scalar) and _is_null(value)))
    return Mapping(node.line, tuple((key, without_nulls(value)) for key, value in kept))


def _is_null(node: Scalar) -> bool:
    return node.text == "null" and not node.quoted


def texts(node: Node) -> tuple[str, ...]:
    """The readable items of a list of scalars, or the one scalar itself."""
    items = node.items if isinstance(node, Sequence) else (node,)
    return tuple(item.text for item in items if isinstance(item, Scalar) and item.text is not None)


def named(node: Node) -> tuple[tuple[str, Node], ...]:
    """The pairs of a mapping whose keys are readable; none for any other node."""
    if not isinstance(node, Mapping):
        return ()
    return tuple((key.text, value) for key, value in node.pairs if isinstance(key, Scalar) and key.text is not None)
