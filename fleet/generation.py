"""The stamp on a host: which plan was last carried out there, and which processes that left running. Pure.

It is evidence, never a step: a Spark that was found as desired gets none, and planning does not ask for one.
"""

import json
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from fleet.instant import Instant
from fleet.invocation import Invocation
from fleet.record import Digest, Record, Unobserved
from fleet.target import Scope

HOME = "/var/lib/sparks"
STAMP = f"{HOME}/generation.json"
BEGUN = f"{HOME}/generation.begun"
"""There while a run acts: what was killed, or cut off by a power cycle, is told from what came to its end."""


class Begun(Record):
    """A run that has begun to act on a host, and what it carries out."""

    plan: Digest
    """The plan that was approved."""
    desired: Digest
    """Of what the roster says of this host (`DesiredSpark`)."""
    scope: Scope
    at: Instant
    """By the controller's clock."""


class Generation(Begun):
    """A plan that was carried out to its end on a host."""

    invocations: tuple[Invocation, ...] = ()
    """What was left running, one for each runtime that serves."""

    def invocation(self, runtime: str) -> Invocation | None:
        """The process of a runtime that was left running."""
        return next((each for each in self.invocations if each.runtime == runtime), None)

    @property
    def text(self) -> str:
        """The exact content of `STAMP`: JSON that people can read."""
        return json.dumps(self.to_json(), indent=2, sort_keys=True) + "\n"


class Stamp(Record):
    """What is on a host of its generation."""

    generation: Generation | Unobserved | None
    """None where no run of ours has come to its end here; Unobserved where what is there cannot be read."""
    begun: Begun | Unobserved | None = None
    """None where no run is at work, or was cut off."""

    @property
    def known(self) -> Generation | None:
        """The generation where it can be read."""
        return self.generation if isinstance(self.generation, Generation) else None


class Origin(StrEnum):
    """Where a running process comes from, held against the stamp."""

    STARTED = "the process that was left running"
    BOOTED = "the same program, started again by the host's boot"
    RESTARTED = "the same program, restarted since by itself"
    ANOTHER = "another program than the one that was left running"
    UNSTAMPED = "a process that no run of ours has started"


def origin(running: Invocation, stamp: Stamp) -> Origin:
    """Where a running process comes from."""
    left = None if stamp.known is None else stamp.known.invocation(running.runtime)
    if left is None:
        return Origin.UNSTAMPED
    if running.is_process(left) and running.is_program(left):
        return Origin.STARTED
    if not running.is_program(left):
        return Origin.ANOTHER
    return Origin.RESTARTED if running.boot_id == left.boot_id else Origin.BOOTED


def parse_stamp(text: str) -> Stamp:
    """From the JSON of a look at both files; raises ValueError where they could not be looked at."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    return Stamp(generation=_record(Generation, STAMP, found["stamp"]), begun=_record(Begun, BEGUN, found["begun"]))


def _record(kind: Any, path: str, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return kind.from_canonical(text)
    except ValidationError:
        return Unobserved(reason=f"{path}: expected a stamp of ours, found something else")
