"""What every operation of ours does: refuse in one line, act and forget, and read back what it did."""

from collections.abc import Callable, Iterator
from shlex import quote

import gevent
from pyinfra import logger
from pyinfra.api import FunctionCommand, Host, State, StringCommand

from facts.look import as_root
from facts.observe import forget, settle
from fleet.refusal import Refusal
from operations.lock_script import HELD

POLL_SECONDS = 0.5
"""Between two looks while waiting for a change to show; after `nmcli connection up` addresses come in 0.1 to 2 s."""


def refuse(*refusals: Refusal) -> Iterator[FunctionCommand]:
    """Yields the command that says why and fails this host alone: pyinfra then exits 1, without a traceback."""
    yield FunctionCommand(say, (refusals,), {})


def say(state: State, host: Host, refusals: tuple[Refusal, ...]) -> bool:
    """Say why, as the function of a command; False, by which pyinfra fails the host."""
    for refusal in refusals:
        logger.error(f"{host.print_prefix}refused: {refusal}")
    return False


def act(host: Host, script: str) -> Iterator[StringCommand]:
    """Yields one POSIX script for root, as one exec channel; what was observed before it is forgotten after it.

    The script does nothing unless this run holds the host's lock: see `operations.lock.under_lock`.
    While pyinfra prepares, it asks for the first command and never runs it: then nothing is forgotten.
    """
    yield StringCommand(as_root(f"export LC_ALL=C; set -eu\n{HELD}\n{script.strip()}"))
    forget(host)


def read_back(differs: Callable[[Host], Refusal | None], timeout_seconds: float) -> Iterator[FunctionCommand]:
    """Yields the command that looks again until `differs` has nothing to say, and fails the host when time is up."""
    yield FunctionCommand(_wait_until_same, (differs, timeout_seconds), {})


def _wait_until_same(
    state: State, host: Host, differs: Callable[[Host], Refusal | None], timeout_seconds: float
) -> bool:
    waited = 0.0
    while True:
        forget(host)
        difference = differs(host)
        if difference is None:
            settle(host)
            return True
        if waited >= timeout_seconds:
            return say(state, host, (difference,))
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
