"""The vLLM servers of a host, by their own word. Pure.

Each answer is a value or why there is none: where a server asks for a key, nobody saw its models (cases/096).
"""

import json
from typing import Annotated, Any

from fleet.record import VOLATILE, Record, Unobserved
from fleet.said import Said, as_text, as_truth, complaint, read
from fleet.vllm_metrics import NOT_COUNTED, VllmMetrics, parse_metrics


class ServedModel(Record):
    """One model that is loaded, under each name that it answers to."""

    names: tuple[str, ...]
    """`--served-model-name`, the first being the one that metrics carry."""
    root: str | None
    """Where its weights come from: a repository, or a path as the server sees it; None where it does not say."""
    max_model_len: int | None


class Adapter(Record):
    """A LoRA adapter on top of a model."""

    name: str
    root: str | None
    parent: str
    """A *name* of the model that it is for."""


class VllmModels(Record):
    """What a server answers for: models, and adapters that are no models of their own (cases/091)."""

    models: tuple[ServedModel, ...]
    adapters: tuple[Adapter, ...] = ()


class VllmServer(Record):
    """One server, and what it says of itself."""

    endpoint: str | None
    """Where a client on its host reaches it; None where it listens nowhere yet, as while it loads."""
    pid: int | None = None
    """None where only its address was known."""
    container_id: str | None = None
    healthy: Annotated[bool | Unobserved, VOLATILE]
    """/health: also true for minutes after a rank has died, and while it sleeps; only a completion proves more."""
    version: str | Unobserved
    models: VllmModels | Unobserved
    sleeping: Annotated[bool | Unobserved, VOLATILE]
    metrics: VllmMetrics | Unobserved

    @property
    def is_idle(self) -> bool | Unobserved:
        """Is no request running or waiting? Unobserved where nobody counts."""
        if isinstance(self.metrics, Unobserved):
            return self.metrics
        requests = self.metrics.requests
        return Unobserved(reason="the server does not count its requests") if requests is None else requests == 0


def parse_models(listed: list[dict[str, Any]]) -> VllmModels:
    """From the entries of /v1/models; raises ValueError or KeyError for what is none.

    Entries of one root are one model under several names; an entry with a parent is an adapter of it.
    """
    names: dict[tuple[str, int | None], list[str]] = {}
    adapters = []
    for entry in listed:
        root, parent = entry.get("root"), entry.get("parent")
        if parent is not None:
            adapters.append(Adapter(name=entry["id"], root=root, parent=parent))
            continue
        key = (root if root is not None else f"\0{entry['id']}", entry.get("max_model_len"))
        names.setdefault(key, []).append(entry["id"])
    models = (
        ServedModel(names=tuple(found), root=None if root.startswith("\0") else root, max_model_len=length)
        for (root, length), found in names.items()
    )
    return VllmModels(models=tuple(models), adapters=tuple(adapters))


def parse_servers(text: str) -> tuple[VllmServer, ...]:
    """From the JSON of a look; raises ValueError where it could not look."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    return tuple(_server(each) for each in found["servers"])


def _server(found: dict[str, Any]) -> VllmServer:
    said = found["said"]
    metrics = _metrics(said)
    return VllmServer(
        endpoint=found["endpoint"],
        pid=found["pid"],
        container_id=found["container_id"],
        healthy=_healthy(said),
        version=read("/version", said, as_text),
        models=read("/v1/models", said, parse_models),
        sleeping=_sleeping(said, metrics),
        metrics=metrics,
    )


def _healthy(said: Said) -> bool | Unobserved:
    answer = said["/health"]
    if answer.get("status") in (200, 503):
        return bool(answer["status"] == 200)
    return Unobserved(reason=f"/health: {complaint(answer)}")


def _sleeping(said: Said, metrics: VllmMetrics | Unobserved) -> bool | Unobserved:
    """By /is_sleeping, which is there in development mode alone (404 elsewhere); else by what it counts."""
    asked = read("/is_sleeping", said, as_truth)
    if isinstance(asked, Unobserved) and isinstance(metrics, VllmMetrics) and metrics.sleeping is not None:
        return metrics.sleeping
    return asked


def _metrics(said: Said) -> VllmMetrics | Unobserved:
    found = read("/metrics", said, parse_metrics)
    return Unobserved(reason=f"/metrics: {found.reason}") if found == NOT_COUNTED else found
