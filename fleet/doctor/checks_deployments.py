"""Checks of what a roster says shall be served: what its own clients would undo. No host is asked."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Site, SiteCheck
from fleet.doctor.finding import Level
from fleet.ollama.deployment import OllamaDeployment
from fleet.roster import Roster

_ANY = frozenset({"0.0.0.0", "[::]"})


def _serving(roster: Roster) -> Iterator[tuple[str, str, OllamaDeployment]]:
    for name, deployment in sorted(roster.deployments.items()):
        yield name, deployment.spark, deployment.ollama


def _undeclared_memory(asked: Site) -> Iterator[Found]:
    for name, spark, ollama in _serving(asked.roster):
        if ollama.residents and not ollama.demands:
            yield Found(f"deployments.{name}.ollama.models", "memory for each resident", "none", host=spark,
                        fix=f"sparks fit {spark}")  # fmt: skip


def _keep_alive(asked: Site) -> Iterator[Found]:
    for name, spark, ollama in _serving(asked.roster):
        setting = ollama.environment.get("OLLAMA_KEEP_ALIVE")
        if any(pin.keep.seconds is None for pin in ollama.residents) and not (setting or "").startswith("-"):
            yield Found(
                f"deployments.{name}.ollama.environment.OLLAMA_KEEP_ALIVE", "-1, since a resident is kept forever",
                setting or "none, which is 5m", '"OLLAMA_KEEP_ALIVE": "-1" there', spark,
            )  # fmt: skip
        for pin in ollama.residents:
            if pin.keep.seconds is not None:
                yield Found(f"deployments.{name}.ollama.residents {pin.model}", "kept forever", f"kept {pin.keep}",
                            '"keep_alive": "forever" there', spark, Level.INFO)  # fmt: skip


def _context(asked: Site) -> Iterator[Found]:
    for name, spark, ollama in _serving(asked.roster):
        setting = ollama.environment.get("OLLAMA_CONTEXT_LENGTH")
        for pin in ollama.residents:
            if setting != str(pin.context):
                yield Found(
                    f"deployments.{name}.ollama.environment.OLLAMA_CONTEXT_LENGTH",
                    f"{pin.context}, the context of {pin.model}", setting or "none", host=spark,
                    fix=f'"OLLAMA_CONTEXT_LENGTH": "{pin.context}" there',
                )  # fmt: skip


def _open(asked: Site) -> Iterator[Found]:
    for name, spark, ollama in _serving(asked.roster):
        if ollama.listen.rpartition(":")[0] in _ANY:
            yield Found(f"deployments.{name}.ollama.listen", "one address", f"{ollama.listen}: every one of the host",
                        host=spark)  # fmt: skip


DEPLOYMENTS: tuple[SiteCheck, ...] = (
    SiteCheck(
        id="roster.memory_undeclared",
        level=Level.INFO,
        looks_for="A deployment with residents that says nothing of the memory they need.",
        why="Then nothing is held against what is free, and a load that does not fit is found out by loading it.",
        fix="Declare `memory` for each model: ../memory.md.",
        find=_undeclared_memory,
    ),
    SiteCheck(
        id="roster.keep_alive",
        level=Level.WARN,
        looks_for="Residents that shall stay loaded under an Ollama whose own time to keep a model is finite.",
        why="Each request of a client without a `keep_alive` sets the model's time to Ollama's own: five minutes after "
        "the last one it is evicted, and the next client waits for a load.",
        fix='Set `"OLLAMA_KEEP_ALIVE": "-1"` in the deployment\'s environment.',
        find=_keep_alive,
    ),
    SiteCheck(
        id="roster.context",
        level=Level.WARN,
        looks_for="A resident whose context is not the default of its Ollama.",
        why="A request of a client without `num_ctx` asks for the default, and Ollama loads the model again with that: "
        "the resident is evicted by its own client.",
        fix="Set `OLLAMA_CONTEXT_LENGTH` to the context of the resident.",
        find=_context,
    ),
    SiteCheck(
        id="roster.listen_open",
        level=Level.INFO,
        looks_for="An Ollama that listens on every address of its host.",
        why="It asks nobody who they are: who reaches the host can load, unload and delete models.",
        fix="Listen on the address that clients use, or let a firewall admit them alone.",
        find=_open,
    ),
)
