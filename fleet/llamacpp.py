"""The llama-servers of a host, by their own word, and the processes that lend their memory to one elsewhere. Pure.

Sources: llama.cpp's tools/server/README.md (2026-11), cases 098 and 100, field-notes "llama.cpp RPC", and answers of
a real one (build 11669, tests/captured/README.md).
"""

import json
import math
from typing import Annotated, Any, Literal

from fleet.exposition import parse_exposition
from fleet.processes import EngineProcess, EngineProcesses
from fleet.record import VOLATILE, Record, Unobserved
from fleet.said import Said, complaint, read

PROCESSING = "llamacpp:requests_processing"
DEFERRED = "llamacpp:requests_deferred"
DRAFTED = "llamacpp:spec_decode_num_draft_tokens_total"
ACCEPTED = "llamacpp:spec_decode_num_accepted_tokens_total"
NAMES = (PROCESSING, DEFERRED, DRAFTED, ACCEPTED)
"""Series that may leave a host."""

_RESIDENT = frozenset({"loaded", "loading"})
"""States in which a model of a router has memory: one that sleeps has given it back."""


class Slot(Record):
    """One request at a time."""

    id: int
    """Of its model."""
    model: str | None = None
    """Of a router, whose it is."""
    context: int | None
    """Tokens."""
    processing: Annotated[bool, VOLATILE]


class LlamaModel(Record):
    """One model that a server lists."""

    id: str
    aliases: tuple[str, ...] = ()
    """Names that it answers to besides its id."""
    status: Annotated[str | None, VOLATILE] = None
    """`loaded`, `loading`, `unloaded`, `sleeping` or `downloading`; None for a single server's, unless it sleeps."""
    failed: Annotated[bool, VOLATILE] = False
    """Did its last load fail?"""
    weights_bytes: int | None = None
    """Of its tensors, without context; None where the server does not say, as while it loads."""
    context: int | None = None
    """Tokens that one request of it can have; None where it is not loaded."""
    trained_context: int | None = None

    @property
    def is_resident(self) -> bool:
        """Listed is not resident: a router lists what it could load (cases/100)."""
        return self.status is None or self.status in _RESIDENT


class LlamaCounts(Record):
    """What a server counts, where it was started with --metrics."""

    processing: Annotated[int | None, VOLATILE] = None
    deferred: Annotated[int | None, VOLATILE] = None
    drafted_tokens: Annotated[int | None, VOLATILE] = None
    accepted_tokens: Annotated[int | None, VOLATILE] = None


class LlamaServer(Record):
    """One llama-server, and what it says of itself."""

    endpoint: str | None
    """Where a client on its host reaches it; None where it listens nowhere yet."""
    pid: int | None = None
    container_id: str | None = None
    health: Annotated[Literal["ok", "loading", "error"] | Unobserved, VOLATILE]
    """`ok` may come seconds before a completion does (cases/098)."""
    mode: Literal["single", "router"] | Unobserved
    build: str | None = None
    """`b8681-…`: every host of a model that is spread needs the same."""
    context_per_slot: int | None = None
    """Tokens that one request can have: the whole context divided by the slots, or, where it is `kv-unified` (so when
    their number is not given), all of it for each, and then no more for all together."""
    total_slots: int | None = None
    sleeping: Annotated[bool | None, VOLATILE] = None
    """Does it sleep since nobody asked? Then its memory is given back."""
    models: tuple[LlamaModel, ...] | Unobserved
    slots: tuple[Slot, ...] | Unobserved
    """Not asked of one that may sleep when idle: the look would wake it, or keep it awake."""
    counts: LlamaCounts | Unobserved

    @property
    def is_idle(self) -> bool | Unobserved:
        """Is no request at work? By its slots, else by what it counts."""
        if not isinstance(self.slots, Unobserved):
            return not any(slot.processing for slot in self.slots)
        if isinstance(self.counts, Unobserved) or self.counts.processing is None:
            return self.slots
        return self.counts.processing == 0 and not self.counts.deferred


