"""Does a host boot into its target, and does systemd feed the watchdog, now and after the next boot?"""

from collections.abc import Iterator

from fleet.host.conf import OWN_NAME, overridden
from fleet.host.files import file_steps
from fleet.host.manager import Manager, WatchdogPolicy
from fleet.host.policy import HostPolicy
from fleet.host.steps import FeedWatchdog, SetDefaultTarget
from fleet.host.text import HEAD, HostFile
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

WATCHDOG_PATH = f"/etc/systemd/system.conf.d/{OWN_NAME}"


def watchdog_file(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The drop-in that has systemd feed the watchdog from the next boot on."""
    if policy.watchdog is None:
        return ()
    return (HostFile(path=WATCHDOG_PATH, text=f"{HEAD}[Manager]\nRuntimeWatchdogSec={policy.watchdog.seconds}s\n"),)


def default_target_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What the next boot goes to. What runs now is not changed by it: the policy's units say what runs."""
    if policy.default_target is None:
        return
    if blind := seen.unobserved("manager"):
        yield blind
        return
    found = known(seen.manager).default_target
    if found != policy.default_target:
        yield SetDefaultTarget(
            subject=f"{seen.host} default target",
            before=found,
            after=policy.default_target,
            reason="the next boot goes there",
            target=policy.default_target,
        )


def watchdog_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What arms the watchdog, or everything that stands in the way. One that nobody declares is not disarmed now."""
    if blind := seen.unobserved("host_files", "manager"):
        yield blind
        return
    manager = known(seen.manager)
    if policy.watchdog is not None and (no := _in_the_way(policy.watchdog, seen.host, manager)) is not None:
        yield no
        return
    why = "a watchdog that is not armed at boot does not help a host that hangs then"
    yield from file_steps(seen.host, watchdog_file(policy), (WATCHDOG_PATH,), known(seen.host_files), why)
    if policy.watchdog is not None and manager.watchdog_seconds != policy.watchdog.seconds:
        yield FeedWatchdog(
            subject=f"{seen.host} watchdog now",
            before=_words(manager.watchdog_seconds),
            after=_words(policy.watchdog.seconds),
            reason="systemd feeds it for another time, or not at all",
            seconds=policy.watchdog.seconds,
        )


def _in_the_way(policy: WatchdogPolicy, host: str, manager: Manager) -> Refusal | None:
    if not manager.devices:
        return Refusal(
            code="watchdog_missing",
            subject=f"{host} watchdog",
            expected="a device under /sys/class/watchdog",
            found="none",
            hint="load the driver of the board's watchdog, or take it out of the policy",
        )
    accepted = (f"{policy.seconds}s", str(policy.seconds))
    return overridden(host, "RuntimeWatchdogSec", accepted, manager.lines)


def _words(seconds: float | None) -> str:
    return "off" if not seconds else f"{seconds:g} s"
