"""Is a swap file of ours there, in use, and in use after the next boot?"""

from collections.abc import Iterator

from fleet.host.files import HostFiles, file_steps
from fleet.host.policy import HostPolicy
from fleet.host.steps import MakeSwap, UseSwap
from fleet.host.swap import FILESYSTEMS, Swap, SwapPolicy
from fleet.host.text import HEAD, UNITS, HostFile
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

_PLACES = (r"/etc/systemd/system/*sparks\x2dswap.img.swap", r"/etc/systemd/system/*.wants/*sparks\x2dswap.img.swap")
_MODE = 0o600


def swap_files(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The unit that lets a boot use the file, and its link."""
    if policy.swap is None:
        return ()
    path = f"{UNITS}/{policy.swap.unit}"
    text = (
        f"{HEAD}[Unit]\nDescription=Swap file\n\n[Swap]\nWhat={policy.swap.path}\n\n[Install]\nWantedBy=swap.target\n"
    )
    return HostFile(path=path, text=text), HostFile(path=f"{UNITS}/swap.target.wants/{policy.swap.unit}", link=path)


def swap_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes the file and has it used, or what stands in the way."""
    if blind := seen.unobserved("host_files", *(("swap",) if policy.swap else ())):
        yield blind
        return
    if policy.swap is None:
        yield from file_steps(seen.host, (), _PLACES, known(seen.host_files), "")
        return
    state = known(seen.swap)
    refusal = None if _is_whole(policy.swap, state) else _in_the_way(policy.swap, seen.host, state)
    if refusal is not None:
        yield refusal
        return
    yield from _steps(policy.swap, policy, seen.host, state, known(seen.host_files))


def _steps(swap: SwapPolicy, policy: HostPolicy, host: str, state: Swap, files: HostFiles) -> Iterator[Step]:
    if not _is_whole(swap, state):
        yield MakeSwap(
            subject=f"{host} {swap.path}",
            before=_words(state),
            after=f"{swap.size_gib} GiB for pages of {state.page_size_bytes // 1024} KiB",
            reason="the kernel can only use a swap file that was made for its own page size",
            path=swap.path,
            size_bytes=swap.size_bytes,
        )
    why = "swap is not in use after a boot unless a unit says so"
    yield from file_steps(host, swap_files(policy), _PLACES, files, why)
    if state.in_use(swap.path) is None:
        yield UseSwap(
            subject=f"{host} {swap.path} now",
            before="not in use",
            after="in use",
            reason="the kernel does not use it",
            path=swap.path,
        )


def _is_whole(policy: SwapPolicy, state: Swap) -> bool:
    file = state.file
    found = None if file is None else (file.size_bytes, file.mode, file.page_size_bytes)
    return found == (policy.size_bytes, _MODE, state.page_size_bytes)


def _in_the_way(policy: SwapPolicy, host: str, state: Swap) -> Refusal | None:
    if state.in_use(policy.path) is not None:
        return Refusal(
            code="swap_in_use",
            subject=f"{host} {policy.path}",
            expected=f"{policy.size_gib} GiB, or a file that is not in use",
            found=f"{_words(state)}, in use",
            hint=f"swapoff {policy.path} on the host, when its memory has room for what is in it",
        )
    if state.filesystem not in FILESYSTEMS:
        return Refusal(
            code="swap_filesystem",
            subject=f"{host} {policy.path}",
            expected=f"a file system as {' or '.join(FILESYSTEMS)}",
            found=state.filesystem,
            hint="choose another place for the file",
        )
    room = state.available_bytes + (0 if state.file is None else state.file.size_bytes)
    if room < policy.size_bytes:
        return Refusal(
            code="no_room", subject=f"{host} {policy.path}", expected=f"room for {policy.size_gib} GiB",
            found=f"{room / 2**30:.1f} GiB", hint="make room, or choose a smaller file",
        )  # fmt: skip
    return None


def _words(state: Swap) -> str:
    file = state.file
    if file is None:
        return "absent"
    pages = "no swap" if file.page_size_bytes is None else f"for pages of {file.page_size_bytes // 1024} KiB"
    return f"{file.size_bytes / 2**30:.1f} GiB {pages}, mode {file.mode:04o}"
