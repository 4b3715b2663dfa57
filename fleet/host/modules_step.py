"""Does every boot give modules the options of a policy, and have those that are loaded what can be changed?"""

from collections.abc import Iterator

from fleet.host.conf import ConfLine
from fleet.host.files import HostFiles, file_steps, wanted
from fleet.host.modules import Modules, same_parameter
from fleet.host.policy import HostPolicy
from fleet.host.steps import RebuildInitramfs, SetKernelValues
from fleet.host.text import HEAD, HostFile
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

MODPROBE_PATH = "/etc/modprobe.d/sparks-host.conf"


def modprobe_file(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The file from which modprobe takes the options."""
    lines = (
        f"options {module} {' '.join(f'{name}={value}' for name, value in options.items())}\n"
        for module, options in policy.modules.items()
        if options
    )
    text = "".join(lines)
    return (HostFile(path=MODPROBE_PATH, text=HEAD + text),) if text else ()


def module_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes it so, or everything that stands in the way. A module is never unloaded for it."""
    if blind := seen.unobserved("host_files", *(("modules",) if any(policy.modules.values()) else ())):
        yield blind
        return
    files = known(seen.host_files)
    if not any(policy.modules.values()):
        yield from file_steps(seen.host, (), (MODPROBE_PATH,), files, "")
        return
    state = known(seen.modules)
    refusals = tuple(_in_the_way(policy, seen.host, state.lines))
    yield from refusals or _steps(policy, seen.host, files, state)


def _pairs(policy: HostPolicy) -> Iterator[tuple[str, str, str]]:
    for module, options in policy.modules.items():
        for name, value in options.items():
            yield module, name, str(value)


def _in_the_way(policy: HostPolicy, host: str, lines: tuple[ConfLine, ...]) -> Iterator[Refusal]:
    """Options of all files are given to a module in the order of the files' names, and of one the last counts."""
    ours = MODPROBE_PATH.rpartition("/")[2]
    for module, name, value in _pairs(policy):
        later = [each for each in lines if each.key == f"{module}.{name}" and each.path.rpartition("/")[2] > ours]
        if later and same_parameter(later[-1].value) != same_parameter(value):
            yield Refusal(
                code="conf_overridden",
                subject=f"{host} {module}.{name} at boot",
                expected=value,
                found=f"{later[-1].value} by {later[-1]}",
                hint=f"take it out of {later[-1].path}",
            )


def _steps(policy: HostPolicy, host: str, files: HostFiles, state: Modules) -> Iterator[Step]:
    why = "a module takes its options when it is loaded, which is at boot"
    yield from file_steps(host, modprobe_file(policy), (MODPROBE_PATH,), files, why)
    is_new = any(files.at(each.path) != wanted(each) for each in modprobe_file(policy))
    stale = [each.release for each in state.initrds if each.holds and (is_new or each.is_older)]
    if stale:
        yield RebuildInitramfs(
            subject=f"{host} initramfs",
            before=f"older options in that of {', '.join(stale)}",
            after="these options",
            reason="a module that is in it gets its options from the copy in there",
            releases=tuple(stale),
        )
    due = {
        f"/sys/module/{module}/parameters/{name}": (found.value, value)
        for module, name, value in _pairs(policy)
        if (found := state.loaded.get(module, {}).get(name)) is not None
        and found.is_writable
        and same_parameter(found.value or "") != same_parameter(value)
    }
    if due:
        yield SetKernelValues(
            subject=f"{host} module parameters now",
            before=", ".join(f"{path.rpartition('/')[2]} {found}" for path, (found, _) in due.items()),
            after=", ".join(f"{path.rpartition('/')[2]} {value}" for path, (_, value) in due.items()),
            reason="the loaded module has other values, and these it takes while it runs",
            values={path: value for path, (_, value) in due.items()},
        )
