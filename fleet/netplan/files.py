"""From the reader's answer to netplan files; a definition binds what all files together make of its id."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fleet.keyfile import REDACTED
from fleet.netplan import schema
from fleet.netplan.binding import binds
from fleet.netplan.device import NetplanDevice, NetplanFile
from fleet.netplan.keyfile import device_of
from fleet.netplan.merge import definitions, in_netplan_order
from fleet.netplan.read import settings_of, text_of
from fleet.netplan.records import Directory, ErrorKind, NetplanFileError, Problem
from fleet.netplan.settings import NetplanSettings, merged, reopened
from fleet.netplan.tree import Mapping, Node, Scalar, named, node_of
from fleet.netplan.vocabulary import SECTIONS

REASONS = {
    "tab": "expected YAML, found a tab in the indentation",
    "syntax": "expected YAML, found a syntax error",
    "control": "expected YAML, found a control character",
    "undefined_alias": "expected YAML, found an alias without its anchor",
    "duplicate_anchor": "expected YAML, found an anchor twice",
    "recursive_alias": "expected YAML, found an alias inside its own anchor",
    "too_deep": "expected netplan's few levels, found many more",
    "too_many_nodes": "expected at most 20000 nodes, found more",
    "too_large": "expected at most 256 KiB, found more",
    "not_utf8": "expected UTF-8, found other bytes",
    "special": "expected a regular file, found a device, socket or pipe",
    "dangling": "expected a file, found a symbolic link to nothing",
    "EISDIR": "expected a file, found a directory",
    "ENOENT": "expected a file, found it gone",
}
FAILURES = {
    "no_yaml": "expected PyYAML on the host (python3-yaml), found none",
    "no_listing": "expected to list the netplan directories, found",
    "no_netplan": "expected netplan on the host (netplan.io), found none",
    "get_failed": "expected netplan get to end well, found",
    "get_unreadable": "expected YAML from netplan get, found something else",
    "changed": "expected the netplan files to stay as they are during one look, found them changed",
}
_JSON_OBJECT = TypeAdapter(dict[str, Any])


def parse(text: str) -> tuple[NetplanFile, ...]:
    """Every file of the answer, in netplan's order; raises ValueError when the answer is not whole."""
    return files_of(answer_of(text))


def answer_of(text: str) -> dict[str, Any]:
    """The reader's answer; raises ValueError where it says that it could not look."""
    try:
        answer = _JSON_OBJECT.validate_python(json.loads(text))
    except (ValidationError, json.JSONDecodeError, RecursionError):
        raise ValueError("expected the reader's JSON, found something else") from None
    if failure := answer.get("failure"):
        raise ValueError(f"{FAILURES.get(failure, 'expected an answer, found')} {answer.get('code', '')}".strip())
    return answer


def files_of(answer: dict[str, Any]) -> tuple[NetplanFile, ...]:
    """Every file of the answer, in netplan's order."""
    last = {entry["path"].rpartition("/")[2]: entry["path"] for entry in answer["files"]}
    return _bound(tuple(_file(entry, last) for entry in answer["files"]))


def _file(entry: dict[str, Any], last: dict[str, str]) -> NetplanFile:
    path, directory, mode = entry["path"], Directory(entry["directory"]), entry.get("mode")
    name = path.rpartition("/")[2]
    tree = node_of(entry["tree"]) if entry.get("tree") else None
    return NetplanFile(
        path=path, directory=directory, name=name, mode=mode,
        owner=entry.get("owner"), group=entry.get("group"), size_bytes=entry.get("size"),
        content_digest=f"sha256:{entry['sha256']}" if "sha256" in entry else None,
        too_open=bool((mode or 0) & 0o077), durable=directory.survives_reboot,
        shadowed_by=last[name] if last[name] != path else None, renderer=renderer_of(tree),
        devices=devices_of(tree), error=_error(entry, tree),
    )  # fmt: skip


def _error(entry: dict[str, Any], tree: Node | None) -> NetplanFileError | None:
    if found := entry.get("error"):
        kind, code, line, column = (*found, None, None)[:4]
        reason = REASONS.get(code, f"expected to read it, found {code}")
        return NetplanFileError(kind=ErrorKind(kind), reason=reason, line=line, column=column)
    problem = next(schema.document(tree), None)
    if problem is None:
        return None
    reason = f"{problem.place}: {problem.reason}" if problem.place else problem.reason
    return NetplanFileError(kind=ErrorKind.REJECTED, reason=reason, line=problem.line)


def _network(tree: Node | None) -> tuple[tuple[str, Node], ...]:
    """The pairs under every `network:` of the file."""
    if tree is None:
        return ()
    return tuple(pair for key, node in named(tree) if key == "network" for pair in named(node))


def renderer_of(tree: Node | None) -> str | None:
    """The global renderer that a tree sets."""
    found = [text_of(node) for key, node in _network(tree) if key == "renderer"]
    return found[-1] if found else None


def devices_of(tree: Node | None) -> tuple[NetplanDevice, ...]:
    """One device per id, however often the file opens it (case 023)."""
    settings: dict[tuple[str, str], NetplanSettings] = {}
    errors: dict[tuple[str, str], list[Problem]] = {}
    lines: dict[tuple[str, str], int] = {}
    for section, node in _network(tree):
        for id, line, definition, renderer in _definitions(section, node):
            lines.setdefault((section, id), line)
            written = settings_of(section, definition)
            if (section, id) in settings:
                settings[section, id] = reopened(id, settings[section, id], written)
            else:
                settings[section, id] = merged(NetplanSettings(section_renderer=renderer), written)
            errors.setdefault((section, id), []).extend(
                schema.definition(section, definition, f"network.{section}.{id}")
            )
    return tuple(
        device_of(*key, written, tuple(errors[key])).model_copy(update={"line": lines[key]})
        for key, written in settings.items()
    )


def _definitions(section: str, node: Node) -> Iterator[tuple[str, int, Node, str | None]]:
    """Id, its line, definition and the section's renderer so far: it holds for the definitions after it."""
    if section not in SECTIONS or not isinstance(node, Mapping):
        return
    renderer: str | None = None
    for key, child in node.pairs:
        if not isinstance(key, Scalar):
            continue
        if key.text == "renderer":
            renderer = text_of(child)
        elif isinstance(child, Mapping):
            yield key.text or f"{REDACTED} line {key.line}", key.line, child, renderer


def _bound(files: tuple[NetplanFile, ...]) -> tuple[NetplanFile, ...]:
    """Definitions of one id bind what all of them together say."""
    whole = {id: binds(found.section, id, found.settings) for id, found in definitions(files).items()}
    return tuple(
        file if file.shadowed_by else file.model_copy(
            update={"devices": tuple(
                device.model_copy(update={"binds": whole[device.id]}) for device in file.devices
            )}
        )
        for file in in_netplan_order(files)
    )  # fmt: skip
