"""Are the directories and values of a policy there, now and after every boot?"""

from collections.abc import Iterator

from fleet.host.files import file_steps
from fleet.host.policy import HostPolicy
from fleet.host.steps import MakeDirectory, SetKernelValues
from fleet.host.text import HEAD, HostFile
from fleet.host.tmpfiles import FoundPath, TmpfilePolicy, says
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

TMPFILES_PATH = "/etc/tmpfiles.d/sparks-host.conf"


def tmpfiles_file(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The file that systemd-tmpfiles reads at every boot."""
    text = "".join(each.line for each in policy.tmpfiles)
    return (HostFile(path=TMPFILES_PATH, text=HEAD + text),) if text else ()


def tmpfile_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes it so, or everything that stands in the way."""
    if blind := seen.unobserved("host_files", *(("paths",) if policy.tmpfiles else ())):
        yield blind
        return
    paths = known(seen.paths).paths if policy.tmpfiles else {}
    pairs = [(each, paths[each.path]) for each in policy.tmpfiles]
    refusals = [no for each, found in pairs if (no := _in_the_way(seen.host, each, found)) is not None]
    if refusals:
        yield from refusals
        return
    why = "what is below /run, and every value below /sys, is gone after a boot"
    yield from file_steps(seen.host, tmpfiles_file(policy), (TMPFILES_PATH,), known(seen.host_files), why)
    for each, found in pairs:
        yield from _now(seen.host, each, found)


def _in_the_way(host: str, wish: TmpfilePolicy, found: FoundPath) -> Refusal | None:
    expected = "a file of the kernel" if wish.value is not None else "a directory, or nothing"
    good = ("file",) if wish.value is not None else ("directory", "absent")
    if found.kind in good:
        return None
    return Refusal(
        code="path_unusual", subject=f"{host} {wish.path}", expected=expected, found=found.kind,
        hint="take it out of tmpfiles in the host policy, or move what lies there away",
    )  # fmt: skip


def _now(host: str, wish: TmpfilePolicy, found: FoundPath) -> Iterator[Step]:
    if wish.value is not None:
        if not says(found.text, wish.value):
            yield SetKernelValues(
                subject=f"{host} {wish.path} now", before=str(found.text), after=wish.value,
                reason="the running kernel has another value", values={wish.path: wish.value},
            )  # fmt: skip
    elif (found.kind, found.mode, found.user, found.group) != ("directory", wish.mode, wish.user, wish.group):
        yield MakeDirectory(
            subject=f"{host} {wish.path} now",
            before="absent" if found.kind == "absent" else f"{found.mode} {found.user}:{found.group}",
            after=f"{wish.mode} {wish.user}:{wish.group}",
            reason="it is not there, or with another mode or owner",
            path=wish.path, mode=wish.mode, user=wish.user, group=wish.group,
        )  # fmt: skip
