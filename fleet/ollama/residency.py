"""The models that are loaded now: where, with which context, and for how long."""

import json
import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from fleet.ollama.store import listed, sha256_of
from fleet.record import VOLATILE, Record, told

FOREVER_SECONDS = 100 * 365 * 86400
"""`keep_alive: -1` ends 292 years after each request (Go's longest duration): never compare that time."""
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|([+-])(\d\d):(\d\d))")


class Resident(Record):
    """One loaded model. All but which one it is settles while it loads, and with requests of clients."""

    name: str
    manifest_digest: str
    size_bytes: Annotated[int, VOLATILE]
    """What it takes, weights and context together; 0 while it loads."""
    size_vram_bytes: Annotated[int, VOLATILE]
    """How much of that the GPU holds."""
    context_length: Annotated[int | None, VOLATILE]
    """Tokens of context of each slot; None where the server does not say (before v0.12, or while loading)."""
    keep: Annotated[Literal["forever", "until", "unset"], VOLATILE]
    """`unset` is Go's zero time, from a server that has not set it yet: not expired."""
    seconds_left: Annotated[int | None, VOLATILE] = None
    """Until it goes unused, at the time of the look; rolls with each request."""

    @property
    def is_loading(self) -> bool:
        """Listed is not ready: the server does not know its size or its end yet."""
        return self.size_bytes == 0 or self.keep == "unset"

    @property
    def processor(self) -> str:
        """`100% GPU`, `100% CPU` or `52%/48% CPU/GPU`, as `ollama ps` words it."""
        if self.size_bytes == 0 or self.size_vram_bytes > self.size_bytes:
            return "Unknown"
        if self.size_vram_bytes == 0:
            return "100% CPU"
        if self.size_vram_bytes == self.size_bytes:
            return "100% GPU"
        share = Decimal(self.size_bytes - self.size_vram_bytes) / self.size_bytes * 100
        cpu = int(share.quantize(Decimal(1), rounding=ROUND_HALF_UP))
        return f"{cpu}%/{100 - cpu}% CPU/GPU"

    @property
    def is_on_cpu(self) -> bool:
        """The CPU computes some of it. On a Spark's unified memory that is a fault, not lack of memory."""
        return "CPU" in self.processor


def _by_name(residents: tuple[Resident, ...]) -> tuple[Resident, ...]:
    return tuple(sorted(residents, key=lambda resident: (resident.name, resident.manifest_digest)))


class Residency(Record):
    """Every loaded model, by name."""

    source: Literal["api", "stopped"]
    """`stopped`: no server runs, so nothing is loaded."""
    endpoint: str | None = None
    residents: Annotated[tuple[Resident, ...], AfterValidator(_by_name)] = ()

    def resident(self, name: str) -> Resident | None:
        """The loaded model of that name, or None where there is none."""
        return next((resident for resident in self.residents if resident.name == name), None)


def parse_residents(text: str, now_seconds: int) -> tuple[Resident, ...]:
    """The loaded models in an answer of /api/ps that came at `now_seconds` since 1970; raises ValueError."""
    return tuple(resident_of(each, now_seconds) for each in listed(text))


def resident_of(found: dict[str, Any], now_seconds: int) -> Resident:
    """The loaded model of one entry of /api/ps; raises ValueError or KeyError."""
    keep, seconds_left = _kept(found["expires_at"], now_seconds)
    return Resident(
        name=found["name"],
        manifest_digest=sha256_of(found["digest"]),
        size_bytes=found["size"],
        size_vram_bytes=found.get("size_vram", 0),
        context_length=found.get("context_length") or None,
        keep=keep,
        seconds_left=seconds_left,
    )


def _kept(expires_at: str, now_seconds: int) -> tuple[Literal["forever", "until", "unset"], int | None]:
    expires = parse_time(expires_at)
    if expires is None:
        return "unset", None
    left = expires - now_seconds
    return ("forever", None) if left > FOREVER_SECONDS else ("until", max(left, 0))


def parse_time(text: str) -> int | None:
    """Whole seconds since 1970 of a time as Go writes it; None for Go's zero time; raises ValueError.

    Not `datetime.fromisoformat`: nanoseconds, and years that a shift to UTC would take out of its range.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a time as 2026-11-29T16:15:00.5Z, found {text!r:.60}")
    local = datetime(*(int(part) for part in match.groups()[:6]))  # type: ignore[arg-type]
    if local.year == 1:
        return None
    offset = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0))
    since = local - datetime(1970, 1, 1)
    return int((since + offset if match[8] == "-" else since - offset).total_seconds())


def parse_residency(text: str) -> Residency:
    """The residency from the JSON of a look at it; raises ValueError."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    if found["source"] == "stopped":
        return Residency(source="stopped")
    try:
        residents = parse_residents(found["body"], found["now"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"ollama {found['endpoint']}: {told(error)}") from error
    return Residency(source="api", endpoint=found["endpoint"], residents=residents)