class Props(Record):
    """How a server serves, of its /props; a field that is of another kind makes all of it unknown."""

    role: str | None = None
    model_path: str | None = None
    model_alias: str | None = None
    total_slots: int | None = None
    build_info: str | None = None
    n_ctx: int | None = None
    is_sleeping: bool | None = None


class LlamaCpp(Record):
    """Every llama-server of a host, and every process that lends its memory by RPC."""

    servers: tuple[LlamaServer, ...] = ()
    rpc: tuple[EngineProcess, ...] = ()


def parse_llamacpp(text: str) -> LlamaCpp:
    """From the JSON of a look; raises ValueError where it could not look."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    lenders = EngineProcesses.model_validate({"processes": found["lenders"]})
    return LlamaCpp(servers=tuple(_server(each) for each in found["servers"]), rpc=lenders.processes)


def _server(found: dict[str, Any]) -> LlamaServer:
    said: Said = found["said"]
    props = read("/props", said, Props.model_validate)
    known = Props() if isinstance(props, Unobserved) else props
    sleeps = bool(known.is_sleeping)
    models = read("/models", said, lambda listed: tuple(_model(each, sleeps) for each in listed))
    return LlamaServer(
        endpoint=found["endpoint"],
        pid=found["pid"],
        container_id=found["container_id"],
        health=_health(said["/health"]),
        mode=_mode(said, known),
        build=known.build_info,
        context_per_slot=known.n_ctx or None,
        total_slots=known.total_slots,
        sleeping=known.is_sleeping,
        models=models,
        slots=read("/slots", said, lambda listed: tuple(map(_slot, listed))),
        counts=_counts(said),
    )


def _model(found: dict[str, Any], sleeps: bool) -> LlamaModel:
    """A single server has but one model: that sleeps when it does, and is listed with all its weights."""
    return LlamaModel(
        id=found["id"],
        aliases=tuple(each for each in found["aliases"] if each != found["id"]),
        status=found["status"] or ("sleeping" if sleeps else None),
        failed=found["failed"],
        weights_bytes=found["size"],
        context=found["n_ctx"],
        trained_context=found["n_ctx_train"],
    )


def _slot(found: dict[str, Any]) -> Slot:
    return Slot(
        id=found["id"], model=found.get("model"), context=found["n_ctx"], processing=found["is_processing"]
    )  # fmt: skip


def _health(answer: dict[str, Any]) -> Literal["ok", "loading", "error"] | Unobserved:
    """503 is a model that loads, and no fault; one that does not know the path says nothing of its health."""
    status = answer.get("status", 0)
    words: dict[int, Literal["ok", "loading"]] = {200: "ok", 503: "loading"}
    if status in words:
        return words[status]
    return "error" if status >= 500 else Unobserved(reason=f"/health: {complaint(answer)}")


def _mode(said: Said, props: Props) -> Literal["single", "router"] | Unobserved:
    """A router says so, gives each model a status, or has none to list; a single server always lists its own."""
    if props.role == "router":
        return "router"
    statuses = read("/models", said, lambda listed: [each["status"] for each in listed])
    if isinstance(statuses, Unobserved):
        return statuses
    return "router" if not statuses or statuses[0] is not None else "single"


def _counts(said: Said) -> LlamaCounts | Unobserved:
    samples = read("/metrics", said, parse_exposition)
    if isinstance(samples, Unobserved):
        off = said["/metrics"].get("status") == 501
        return Unobserved(reason="/metrics: it was not started with --metrics") if off else samples
    values: dict[str, int] = {}
    for sample in samples:
        if math.isfinite(sample.value):
            values[sample.name] = values.get(sample.name, 0) + int(sample.value)
    return LlamaCounts(
        processing=values.get(PROCESSING),
        deferred=values.get(DEFERRED),
        drafted_tokens=values.get(DRAFTED),
        accepted_tokens=values.get(ACCEPTED),
    )
