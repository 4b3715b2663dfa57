"""Checks of what runs: engines by their own word and the kernel's, their containers, and the GPU under them."""

from collections.abc import Iterator
from ipaddress import ip_address

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.gpu import GpuAnswer
from fleet.observation import known
from fleet.record import Unobserved

CLOCK_MHZ = 1000
"""What a GB10 is above while it serves; below it is latched low (field notes, "Kernel and host")."""
BUSY_PERCENT = 50
"""How busy a GPU must be for its clock to say something: an idle one clocks down on purpose."""
DRAFTED = 10_000
"""Tokens that a draft has proposed before its acceptance says anything."""
ACCEPTED = 0.02
"""Below that share a draft does not belong to its target (field notes, "DSpark": it falls to about 0)."""


def _replaced(asked: Host) -> Iterator[Found]:
    for each in known(asked.seen.processes).processes:
        if each.exe_deleted and each.role == "server":
            yield Found(f"{asked.seen.host} {each.comm}", "the program that is on disk", f"{each}, started from a file "
                        "that was replaced since", "restart it when nobody is served")  # fmt: skip


def _stuck(asked: Host) -> Iterator[Found]:
    for each in known(asked.seen.processes).processes:
        if each.state in ("D", "Z"):
            found = "in the kernel, where no signal reaches it" if each.state == "D" else "ended, and not buried"
            yield Found(f"{asked.seen.host} {each.comm}", "a process that runs or waits", f"{each} {found}")


def _containers(asked: Host) -> Iterator[Found]:
    for each in known(asked.seen.containers).containers:
        subject = f"{asked.seen.host} container {each.name}"
        if each.oom_killed:
            yield Found(subject, "it to end by itself", "it killed for memory", f"sparks fit {asked.desired.name}")
        if each.health == "unhealthy" or each.state == "restarting":
            found = each.state if each.state == "restarting" else "unhealthy"
            yield Found(subject, "it healthy", found, f"docker logs --tail 50 {each.name} on the host")


def _vllm(asked: Host) -> Iterator[Found]:
    for each in known(asked.seen.vllm):
        subject = f"{asked.seen.host} vllm at {each.endpoint or f'pid {each.pid}'}"
        if each.healthy is False:
            yield Found(subject, "/health 200", "503")
        engines = () if isinstance(each.metrics, Unobserved) else each.metrics.engines
        for engine in engines:
            if (engine.drafted_tokens or 0) > DRAFTED and (engine.acceptance or 0.0) < ACCEPTED:
                found = f"{engine.accepted_tokens or 0:,} of {engine.drafted_tokens:,}"
                yield Found(f"{subject} draft", f"at least {ACCEPTED:.0%} of drafted tokens accepted", found)


def _rpc(asked: Host) -> Iterator[Found]:
    """A rail address or loopback is where it may listen."""
    own = {str(end.address.ip) for end in asked.desired.rail_ends}
    for each in known(asked.seen.llamacpp).rpc:
        for place in each.listens:
            host = place.rpartition(":")[0].strip("[]")
            if host not in own and not ip_address(host).is_loopback:
                yield Found(f"{asked.seen.host} {each.comm}", "it to listen on a rail's address alone", place,
                            f"start it with -H {min(own, default='127.0.0.1')}")  # fmt: skip


def _gpu(asked: Host) -> Iterator[Found]:
    state = known(asked.seen.gpu)
    if state.answer is GpuAnswer.SEEN:
        return
    reason = f": {state.gpus.reason}" if isinstance(state.gpus, Unobserved) else ""
    is_none = state.answer is GpuAnswer.NOT_INSTALLED and state.module is None
    fix = "reboot when nobody is served" if state.answer is GpuAnswer.MISMATCH else "look at dmesg on the host"
    yield Found(f"{asked.seen.host} GPU", "an answer of nvidia-smi", f"{state.answer}{reason}", fix,
                level=Level.WARN if is_none else None)  # fmt: skip


def _clock(asked: Host) -> Iterator[Found]:
    gpus = known(asked.seen.gpu).gpus
    for gpu in () if isinstance(gpus, Unobserved) else gpus:
        clock, busy = gpu.sm_clock_mhz, gpu.utilization_percent
        if isinstance(clock, Unobserved) or isinstance(busy, Unobserved):
            continue
        if busy >= BUSY_PERCENT and clock < CLOCK_MHZ:
            yield Found(f"{asked.seen.host} GPU {gpu.index}", f"at least {CLOCK_MHZ} MHz while it works",
                        f"{clock} MHz at {busy}% use", "shut the host down, and pull its power")  # fmt: skip


ENGINES: tuple[HostCheck, ...] = (
    HostCheck(
        id="serving.replaced_program",
        level=Level.INFO,
        looks_for="A server whose program on disk was replaced since it started.",
        why="The next restart brings another version; what was measured with this one says nothing about it.",
        fix="Restart it at a moment of your choice, and prove it then.",
        find=_replaced,
        sections=("processes",),
    ),
    HostCheck(
        id="serving.stuck",
        level=Level.WARN,
        looks_for="A process of an engine that waits in the kernel, or has ended and is not buried, at the moment of "
        "the look.",
        why="If it stays so, a driver or a file system does not answer it, its memory is not given back, and no signal "
        "ends it.",
        fix="Look again. If it stays, read dmesg on the host; a reboot is what ends such a process.",
        find=_stuck,
        sections=("processes",),
    ),
    HostCheck(
        id="serving.container",
        level=Level.WARN,
        looks_for="A container that was killed for memory, is unhealthy, or is started again and again.",
        why="A rank of it may be gone while the address of its head still answers.",
        fix="Read its log on the host; where it was killed for memory, `sparks fit` says what would fit.",
        find=_containers,
        sections=("containers",),
    ),
    HostCheck(
        id="serving.vllm",
        level=Level.WARN,
        looks_for="A vLLM server that says it is not well, or whose speculative draft is hardly ever right.",
        why="A draft that does not belong to its target gives the same text, slower; a collapsed one goes with empty "
        "answers while everything else looks fine.",
        fix="Look at its log; hold draft against target (docs/memory.md, *What goes together*).",
        find=_vllm,
        sections=("vllm",),
    ),
    HostCheck(
        id="serving.rpc_open",
        level=Level.ERROR,
        looks_for="A `rpc-server` of llama.cpp that listens elsewhere than on a rail's address or loopback.",
        why="It asks nobody who they are, and its authors call it insecure on open networks: whoever reaches it has "
        "the memory of the process.",
        fix="Start it with `-H` and the address of a rail, and let a firewall admit its peers alone.",
        find=_rpc,
        sections=("llamacpp",),
    ),
    HostCheck(
        id="serving.gpu",
        level=Level.ERROR,
        looks_for="An nvidia-smi that has no GPU to show, no driver, another version than its driver, or no answer.",
        why="Nothing is served from a GPU that the driver does not have; where driver and library differ, what runs "
        "goes on and nothing new starts.",
        fix="Where they differ, a boot cures it. Else read dmesg: a device off PCI needs its power pulled.",
        find=_gpu,
        sections=("gpu",),
    ),
    HostCheck(
        id="serving.gpu_clock",
        level=Level.WARN,
        looks_for="A GPU that works with a clock below 1000 MHz.",
        why="It is latched low: everything works at a fraction of its speed, and neither a restart of the engine nor a "
        "reboot clears it.",
        fix="Shut the host down and pull its power: only that clears it (field notes of several labs).",
        find=_clock,
        sections=("gpu",),
    ),
)
