"""Are the kernel settings of a policy in force, now and after the next boot?"""

from collections.abc import Iterator

from fleet.host.files import HostFiles, file_steps
from fleet.host.policy import HostPolicy
from fleet.host.steps import SetKernelValues
from fleet.host.sysctl import Sysctls, deciding, same_value
from fleet.host.text import HEAD, HostFile
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

SYSCTL_PATH = "/etc/sysctl.d/90-sparks-host.conf"
"""After what distributions and packages ship (10 to 60), before what people write to have the last word (99)."""


def sysctl_file(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The file that sets them at boot; none where a policy has no settings."""
    if not policy.settings:
        return ()
    lines = (f"{key} = {value}\n" for key, value in policy.settings.items())
    return (HostFile(path=SYSCTL_PATH, text=f"{HEAD}{''.join(lines)}"),)


def sysctl_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What puts the settings in force, or everything that stands in the way."""
    if blind := seen.unobserved("host_files", "sysctls"):
        yield blind
        return
    state = known(seen.sysctls)
    refusals = tuple(_in_the_way(policy, seen.host, state))
    yield from refusals or _steps(policy, seen.host, known(seen.host_files), state)


def _in_the_way(policy: HostPolicy, host: str, state: Sysctls) -> Iterator[Refusal]:
    for key, value in policy.settings.items():
        if state.now.get(key) is None:
            yield Refusal(
                code="sysctl_unknown",
                subject=f"{host} sysctl {key}",
                expected="one of this kernel",
                found="none",
                hint="take it out of the policy, or load the module that has it",
            )
        last = deciding([each for each in (*state.lines, *state.aside) if _counts(each.path, each.key, key)], key)
        if last is not None and last.value is not None and same_value(last.value) != value:
            yield Refusal(
                code="sysctl_overridden",
                subject=f"{host} sysctl {key} at boot",
                expected=value,
                found=f"{same_value(last.value)} by {last}",
                hint=f"take line {last.number} out of {last.path}",
            )


def _counts(path: str, line_key: str, key: str) -> bool:
    """Ours names the setting, so no pattern wins over it; and of the lines that name it only later ones do."""
    name, ours = path.rpartition("/")[2], SYSCTL_PATH.rpartition("/")[2]
    return line_key == key and (path == "/etc/sysctl.conf" or name > ours)


def _steps(policy: HostPolicy, host: str, files: HostFiles, state: Sysctls) -> Iterator[Step]:
    why = "a kernel setting is gone after a power cycle unless a file has it"
    yield from file_steps(host, sysctl_file(policy), (SYSCTL_PATH,), files, why)
    due = {key: value for key, value in policy.settings.items() if state.now.get(key) != value}
    if due:
        yield SetKernelValues(
            subject=f"{host} sysctls now",
            before=", ".join(f"{key} {state.now.get(key)}" for key in due),
            after=", ".join(f"{key} {value}" for key, value in due.items()),
            reason="the running kernel has other values than the policy",
            values={f"/proc/sys/{key}": value for key, value in due.items()},
        )
