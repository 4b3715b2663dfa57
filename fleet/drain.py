"""What a drain has found: no request ran on one exact process for a while, or why that cannot be said. Pure."""

import json
from enum import StrEnum

from fleet.desired import DesiredSpark
from fleet.invocation import Invocation
from fleet.record import Record
from fleet.refusal import Refusal


class End(StrEnum):
    """How the waiting ended."""

    QUIET = "quiet"
    """No request ran for as long as was asked."""
    TIMEOUT = "timeout"
    GONE = "gone"
    """The process ended meanwhile: another one may serve by now."""
    NOTHING = "nothing"
    """The unit has no process."""


class Waiting(Record):
    """One look of the waiting."""

    quiet_seconds: float
    """Since something last went on, as far as was looked."""
    activity: tuple[str, ...] = ()
    """What goes on, or has since the look before: `2 may run, from 10.0.0.9`."""
    models: tuple[str, ...] | None = None
    """What is loaded; None where the server did not say."""


class Drain(Record):
    """How a drain of one host ended."""

    host: str
    end: End
    invocation: Invocation | None = None
    """The exact process that it is about."""
    quiet_seconds: float = 0
    activity: tuple[str, ...] = ()
    """What still went on at the end."""
    models: tuple[str, ...] | None = ()
    """What it had loaded at the end of the waiting; None where the server did not say."""
    unloaded: tuple[str, ...] = ()
    told_by_ss: bool = True
    """Could the kernel be asked which connections are idle? Else each that is up may carry a request."""

    @property
    def instrument(self) -> str:
        """What was asked whether a request runs; the engine itself has no metric of it."""
        connections = "established connections" + (" and what went over them last (ss)" if self.told_by_ss else "")
        return connections + ("" if self.models is None else ", expiry of loaded models (/api/ps)")

    def __str__(self) -> str:
        process = f"{self.host}: {self.invocation}" if self.invocation else self.host
        match self.end:
            case End.QUIET:
                gone = f"; unloaded {', '.join(self.unloaded)}" if self.unloaded else ""
                return f"{process}: no request ran for {self.quiet_seconds:g} s{gone}"
            case End.NOTHING:
                return f"{process}: no process of Ollama runs, so nothing is served"
            case End.GONE:
                return f"{process}: expected it to live while it was drained, found it ended"
            case End.TIMEOUT:
                left = "; ".join(self.activity) or f"quiet for {self.quiet_seconds:g} s only"
                return f"{process}: expected no request in time, found {left}"


def nothing_to_drain(desired: DesiredSpark) -> Refusal | None:
    """A refusal for a Spark that serves nothing; None for one that serves, or that shall no more."""
    if desired.ollama is not None or desired.retirement is not None:
        return None
    expected, found = "a deployment of the roster to serve there", "none"
    return Refusal(code="nothing_to_drain", subject=desired.name, expected=expected, found=found)


def read_waiting(text: str) -> Waiting | None:
    """A look of the waiting from its line; None for the last line. Raises ValueError with what went wrong there."""
    found = _object(text)
    return None if "end" in found else Waiting(**found)


def read_drain(host: str, text: str) -> Drain:
    """The end from the last line; raises ValueError with what went wrong on the host."""
    return Drain(host=host, **_object(text))


def _object(text: str) -> dict[str, object]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    if "error" in found:
        raise ValueError(found["error"])
    return found
