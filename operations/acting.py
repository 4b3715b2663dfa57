"""What every operation of ours does: refuse in one line, carry steps out and forget, and read back what it did.

Commands say what they are for, and which step they carry out: so a plan can hold them, and it can be compared with
what the operations would do.
"""

from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import Any

import gevent
from paramiko import SSHException
from pyinfra import logger
from pyinfra.api import FunctionCommand, Host, State, StringCommand

from facts.observe import forget, settle
from fleet.planned import PlannedCommand
from fleet.refusal import Refusal
from fleet.step import Step
from operations.answer import root_script
from operations.approved import begins, carried_out, differs, going_on, not_approved, refused
from operations.fresh import is_cut
from operations.lock_script import HELD
from operations.stream import Broken, lines

POLL_SECONDS = 0.5
"""Between two looks while waiting for a change to show; after `nmcli connection up` addresses come in 0.1 to 2 s."""

Means = Callable[[Any, str], Refusal | None]


class Script(StringCommand):
    """One POSIX script for root, one exec channel, and the step that it carries out.

    It does nothing unless this run holds the host's lock: see `operations.lock.under_lock`.
    """

    def __init__(self, script: str, step: Step | None = None) -> None:
        super().__init__(root_script(f"{HELD}\n{script.strip()}"))
        self.step = step
        self.planned = PlannedCommand(does=step.kind if step else "script", sends=(self.get_raw_value(),))
        """How a plan holds it."""


class Call(FunctionCommand):
    """A function `(state, host, *args) -> bool` as a command, by what it does; False fails the host."""

    def __init__(
        self,
        does: str,
        function: Callable[..., bool],
        *args: Any,
        step: Step | None = None,
        sends: tuple[str, ...] = (),
    ) -> None:
        super().__init__(function, args, {})
        self.step = step
        self.planned = PlannedCommand(does=does, sends=sends)
        """How a plan holds it."""


def refuse(*refusals: Refusal) -> Iterator[Call]:
    """Yields the command that says why and fails this host alone: pyinfra then exits 1, without a traceback."""
    yield Call(f"refuse: {'; '.join(map(str, refusals))}", say, refusals)


def say(state: State, host: Host, refusals: tuple[Refusal, ...]) -> bool:
    """Say why, as the function of a command; False, by which pyinfra fails the host."""
    complain(host, refusals)
    refused(host, refusals)
    return False


def complain(host: Host, refusals: Sequence[Refusal]) -> None:
    """Tell people; nobody else hears of it."""
    for refusal in refusals:
        logger.error(f"{host.print_prefix}refused: {refusal}")


def act(host: Host, script: str, step: Step | None = None) -> Iterator[Script]:
    """Yields one POSIX script for root that no plan holds; what was observed before it is forgotten after it."""
    yield Script(script, step)
    forget(host)


def carry_out(host: Host, steps: Sequence[Step], script: Callable[[Any], str]) -> Iterator[Script | Call]:
    """Yields the script of each step; what was observed before it is forgotten after it.

    In a run with a plan they are held against what was approved first, all of them: where one is not, all are refused
    and nothing is written.
    """
    if refusals := not_approved(host, steps):
        yield from refuse(*refusals)
        return
    for step in steps:
        begins(host, step)
        yield Script(script(step), step)
        carried_out(host, step)
        forget(host)


def carry_out_telling(
    host: Host,
    steps: Sequence[Step],
    script: Callable[[Any], str],
    given: Callable[[Any], str | None] = lambda _: None,
    means: Means = lambda _, __: None,
) -> Iterator[Call]:
    """As `carry_out`, for steps that take long: what each prints is told while it runs.

    + given: what the script of a step reads, where that is nothing for a plan, or for a list of processes
    + means: what the last words of a step that failed mean, where they mean more than that
    """
    if refusals := not_approved(host, steps):
        yield from refuse(*refusals)
        return
    for step in steps:
        begins(host, step)
        command = Script(script(step), step)
        yield Call(step.kind, _told, command, given, means, step=step, sends=command.planned.sends)
        carried_out(host, step)
        forget(host)


def _told(state: State, host: Host, command: Script, given: Callable[[Any], str | None], means: Means) -> bool:
    try:
        for line in lines(host, command, given(command.step)):
            going_on(host, line)
    except (Broken, OSError, EOFError, SSHException) as error:
        words = str(error) or type(error).__name__
        if (refusal := means(command.step, words)) is not None:
            return say(state, host, (refusal,))
        logger.error(f"{host.print_prefix}{words}")
        return False
    return True


def read_back(difference: Callable[[Host], Refusal | None], timeout_seconds: float) -> Iterator[Call]:
    """Yields the command that looks again until there is no difference, and fails the host when time is up.

    Over a connection that has ended there is nothing to wait for.
    """
    yield Call("read back", _wait_until_same, difference, timeout_seconds)


def _wait_until_same(
    state: State, host: Host, difference: Callable[[Host], Refusal | None], timeout_seconds: float
) -> bool:
    waited = 0.0
    while True:
        forget(host)
        found = difference(host)
        if found is None:
            settle(host)
            return True
        if waited >= timeout_seconds or is_cut(host):
            complain(host, (found,))
            differs(host, found)
            return False
        gevent.sleep(POLL_SECONDS)
        waited += POLL_SECONDS


def write_file(path: str, text: str, mode: int, check: str = "true") -> str:
    """A script that makes a file durable: temp file beside it with its final mode, fsync, `check`, rename, fsync.

    + path: absolute; its directory exists; what a killed run left beside it is removed
    + mode: permission bits, set before the first byte is written
    + check: a command that may refuse the temp file, which it finds as `$new`
    """
    directory, _, name = path.rpartition("/")
    return f"""
umask 077
find {quote(directory)} -maxdepth 1 -name {quote(f".{name}.*.new")} -delete
full() {{ echo {quote(f"{path}: expected room to write it whole, found the write refused; the old file stands")} >&2
  exit 74; }}
new=$(mktemp {quote(f"{directory}/.{name}.XXXXXX.new")}) || full
trap 'rm -f "$new"' EXIT
chmod {mode:04o} "$new"
printf %s {quote(text)} > "$new" || full
sync "$new" || full
{check}
mv -fT "$new" {quote(path)}
trap - EXIT
sync {quote(directory)}
"""
