"""What netplan rejects in one file, in the order of the file. No complaint quotes what is not netplan's.

References to other definitions, and what a definition must have, can only be judged on all files together.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from fleet.keyfile import REDACTED
from fleet.netplan import scalars
from fleet.netplan import vocabulary as words
from fleet.netplan.records import Problem
from fleet.netplan.tree import Mapping, Node, Scalar, Sequence, named

Check = Callable[[Node, str], Iterator[Problem]]


def scalar(read: Callable[[str], object], reason: str) -> Check:
    """One value that netplan can read: not as None. A value that stayed on the host is taken as good."""

    def check(node: Node, place: str) -> Iterator[Problem]:
        if not isinstance(node, Scalar):
            yield Problem(place=place, reason="expected scalar", line=node.line)
        elif node.text is not None and read(node.text) is None:
            yield Problem(place=place, reason=reason, line=node.line)

    return check


def one_of(*values: str) -> Check:
    """One of a few words."""
    return scalar(lambda text: text if text in values else None, f"expected one of {', '.join(values)}")


def sequence(item: Check) -> Check:
    """A list of such items; a null is none."""

    def check(node: Node, place: str) -> Iterator[Problem]:
        if not isinstance(node, Sequence):
            yield Problem(place=place, reason="expected sequence", line=node.line)
        else:
            yield from chain.from_iterable(item(child, place) for child in node.items)

    return check


def free_mapping(value: Check) -> Check:
    """A mapping with the user's own keys."""

    def check(node: Node, place: str) -> Iterator[Problem]:
        if not isinstance(node, Mapping):
            yield Problem(place=place, reason="expected mapping (check indentation)", line=node.line)
            return
        for key, child in node.pairs:
            yield from text(key, place)
            yield from value(child, place)

    return check


def mapping(*known: dict[str, str]) -> Check:
    """A mapping that has only these keys."""
    kinds = {key: kind for keys in known for key, kind in keys.items()}

    def check(node: Node, place: str) -> Iterator[Problem]:
        if not isinstance(node, Mapping):
            yield Problem(place=place, reason="expected mapping (check indentation)", line=node.line)
            return
        for key, child in node.pairs:
            if not isinstance(key, Scalar):
                yield Problem(place=place, reason="expected scalar", line=key.line)
            elif key.text not in kinds:
                name = f"'{key.text}'" if key.text else "(redacted)"
                yield Problem(place=place, reason=f"unknown key {name}", line=key.line)
            else:
                yield from check_of(kinds[key.text])(child, f"{place}.{key.text}" if place else key.text)

    return check


def anything(node: Node, place: str) -> Iterator[Problem]:
    """What we do not look into."""
    return iter(())


text = scalar(str, "")
ip_item = scalar(scalars.ip, "malformed address")
_cidr = scalar(scalars.cidr, "malformed address, or its /prefixlength is missing or invalid")


def address(node: Node, place: str) -> Iterator[Problem]:
    """An address, or addresses each with its options."""
    if isinstance(node, Mapping):
        for key, options in node.pairs:
            yield from _cidr(key, place)
            yield from mapping(words.ADDRESS_OPTIONS)(options, place)
    elif isinstance(node, Sequence):
        yield Problem(place=place, reason="expected either scalar or mapping (check indentation)", line=node.line)
    else:
        yield from _cidr(node, place)


def route(node: Node, place: str) -> Iterator[Problem]:
    """A route has a destination, and its addresses are of one family."""
    yield from mapping(words.ROUTE)(node, place)
    written = {key: value for key, value in named(node) if isinstance(value, Scalar)}
    if isinstance(node, Mapping) and "to" not in written:
        yield Problem(place=place, reason="route must include a 'to' and a 'via'", line=node.line)
    ends = [value.text.partition("/")[0] for key in ("to", "via", "from") if (value := written.get(key)) and value.text]
    found = [scalars.ip(end) for end in ends if end != "default"]
    if None in found:
        yield Problem(place=place, reason="invalid IP address in route", line=node.line)
    elif len({end.version for end in found if end}) > 1:
        yield Problem(place=place, reason="IP family mismatch in route", line=node.line)


def policy(node: Node, place: str) -> Iterator[Problem]:
    """A routing policy is about a source or a destination."""
    yield from mapping(words.ROUTING_POLICY)(node, place)
    ends = [value for key, value in named(node) if key in ("from", "to")]
    found = [scalars.ip(end.text.partition("/")[0]) for end in ends if isinstance(end, Scalar) and end.text]
    if isinstance(node, Mapping) and (not ends or None in found):
        yield Problem(place=place, reason="routing policy must include a 'from' or 'to' IP", line=node.line)


def definitions(section: str) -> Check:
    """A section: its own renderer, and definitions by id."""

    def check(node: Node, place: str) -> Iterator[Problem]:
        if not isinstance(node, Mapping):
            yield Problem(place=place, reason="expected mapping (check indentation)", line=node.line)
            return
        for key, child in node.pairs:
            if not isinstance(key, Scalar):
                yield Problem(place=place, reason="expected scalar", line=key.line)
            elif key.text == "renderer":
                yield from check_of("renderer")(child, f"{place}.renderer")
            else:
                yield from definition(section, child, f"{place}.{key.text or REDACTED}")

    return check


def definition(section: str, node: Node, place: str) -> Iterator[Problem]:
    """One definition."""
    return mapping(words.COMMON, words.SECTION_KEYS[section])(node, place)


def document(node: Node | None) -> Iterator[Problem]:
    """A whole file; one without a document is fine."""
    return iter(()) if node is None else mapping({"network": "network"})(node, "")


CHECKS: dict[str, Check] = {
    **{kind: scalar(read, reason) for kind, (read, reason) in scalars.KINDS.items()},
    **{kind: mapping(keys) for kind, keys in words.BELOW.items()},
    **{kind: sequence(mapping(keys)) for kind, keys in words.ITEMS.items()},
    "routes": sequence(route),
    "routing_policy": sequence(policy),
    "addresses": sequence(address),
    "strings": sequence(text),
    "ip_list": sequence(ip_item),
    "network": mapping({**words.NETWORK, **{section: f"section:{section}" for section in words.SECTIONS}}),
    "anything": anything,
    "anything_mapped": free_mapping(anything),
    "passthrough": free_mapping(text),
    "access_points": free_mapping(mapping(words.ACCESS_POINT)),
    "scalars_by_name": free_mapping(scalar(*scalars.KINDS["uint"])),
}


def check_of(kind: str) -> Check:
    """The check behind a word of the vocabulary."""
    form, _, values = kind.partition(":")
    match form:
        case "one":
            return one_of(*values.split("|"))
        case "list":
            return sequence(one_of(*values.split("|")))
        case "section":
            return definitions(values)
    return CHECKS[kind]
