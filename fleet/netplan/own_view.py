"""Our reading of the netplan files, with netplan's own word on it."""

from typing import Any

from fleet.netplan.disagreement import Disagreement, disagreements
from fleet.netplan.effective import MergedNetplan, effective
from fleet.netplan.files import answer_of, devices_of, files_of, renderer_of
from fleet.netplan.records import ErrorKind
from fleet.netplan.tree import node_of, without_nulls
from fleet.record import Record

ACCEPTED, REFUSED = "accepted", "refused"


class Complaint(Record):
    """Why netplan takes none of the files. Its sentence may quote a secret, so only its place is known."""

    kind: ErrorKind
    path: str | None
    """The file it blames."""
    line: int | None
    column: int | None


class NetplanEffective(MergedNetplan):
    """All files as one by our reading, and where the netplan of this host reads them otherwise."""

    version: str | None
    """Of the package netplan.io, as `1.1.2-7`; None where dpkg knows of none."""
    complaint: Complaint | None
    """None where netplan takes the files."""
    disagreements: tuple[Disagreement, ...]
    """Empty where it means what we mean, or where it takes the files no more than we do."""


def parse(text: str) -> NetplanEffective:
    """The answer of `netplan_get`; raises ValueError when it is not whole."""
    answer = answer_of(text)
    ours = effective(files_of(answer))
    refused = answer.get("refused")
    complaint = None if refused is None else Complaint(**refused)
    return NetplanEffective(
        **{name: getattr(ours, name) for name in MergedNetplan.model_fields},
        version=answer["version"],
        complaint=complaint,
        disagreements=_accepted(ours, complaint) or _values(ours, answer),
    )


def _accepted(ours: MergedNetplan, complaint: Complaint | None) -> tuple[Disagreement, ...]:
    mine = ACCEPTED if ours.is_accepted else REFUSED
    theirs = ACCEPTED if complaint is None else REFUSED
    return () if mine == theirs else (Disagreement(id=None, key="accepted", ours=(mine,), netplan=(theirs,)),)


def _values(ours: MergedNetplan, answer: dict[str, Any]) -> tuple[Disagreement, ...]:
    """Nothing is compared where both refuse the files: neither has a whole view then."""
    if not ours.is_accepted:
        return ()
    tree = without_nulls(node_of(answer["merged"])) if answer["merged"] else None
    return disagreements(ours, renderer_of(tree), devices_of(tree))
