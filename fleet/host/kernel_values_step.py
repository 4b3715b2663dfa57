"""Are huge pages and CPU governors as a policy says, now and after the next boot?"""

from collections.abc import Iterator, Mapping

from fleet.host.files import file_steps
from fleet.host.kernel_values import CPUS, THP, Choice
from fleet.host.policy import HostPolicy
from fleet.host.steps import SetKernelValues
from fleet.host.text import HostFile, boot_unit
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

THP_UNIT, GOVERNOR_UNIT = "sparks-host-huge-pages.service", "sparks-host-governor.service"
_PLACES = ("/etc/systemd/system/{0}", "/etc/systemd/system/*.wants/{0}")
_WHY = "it is gone after a power cycle unless a unit sets it at boot"


def huge_page_files(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The unit that sets huge pages at boot.

    Before systemd-sysctl: to start or stop khugepaged makes the kernel compute `vm.min_free_kbytes` anew
    (mm/khugepaged.c, set_recommended_min_free_kbytes), and what sysctl.d says of it shall have the last word.
    """
    values = {} if policy.huge_pages is None else policy.huge_pages.values
    commands = [f"echo {value} > {THP}/{name}" for name, value in values.items()]
    return boot_unit(
        THP_UNIT, "Transparent huge pages as the host policy says", commands, "sysinit.target", "systemd-sysctl.service"
    )


def governor_files(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The unit that sets the governor of every CPU at boot, once the modules that scale frequencies are there."""
    loop = f'for each in {CPUS}/cpu[0-9]*/cpufreq/scaling_governor; do echo {policy.governor} > "$each" || exit 1; done'
    commands = [] if policy.governor is None else [loop]
    return boot_unit(GOVERNOR_UNIT, "CPU governor as the host policy says", commands, "multi-user.target")


def huge_page_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes huge pages so, or everything that stands in the way."""
    if blind := seen.unobserved("host_files", "huge_pages"):
        yield blind
        return
    values = {} if policy.huge_pages is None else policy.huge_pages.values
    found = dict(known(seen.huge_pages))
    wishes = {f"{THP}/{name}": (found[name], value) for name, value in values.items()}
    yield from _steps(seen, THP_UNIT, huge_page_files(policy), "huge pages now", wishes)


def governor_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What gives every CPU its governor, or everything that stands in the way."""
    if blind := seen.unobserved("host_files", "governors"):
        yield blind
        return
    cpus = known(seen.governors).cpus
    if policy.governor is not None and not cpus:
        yield _not_offered(f"{seen.host} cpufreq", policy.governor, None)
        return
    wishes = {
        f"{CPUS}/cpu{each.cpu}/cpufreq/scaling_governor": (each.governor, policy.governor)
        for each in cpus
        if policy.governor is not None
    }
    yield from _steps(seen, GOVERNOR_UNIT, governor_files(policy), "cpu governors now", wishes)


def _steps(
    seen: Observation,
    unit: str,
    files: tuple[HostFile, ...],
    subject: str,
    wishes: Mapping[str, tuple[Choice | None, str]],
) -> Iterator[Step | Refusal]:
    """+ wishes: by path, what was found there and what it should be."""
    refusals = [
        _not_offered(f"{seen.host} {path}", value, found)
        for path, (found, value) in wishes.items()
        if found is None or value not in found.choices
    ]
    if refusals:
        yield from refusals
        return
    yield from file_steps(seen.host, files, [each.format(unit) for each in _PLACES], known(seen.host_files), _WHY)
    due = {path: (found.value, value) for path, (found, value) in wishes.items() if found and found.value != value}
    if due:
        yield SetKernelValues(
            subject=f"{seen.host} {subject}",
            before=", ".join(dict.fromkeys(f"{_name(path)} {found}" for path, (found, _) in due.items())),
            after=", ".join(dict.fromkeys(f"{_name(path)} {value}" for path, (_, value) in due.items())),
            reason="the running kernel has other values than the policy",
            values={path: value for path, (_, value) in due.items()},
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _not_offered(subject: str, value: str, found: Choice | None) -> Refusal:
    offered = "no such setting" if found is None else f"only {', '.join(found.choices)}"
    return Refusal(
        code="value_not_offered",
        subject=subject,
        expected=f"a kernel that offers {value}",
        found=offered,
        hint="take it out of the host policy, or boot a kernel that has it",
    )
