"""Which processes are one resident's, and what its engine says of it. Pure."""

from collections.abc import Iterator
from typing import TypeVar

from fleet.candidate.identity import Runtime
from fleet.llamacpp import LlamaCpp, LlamaServer
from fleet.observation import Observation
from fleet.ollama.residency import Resident as Loaded
from fleet.ollama.servers import OllamaServer
from fleet.processes import EngineProcess, EngineProcesses, Role
from fleet.record import Digest, Record, Unobserved
from fleet.vllm import VllmServer

S = TypeVar("S", OllamaServer, VllmServer, LlamaServer)


class Group(Record):
    """Processes that are one resident's, and the engine's word of it."""

    name: str
    runtime: Runtime
    root: EngineProcess
    """The process that stands for them: its unit, container and executable are theirs."""
    processes: tuple[EngineProcess, ...]
    """Empty where they cannot be told from those of another model."""
    said_bytes: int | Unobserved | None = None
    """None where its engine has no such word."""
    covers: str | None = None
    version: str | None = None
    artifact_digest: Digest | None = None
    context: int | None = None


def groups(seen: Observation, processes: EngineProcesses) -> Iterator[Group]:
    """Every engine process is in exactly one of them."""
    for root in processes.roots:
        if root.runtime == "ollama":
            yield from _ollama(root, processes, _said(seen.ollama_servers, root, processes))
        elif root.runtime == "vllm":
            yield _vllm(root, processes, _said(seen.vllm, root, processes))
        elif root.role == "rpc":
            yield _rest("rpc-server", Runtime.LLAMA_CPP_RPC, root, processes.below(root))
        else:
            servers = seen.llamacpp.servers if isinstance(seen.llamacpp, LlamaCpp) else seen.llamacpp
            yield from _llama(root, processes, _said(servers, root, processes))


def _said(servers: tuple[S, ...] | Unobserved, root: EngineProcess, processes: EngineProcesses) -> S | Unobserved:
    """What the server among these processes said; of several that share a port, one speaks for all."""
    if isinstance(servers, Unobserved):
        return servers
    pids = {each.pid for each in processes.below(root)}
    return next((each for each in servers if each.pid in pids), Unobserved(reason="no server of it was asked"))


def _rest(name: str, runtime: Runtime, root: EngineProcess, processes: tuple[EngineProcess, ...]) -> Group:
    return Group(name=name, runtime=runtime, root=root, processes=processes)


def _ollama(root: EngineProcess, processes: EngineProcesses, said: OllamaServer | Unobserved) -> Iterator[Group]:
    loaded = said if isinstance(said, Unobserved) else said.residents
    below = processes.below(root)
    if isinstance(loaded, Unobserved):
        yield _rest(_title(root), Runtime.OLLAMA, root, below).replaced(said_bytes=loaded)
        return
    version = said.version if isinstance(said, OllamaServer) and isinstance(said.version, str) else None
    taken: set[int] = set()
    for model, runner in _runners(loaded, _started(root, "runner", below)):
        own = () if runner is None else processes.below(runner)
        taken |= {each.pid for each in own}
        yield Group(
            name=model.name, runtime=Runtime.OLLAMA, root=root, processes=own, said_bytes=model.size_bytes,
            covers="weights and context", version=version, artifact_digest=model.manifest_digest,
            context=model.context_length,
        )  # fmt: skip
    left = tuple(each for each in below if each.pid not in taken)
    yield _rest(_title(root), Runtime.OLLAMA, root, left).replaced(version=version)


def _started(root: EngineProcess, role: Role, below: tuple[EngineProcess, ...]) -> list[EngineProcess]:
    """Those that it has started itself: what is below one of them is below no other."""
    return [each for each in below if each.role == role and each.under == root.pid]


def _runners(loaded: tuple[Loaded, ...], runners: list[EngineProcess]) -> list[tuple[Loaded, EngineProcess | None]]:
    """Each model with its runner: by the manifests of the runner's weights, else where one is left for one."""
    left = list(runners)
    found: dict[int, EngineProcess] = {}
    for at, model in enumerate(loaded):
        mine = next((each for each in left if model.manifest_digest in each.artifacts), None)
        if mine is not None:
            left.remove(mine)
            found[at] = mine
    without = [at for at in range(len(loaded)) if at not in found]
    if len(without) == len(left) == 1:
        found[without[0]] = left[0]
    return [(model, found.get(at)) for at, model in enumerate(loaded)]


def _vllm(root: EngineProcess, processes: EngineProcesses, said: VllmServer | Unobserved) -> Group:
    group = _rest(root.options.get("model") or _title(root), Runtime.VLLM, root, processes.below(root))
    if isinstance(said, Unobserved):
        return group
    version = said.version if isinstance(said.version, str) else None
    if isinstance(said.models, Unobserved) or not said.models.models:
        return group.replaced(version=version)
    model = said.models.models[0]
    return group.replaced(name=model.names[0], version=version, context=model.max_model_len)


def _llama(root: EngineProcess, processes: EngineProcesses, said: LlamaServer | Unobserved) -> Iterator[Group]:
    below = processes.below(root)
    inner = _started(root, "server", below)
    taken: set[int] = set()
    for child in inner:
        own = processes.below(child)
        taken |= {each.pid for each in own}
        yield _llama_group(child, own, said)
    left = tuple(each for each in below if each.pid not in taken)
    if inner or (isinstance(said, LlamaServer) and said.mode == "router"):
        yield _rest("llama-server (router)", Runtime.LLAMA_CPP, root, left)
    else:
        yield _llama_group(root, left, said)


def _llama_group(root: EngineProcess, own: tuple[EngineProcess, ...], said: LlamaServer | Unobserved) -> Group:
    """One model's processes; of a router's children each is known by the alias or the file that it was given."""
    spread = "rpc" in root.options
    named = root.options.get("alias") or root.options.get("model") or root.options.get("hf-repo")
    group = _rest(named or _title(root), Runtime.LLAMA_CPP_RPC if spread else Runtime.LLAMA_CPP, root, own)
    if isinstance(said, Unobserved):
        return group.replaced(said_bytes=said)
    if isinstance(said.models, Unobserved):
        return group.replaced(said_bytes=said.models, version=said.build)
    models = [each for each in said.models if said.mode == "single" or named in (each.id, *each.aliases)]
    if not models:
        return group.replaced(version=said.build)
    model = models[0]
    held = model.weights_bytes if model.is_resident else 0
    covers = "weights, on all its hosts together" if spread else "weights"
    return group.replaced(
        name=model.id, said_bytes=held, covers=covers if held is not None else None, version=said.build,
        context=model.context or said.context_per_slot,
    )  # fmt: skip


def _title(root: EngineProcess) -> str:
    return f"{root.runtime} {root.role}" if root.role != "engine" else root.comm
