"""Does the end of a user's last session leave an engine's shared memory alone?

logind's default, `RemoveIPC=yes`, removes the semaphores and the shared memory of a user without a session, and so
of an engine that the user has left running; users who linger are spared (logind.conf(5)).
"""

from collections.abc import Iterator

from fleet.host.clock import Logins
from fleet.host.conf import OWN_NAME, overridden
from fleet.host.files import file_steps
from fleet.host.policy import HostPolicy
from fleet.host.steps import EnableLinger, ReloadLogind
from fleet.host.text import HEAD, HostFile
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

LOGIND_PATH = f"/etc/systemd/logind.conf.d/{OWN_NAME}"
_WORDS = {True: ("yes", "true", "on", "1"), False: ("no", "false", "off", "0")}


def logind_file(policy: HostPolicy) -> tuple[HostFile, ...]:
    """The drop-in that says so from the next start of logind on."""
    if policy.remove_ipc is None:
        return ()
    return (HostFile(path=LOGIND_PATH, text=f"{HEAD}[Login]\nRemoveIPC={_WORDS[policy.remove_ipc][0]}\n"),)


def login_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes it so, or everything that stands in the way."""
    asked = policy.remove_ipc is not None or bool(policy.linger)
    if blind := seen.unobserved("host_files", *(("logins",) if asked else ())):
        yield blind
        return
    refusals = tuple(_in_the_way(policy, seen.host, known(seen.logins))) if asked else ()
    if refusals:
        yield from refusals
        return
    why = "logind forgets what it was told when it starts again"
    yield from file_steps(seen.host, logind_file(policy), (LOGIND_PATH,), known(seen.host_files), why)
    if asked:
        yield from _now(policy, seen.host, known(seen.logins))


def _in_the_way(policy: HostPolicy, host: str, state: Logins) -> Iterator[Refusal]:
    if policy.remove_ipc is not None:
        found = overridden(host, "RemoveIPC", _WORDS[policy.remove_ipc], state.lines)
        if found is not None:
            yield found
    for user in policy.linger:
        if not state.users.get(user, False):
            yield Refusal(
                code="user_missing", subject=f"{host} user {user}", expected="a user of that name", found="none",
                hint="add the user, or take it out of linger",
            )  # fmt: skip


def _now(policy: HostPolicy, host: str, state: Logins) -> Iterator[Step]:
    if policy.remove_ipc is not None and state.removes_ipc is (not policy.remove_ipc):
        yield ReloadLogind(
            subject=f"{host} logind now",
            before=f"RemoveIPC={_WORDS[state.removes_ipc][0]}",
            after=f"RemoveIPC={_WORDS[policy.remove_ipc][0]}",
            reason="logind has read another file; sessions stay as they are",
        )
    for user in policy.linger:
        if user not in state.lingering:
            yield EnableLinger(
                subject=f"{host} linger of {user}",
                before="only while a session lasts",
                after="lingers",
                reason="what a user leaves running outlives the last session",
                user=user,
            )
