"""Asking a host in the middle of an operation: one script for root, and its answer or none."""

import re
from dataclasses import dataclass

import gevent
from paramiko import SSHException
from pyinfra.api import Host, StringCommand

from facts.look import as_root

LIMITS = """timeout() {
  command timeout "$@" && return
  set -- $? "$@"
  [ "$1" != 124 ] || (shift; echo "expected an end within the time limit, found none: timeout $*" >&2)
  return "$1"
}
"""
"""Says of what ended by its time limit that it did: `timeout` itself says nothing, and its status 124 tells nobody."""


@dataclass(frozen=True)
class Answer:
    """What a script ended with."""

    is_ok: bool
    out: tuple[str, ...]
    error: str
    """The last line of its complaints."""


def root_script(script: str) -> str:
    """The command by which a host's root runs a POSIX script; its first failure ends it."""
    limits = LIMITS if re.search(r"\btimeout ", script) else ""
    return as_root(f"export LC_ALL=C; set -eu\n{limits}{script}")


def ask(host: Host, script: str, seconds: float) -> Answer | None:
    """What a script said that root ran; None where the connection gave no answer."""
    return answered(host, StringCommand(root_script(script)), seconds)


def answered(host: Host, command: StringCommand, seconds: float) -> Answer | None:
    """What a command said, to nobody but us; None where the connection gave no answer."""
    try:
        with gevent.Timeout(seconds):
            is_ok, output = host.run_shell_command(command, print_output=False, print_input=False)
    except (gevent.Timeout, OSError, EOFError, SSHException):
        return None
    errors = [line for line in output.stderr_lines if line.strip()]
    if not is_ok and not errors:
        return None
    return Answer(is_ok, tuple(output.stdout_lines), errors[-1] if errors else "")
