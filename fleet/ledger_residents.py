"""The residents of a Spark: from groups of processes, and from programs that only the GPU's driver knows. Pure."""

from collections.abc import Iterable, Iterator

from fleet.candidate.identity import RuntimeIdentity
from fleet.containers import Container
from fleet.desired import DesiredSpark
from fleet.generation import Origin, origin
from fleet.gpu import ComputeApp, GpuState
from fleet.ledger_groups import Group, groups
from fleet.neighbour import Neighbour
from fleet.observation import Observation
from fleet.processes import EngineProcess, EngineProcesses, held_bytes
from fleet.record import Digest, Unobserved
from fleet.resident import Held, Owner, Resident

_SHARED = Unobserved(reason="its processes cannot be told from those of another model")
_NO_ENGINE = Unobserved(reason="it is no engine's process, and so was not looked at")


def residents_of(desired: DesiredSpark, seen: Observation, processes: EngineProcesses) -> tuple[Resident, ...]:
    """Every resident: by engine and name, then the programs that only the GPU's driver knows."""
    engines = [_resident(desired, seen, group) for group in groups(seen, processes)]
    engines.sort(key=lambda resident: (resident.runtime or "", resident.name, resident.pids))
    return (*engines, *_programs(desired, seen, {each.pid for each in processes.processes}))


def _resident(desired: DesiredSpark, seen: Observation, group: Group) -> Resident:
    root, container = group.root, _container(seen, group.root)
    where = {"unit": root.unit, "container": container.name if container else root.container_id}
    neighbour = _neighbour(desired.spark.neighbours, root.unit, where["container"], root.exe)
    owner, generation = _owner(seen, root, container, neighbour)
    return Resident(
        name=group.name,
        runtime=group.runtime,
        identity=_identity(group, container),
        artifact_digest=group.artifact_digest,
        context=group.context,
        owner=owner,
        generation=generation,
        note=neighbour.note if neighbour else None,
        **where,
        user=root.user,
        pids=tuple(each.pid for each in group.processes),
        orphan=root.is_orphan,
        held=_held(seen, group),
    )


def _container(seen: Observation, root: EngineProcess) -> Container | None:
    if root.container_id is None or isinstance(seen.containers, Unobserved):
        return None
    return seen.containers.container(root.container_id)


def _identity(group: Group, container: Container | None) -> RuntimeIdentity | None:
    """By its image where it runs in a container: that is all that it loads. Else by its executable alone."""
    if container is not None:
        digest, form = container.image_id, "image"
    elif group.root.executable_digest is not None and group.root.container_id is None:
        digest, form = group.root.executable_digest, "executable"
    else:
        return None
    return RuntimeIdentity(runtime=group.runtime, form=form, content_digest=digest, version=group.version)


def _owner(
    seen: Observation, root: EngineProcess, container: Container | None, neighbour: Neighbour | None
) -> tuple[Owner, Digest | None]:
    """Ours by the stamp of a run, or by a label that a run of ours gave its container; else as it is declared."""
    if (generation := _stamped(seen, root)) is not None:
        return Owner.OURS, generation
    if container is not None and container.is_ours:
        return Owner.OURS, None
    return (Owner.NEIGHBOUR if neighbour else Owner.UNKNOWN), None


def _stamped(seen: Observation, root: EngineProcess) -> Digest | None:
    """The plan whose run left this process running, or the same program that a boot or systemd has started again."""
    running, stamp = seen.invocation, seen.generation
    if isinstance(running, Unobserved) or isinstance(stamp, Unobserved) or running.invocation is None:
        return None
    is_it = (running.invocation.pid, running.invocation.start_ticks) == (root.pid, root.start_ticks)
    known = stamp.known
    if not is_it or known is None or origin(running.invocation, stamp) in (Origin.UNSTAMPED, Origin.ANOTHER):
        return None
    return known.plan


def _neighbour(
    declared: Iterable[Neighbour], unit: str | None, container: str | None, program: str | None
) -> Neighbour | None:
    return next((each for each in declared if each.is_it(unit, container, program)), None)


def _held(seen: Observation, group: Group) -> Held:
    pids = [each.pid for each in group.processes]
    rss: int | Unobserved = sum(each.memory.rss_bytes for each in group.processes) if pids else _SHARED
    gpu = seen.gpu
    return Held(
        engine_bytes=group.said_bytes,
        engine_covers=group.covers,
        rss_bytes=rss,
        own_bytes=held_bytes(group.processes) if pids else _SHARED,
        compute_apps_bytes=_SHARED if not pids else gpu.used_by(*pids) if isinstance(gpu, GpuState) else gpu,
    )


def _programs(desired: DesiredSpark, seen: Observation, engines: set[int]) -> Iterator[Resident]:
    """What computes on the GPU and is no engine: a notebook, a training run, an engine that we do not know."""
    if isinstance(seen.gpu, Unobserved) or isinstance(seen.gpu.apps, Unobserved):
        return
    for app in seen.gpu.apps:
        if app.pid not in engines:
            yield _program(app, _neighbour(desired.spark.neighbours, None, None, app.name))


def _program(app: ComputeApp, neighbour: Neighbour | None) -> Resident:
    return Resident(
        name=app.name,
        runtime=None,
        owner=Owner.NEIGHBOUR if neighbour else Owner.UNKNOWN,
        note=neighbour.note if neighbour else None,
        pids=(app.pid,),
        held=Held(rss_bytes=_NO_ENGINE, own_bytes=_NO_ENGINE, compute_apps_bytes=app.used_bytes),
    )
