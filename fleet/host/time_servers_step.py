"""Does the service that keeps a host's time ask the servers of its policy, now and after its next start?

timesyncd asks these alone: its list is emptied before, since its files add to each other (timesyncd.conf(5)). chrony
asks them beside those of its own files, which stay (chrony.conf(5), `sourcedir`).
"""

from collections.abc import Iterator

from fleet.host.conf import OWN_NAME, overridden
from fleet.host.files import file_steps
from fleet.host.policy import HostPolicy
from fleet.host.steps import UseTimeServers
from fleet.host.text import HEAD, HostFile
from fleet.host.time_servers import CHRONY_SOURCES, TimeServers
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

TIMESYNCD_PATH = f"/etc/systemd/timesyncd.conf.d/{OWN_NAME}"


def time_server_files(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The file that says so from the next start of the service on."""
    if not policy.time_servers:
        return ()
    if policy.time_sync == "chrony":
        text = "".join(f"server {each} iburst\n" for each in policy.time_servers)
        return (HostFile(path=CHRONY_SOURCES, text=HEAD + text),)
    return (HostFile(path=TIMESYNCD_PATH, text=f"{HEAD}[Time]\nNTP=\nNTP={' '.join(policy.time_servers)}\n"),)


def time_server_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes it so, or what stands in the way. What no policy has any more goes at the next start."""
    asked = bool(policy.time_servers)
    if blind := seen.unobserved("host_files", *(("time_servers",) if asked else ())):
        yield blind
        return
    if asked and (no := _in_the_way(policy, seen.host, known(seen.time_servers))) is not None:
        yield no
        return
    why = "the service asks others when it starts again"
    paths = (TIMESYNCD_PATH, CHRONY_SOURCES)
    yield from file_steps(seen.host, time_server_files(policy), paths, known(seen.host_files), why)
    if asked and not _asks(policy, known(seen.time_servers)):
        yield UseTimeServers(
            subject=f"{seen.host} time servers now",
            before="others, or not all of them",
            after=", ".join(policy.time_servers),
            reason="it has read another file, or does not run yet",
            service=known(seen.time_servers).service,
        )


def _asks(policy: HostPolicy, found: TimeServers) -> bool:
    """What was in our file and is not wanted any more must not be asked either."""
    running, wanted = found.running or (), set(policy.time_servers)
    if found.service == "timesyncd":
        return running == policy.time_servers
    return wanted <= set(running) and not (set(found.own) - wanted) & set(running)


def _in_the_way(policy: HostPolicy, host: str, found: TimeServers) -> Refusal | None:
    if found.service == "timesyncd":
        return overridden(host, "NTP", (" ".join(policy.time_servers),), found.lines)
    if found.reads_ours:
        return None
    return Refusal(
        code="chrony_without_sources",
        subject=f"{host} chrony",
        expected="sourcedir /etc/chrony/sources.d in /etc/chrony/chrony.conf",
        found="no such line",
        hint="add it, as the package has it, or take time_servers out of the policy",
    )
