"""One line of a receipt: canonical JSON, sealed by its own digest and chained to the line before it."""

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Self

from pydantic import Field, GetJsonSchemaHandler, SerializeAsAny, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from fleet.instant import Instant
from fleet.receipt import acts, events
from fleet.receipt.events import Event
from fleet.record import Digest, Record, canonical_json, sha256_digest

EVENTS: Mapping[str, type[Event]] = MappingProxyType({
    each.event: each
    for each in (
        events.Opened, events.Approved, events.HostConnected, events.Note, events.Drift, events.Interrupted,
        events.Closed, acts.OperationBegun, acts.OperationDone, acts.OperationFailed, acts.StepBegun, acts.StepDone,
        acts.Readback, acts.Replan, acts.Health, acts.Drained, acts.Admitted, acts.Evidenced, acts.Refuted,
    )
})  # fmt: skip
"""Every event by its name. The set is closed: what is not here is no line of ours."""


class Said(Record):
    """One event, when it was said, and its place in the chain."""

    seq: int = Field(ge=0)
    """Its number in the receipt, from 0."""
    at: Instant
    """By the controller's clock, which may jump: only `seq` orders lines."""
    event: str
    data: SerializeAsAny[Event]
    prev: Digest | None
    """The seal of the line before; of the first line, that of the receipt before it in the folder as it then stood."""

    @model_validator(mode="before")
    @classmethod
    def _typed(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or isinstance(values.get("data"), Event):
            return values
        event = EVENTS.get(str(values.get("event")))
        if event is None:
            raise ValueError(f"event: expected one of {', '.join(EVENTS)}, found another")
        return {**values, "data": event.model_validate(values.get("data"))}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema says which data each event has."""
        reference = handler(core)
        schema = handler.resolve_ref_schema(reference)
        schema["properties"]["data"] = {"type": "object"}
        schema["oneOf"] = [
            {"properties": {"event": {"const": name}, "data": handler(event.__pydantic_core_schema__)}}
            for name, event in EVENTS.items()
        ]
        return reference

    @model_validator(mode="after")
    def _of_one_event(self) -> Self:
        if self.data.event != self.event:
            raise ValueError(f"data: expected those of {self.event}, found those of {self.data.event}")
        return self


class Line(Said):
    """One event with its seal, as it stands in the file of a receipt."""

    seal: Digest
    """The digest of all the rest of this line in canonical JSON."""

    @model_validator(mode="after")
    def _sealed(self) -> Self:
        content = {name: value for name, value in self.to_json().items() if name != "seal"}
        if self.seal != sha256_digest(canonical_json(content).encode()):
            raise ValueError("the seal of another content")
        return self

    @property
    def text(self) -> str:
        """As it stands in the file, with its end."""
        return self.canonical + "\n"


def sealed(seq: int, at: datetime, data: Event, prev: str | None) -> Line:
    """The line that says an event; half of a pair, as in a file's name that is no UTF-8, is said as `?`."""
    text = json.dumps(data.to_json(), ensure_ascii=False).encode("utf-8", "replace")
    said = Said(seq=seq, at=at, event=data.event, data=type(data).model_validate_json(text), prev=prev)
    return Line(**dict(said), seal=said.digest)


def read_line(content: bytes) -> Line | str:
    """The line in some bytes without their newline, or in a few words why they are none."""
    try:
        line = Line.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        sentence = str(first.get("ctx", {}).get("error", first["msg"]))
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {sentence}" if place else sentence
    return line if line.canonical.encode() == content else "the same in another spelling"
