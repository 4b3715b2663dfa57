"""Checks of who holds the memory of a Spark: orphans, strangers, and what nobody accounts for."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.fit.instrument import GIB
from fleet.ledger import residency
from fleet.observation import known
from fleet.ollama.deployment import UNIT
from fleet.record import Unobserved
from fleet.resident import Owner, Resident

SECTIONS = ("memory", "processes", "gpu")
_ORPHAN = "a server above each process of an engine"
_KILL = "kill {pids} on the host, once you know that nobody waits for it"


def _residents(asked: Host) -> tuple[Resident, ...]:
    found = residency(asked.desired, asked.seen).residents
    return () if isinstance(found, Unobserved) else found


def _orphans(asked: Host) -> Iterator[Found]:
    processes = known(asked.seen.processes)
    for root in processes.roots:
        if root.is_orphan:
            own = processes.below(root)
            held = sum(each.memory.held_bytes for each in own)
            pids = " ".join(str(each.pid) for each in own)
            yield Found(
                f"{asked.seen.host} {root.comm}", _ORPHAN, f"{root} without one, with {held / GIB:.1f} GiB",
                _KILL.format(pids=pids),
            )  # fmt: skip


def _is_managed(asked: Host, resident: Resident) -> bool:
    return asked.desired.ollama is not None and resident.unit == UNIT and resident.container is None


def _where(resident: Resident) -> str:
    place = resident.container or resident.unit or f"pid {' '.join(map(str, resident.pids)) or '?'}"
    return place if resident.user is None else f"{place} of {resident.user}"


def _unmanaged(asked: Host) -> Iterator[Found]:
    """One that a run of ours has left counts too: its deployment went from the roster, and it stayed."""
    by_place: dict[str, list[str]] = {}
    for resident in _residents(asked):
        is_declared = resident.owner is Owner.NEIGHBOUR or _is_managed(asked, resident)
        if resident.runtime == "ollama" and not resident.orphan and not is_declared:
            by_place.setdefault(_where(resident), []).append(resident.name)
    for place, names in by_place.items():
        yield Found(
            f"{asked.seen.host} {place}", "no Ollama but the declared one", f"one, with {', '.join(names)}",
            f"declare a deployment on {asked.desired.name}, or name it under its neighbours",
        )  # fmt: skip


def _strangers(asked: Host) -> Iterator[Found]:
    for resident in _residents(asked):
        is_stranger = resident.owner is Owner.UNKNOWN and resident.runtime != "ollama" and not resident.orphan
        if is_stranger and not _is_managed(asked, resident):
            held = resident.held.compute_apps_bytes
            amount = "" if isinstance(held, Unobserved) else f", {held / GIB:.1f} GiB on the GPU"
            yield Found(
                f"{asked.seen.host} {resident.name}", "a resident of ours, or a declared neighbour",
                f"one in {_where(resident)}{amount}", f"name it under neighbours of {asked.desired.name} in the roster",
            )  # fmt: skip


def _unaccounted(asked: Host) -> Iterator[Found]:
    ledger, most = residency(asked.desired, asked.seen), asked.desired.memory_policy.reserve_bytes
    rest = ledger.unaccounted_bytes
    if not isinstance(rest, Unobserved) and rest > most:
        yield Found(
            f"{asked.seen.host} memory", f"at most the reserve of {most / GIB:.1f} GiB in no account",
            f"{rest / GIB:.1f} GiB", f"sparks status {asked.desired.name}",
        )  # fmt: skip


def _unseen(asked: Host) -> Iterator[Found]:
    for part in residency(asked.desired, asked.seen).unobserved:
        if part.part not in ("memory", "processes", "compute apps", "stamp", "invocation"):
            yield Found(f"{asked.seen.host} {part.part}", "an answer", part.reason)


def _swapped(asked: Host) -> Iterator[Found]:
    for each in known(asked.seen.processes).processes:
        if each.memory.swap_bytes:
            yield Found(
                f"{asked.seen.host} {each.comm}", "none of an engine's memory in swap",
                f"{each.memory.swap_bytes / GIB:.2f} GiB of {each}", f"sparks fit {asked.desired.name}",
            )  # fmt: skip


RESIDENCY: tuple[HostCheck, ...] = (
    HostCheck(
        id="residency.orphan",
        level=Level.ERROR,
        looks_for="A process that only a server starts (`VLLM::EngineCore`, `VLLM::Worker`, a runner of Ollama) whose "
        "server is gone.",
        why="It keeps its memory, answers nobody, and nobody will end it; the next start then finds too little free.",
        fix="End it on its host by its process id. Doctor and runs of ours never do.",
        find=_orphans,
        sections=("processes",),
    ),
    HostCheck(
        id="residency.unmanaged_ollama",
        level=Level.WARN,
        looks_for="An Ollama on the Spark that the roster declares neither as a deployment nor as a neighbour.",
        why="It loads whatever a client names, at a context that follows from what is free at that moment, into the "
        "memory that was planned for something else.",
        fix="Declare a deployment for the Spark, name it under `neighbours`, or stop it on the host.",
        find=_unmanaged,
        sections=("processes", "ollama_servers"),
    ),
    HostCheck(
        id="residency.stranger",
        level=Level.WARN,
        looks_for="A program that holds an engine's memory, or computes on the GPU, and that nobody declared.",
        why="What fits is decided by what is free; a notebook or a training run that is forgotten takes it away.",
        fix="Name it under `neighbours` with a note, so that it is known; end it on the host if it is nobody's.",
        find=_strangers,
        sections=SECTIONS,
    ),
    HostCheck(
        id="residency.unaccounted",
        level=Level.WARN,
        looks_for="Memory in use that no instrument accounts for, above the reserve of the memory policy.",
        why="A driver that kept what an ended process had, or shared memory that was left behind, goes only with a "
        "restart of the driver or the host.",
        fix="`sparks status` shows the accounts. Look at /dev/shm on the host; else plan a reboot.",
        find=_unaccounted,
        sections=SECTIONS,
    ),
    HostCheck(
        id="residency.no_answer",
        level=Level.WARN,
        looks_for="A server, or the daemon of its container, that did not say what it has loaded.",
        why="Nobody knows what serves there; memory of it stands in no engine's account.",
        fix="Look at the server's log on the host. Where it asks for a key, that is as it should be.",
        find=_unseen,
        sections=SECTIONS,
    ),
    HostCheck(
        id="residency.swapped",
        level=Level.WARN,
        looks_for="A process of an engine with memory in swap.",
        why="On a Spark host and GPU share one memory: what is swapped out is waited for at each token.",
        fix="Free memory or lower what is loaded: `sparks fit` says what would fit. Then restart the engine.",
        find=_swapped,
        sections=("processes",),
    ),
)
