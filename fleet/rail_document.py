"""Is a rail end durable: by its document under /etc/netplan, byte for byte, or by an adopted file that says it too."""

from collections.abc import Iterable
from typing import Literal

from fleet.adopted import adopted_files, in_the_way, kept_by
from fleet.connections import Connections
from fleet.desired import DesiredEnd
from fleet.foreign import undeclared_on
from fleet.links import Link, find_link
from fleet.netplan.device import NetplanFile
from fleet.netplan.document import NetplanDocument, rail_document
from fleet.observation import Observation, known
from fleet.port import port_missing
from fleet.refusal import Refusal
from fleet.step import Effect, Step


class WriteDocument(Step):
    """Make one netplan document durable."""

    kind: Literal["write_document"] = "write_document"
    effect: Effect = Effect.WRITE
    document: NetplanDocument


def document_for(end: DesiredEnd) -> NetplanDocument:
    """The document that makes a rail end durable."""
    return rail_document(end.spark, end.interface, end.address, end.mtu, end.routes)


def document_step(end: DesiredEnd, seen: Observation) -> WriteDocument | Refusal | None:
    """What makes the end durable: a step, None when it is, or why it must not be touched.

    A port that an adopted file keeps needs no document.
    """
    if blind := seen.unobserved("netplan", "links", "connections"):
        return blind
    files, links, connections = known(seen.netplan), known(seen.links), known(seen.connections)
    document = document_for(end)
    refusal = (
        port_missing(end, seen)
        or unreadable(end.spark, files)
        or undeclared_on(end.spark, end.interface, end.declared, True, seen)
        or next(iter(adopted_files(end.spark, end.declared, seen)), None)
    )
    kept = refusal or kept_by(end, seen)
    if kept is not None:
        return kept if isinstance(kept, Refusal) else in_the_way(end, seen)
    found = next((file for file in files if file.path == document.path), None)
    if found is not None and is_durable(found, document):
        return None
    return WriteDocument(
        subject=f"{end.spark} {document.path}",
        before=shown_file(found),
        after=f"{document.content_digest} {document.mode:04o} root",
        reason=_why(end, links, connections),
        document=document,
    )


def unreadable(spark: str, files: Iterable[NetplanFile]) -> Refusal | None:
    """Netplan reads all of a directory or nothing: one bad file stops every other, a foreign one too."""
    bad = next((file for file in files if file.error is not None and file.shadowed_by is None), None)
    if bad is None:
        return None
    return Refusal(
        code="netplan_unreadable",
        subject=f"{spark} {bad.path}",
        expected="a file that netplan can read",
        found=str(bad.error),
        hint="mend or move that file; netplan refuses the whole directory for it",
    )


def is_durable(found: NetplanFile, document: NetplanDocument) -> bool:
    """Is the file the document, byte for byte, private, and root's?"""
    is_private = found.mode == document.mode and found.owner == "root"
    return is_private and found.content_digest == document.content_digest


def shown_file(found: NetplanFile | None) -> str:
    """A file in a step's `before`."""
    if found is None:
        return "absent"
    mode = "unreadable" if found.mode is None else f"{found.mode:04o}"
    return f"{found.content_digest} {mode} {found.owner}"


def _why(end: DesiredEnd, links: tuple[Link, ...], connections: Connections) -> str:
    """Says so where the address works today: that is what people believe to be enough."""
    link = find_link(links, end.interface)
    works = link is not None and link.has_address(end.address)
    if works and not connections.keeps_address(end.interface, end.address):
        return f"{end.address} is on {end.interface} but not durable: it is lost at the next power cycle"
    return f"{end.address} on {end.interface} must survive a power cycle"
