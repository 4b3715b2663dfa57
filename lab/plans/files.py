"""Plans and observations as files: written whole and private, and read back only as what was written."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fleet.plan import Plan
from fleet.record import Record, canonical_json, sha256_digest
from fleet.roster_error import sentence_of
from lab.command import Failed
from lab.output import put
from lab.plans.documents import Collection, CollectionDocument, PlanDocument

T = TypeVar("T", bound=Record)


def text_of(document: Record) -> str:
    """A document as JSON that people can read."""
    return json.dumps(document.to_json(), indent=2) + "\n"


def write(path: str, document: Record) -> None:
    """Make it the whole content of a file that only its owner may read: it tells much of a lab. Raises Failed."""
    put(path, text_of(document), 0o600)


def read_plan(path: str) -> Plan:
    """The plan in a file; raises Failed for one that is no plan, is not whole, or was changed."""
    document, _ = _read(path, PlanDocument)
    if document.plan is None:
        raise Failed(f"{path}: plan: expected a plan, found that it was refused")
    _is_as_written(f"{path}: plan_digest", str(document.plan_digest), document.plan.digest)
    if document != PlanDocument.of(document.plan):
        raise Failed(f"{path}: expected what is said of the plan to be so, found due {document.due} and "
                     f"{len(document.refusals)} refusals")  # fmt: skip
    return document.plan


def read_collection(path: str) -> Collection:
    """What was seen, from a file; raises Failed for one that is no observation, is not whole, or was changed.

    The digest is of what the file says: one that was written before there was a section is as whole as it was.
    """
    document, written = _read(path, CollectionDocument)
    found = sha256_digest(canonical_json(written["collection"]).encode())
    _is_as_written(f"{path}: collection_digest", document.collection_digest, found)
    return document.collection


def read_record(path: str, kind: type[T]) -> T:
    """A document of somebody else, from a file; raises Failed for one that is none, with each field that is wrong."""
    return _read(path, kind)[0]


def _is_as_written(place: str, said: str, found: str) -> None:
    if said != found:
        raise Failed(f"{place}: expected {found}, which its content has, found {said}")


def _read(path: str, kind: type[T]) -> tuple[T, Any]:
    """The document in a file, and the plain JSON that it was read from."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        written = json.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "other bytes"
        raise Failed(f"{path}: expected a file with JSON, found {found}") from error
    except json.JSONDecodeError as error:
        raise Failed(f"{path}:{error.lineno}:{error.colno}: expected JSON, found {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise Failed(f"{path}: expected JSON as this program writes it, found {error}") from error
    try:
        return kind.from_canonical(text), written
    except ValidationError as error:
        lines = (f"{path}: {_complaint(each)}" for each in error.errors(include_url=False))
        raise Failed("\n".join(lines)) from error


def _complaint(detail: ErrorDetails) -> str:
    """The place of a field, what was expected there and what was found."""
    place = ".".join(map(str, detail["loc"])) or "all of it"
    if detail["type"] == "union_tag_invalid":
        return f"{place}.kind: expected one of {detail['ctx']['expected_tags']}, found {detail['ctx']['tag']!r}"
    return f"{place}: {sentence_of(detail)}"
