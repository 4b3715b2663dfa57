"""What a command says on a host, line by line as it comes, or a file that it gets: one exec channel, however long."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from shlex import quote

from pyinfra.api import Host, StringCommand
from pyinfra.connectors.local import LocalConnector
from pyinfra.connectors.ssh import SSHConnector

GATE = "sparks gate"
"""Among a host's `connector_data`: what is called before a command begins, by whoever may want none to."""
PIECE_BYTES = 256 * 1024


class Broken(Exception):
    """The command failed, or the connection ended before it did; one line."""


def lines(host: Host, command: StringCommand, given: str | None = None) -> Iterator[str]:
    """Each line of the command's output; raises Broken where it did not end well.

    + given: what it reads: a secret is in no list of processes then

    The channel is closed when the caller stops asking: then whatever the command prints next ends it.
    """
    _pass_gate(host)
    connector = host.connector
    if isinstance(connector, SSHConnector) and connector.client is not None:
        yield from _over_ssh(connector, command.get_raw_value(), given)
        return
    reads = {} if given is None else {"_stdin": given}
    is_ok, output = host.run_shell_command(command, print_output=False, print_input=False, **reads)
    yield from output.stdout_lines
    if not is_ok:
        raise Broken(_last(output.stderr_lines))


def send(host: Host, command: StringCommand, path: str, offset: int, tell: Callable[[int], None]) -> None:
    """Give a command a file of this machine as its input; raises Broken where it did not take it, OSError for the file.

    + offset: bytes at its beginning that are left out
    + tell: gets how many bytes have gone so far, now and then
    """
    _pass_gate(host)
    connector = host.connector
    if isinstance(connector, SSHConnector) and connector.client is not None:
        _send_over_ssh(connector, command.get_raw_value(), path, offset, tell)
    elif isinstance(connector, LocalConnector):
        here = StringCommand(f"tail -c +{offset + 1} {quote(path)} | {{ {command.get_raw_value()}; }}")
        is_ok, output = host.run_shell_command(here, print_output=False, print_input=False)
        if not is_ok:
            raise Broken(_last(output.stderr_lines))
    else:
        raise Broken("expected a connection over SSH to send a file, found another one")


def _pass_gate(host: Host) -> None:
    """pyinfra's own ways to a host have one in front of them; ours goes past those."""
    if (gate := host.connector_data.get(GATE)) is not None:
        gate()


def _send_over_ssh(connector: SSHConnector, command: str, path: str, offset: int, tell: Callable[[int], None]) -> None:
    assert connector.client is not None
    stdin, stdout, stderr = connector.client.exec_command(command)
    channel = stdout.channel
    try:
        with open(path, "rb") as file, suppress(OSError):
            file.seek(offset)
            while piece := file.read(PIECE_BYTES):
                channel.sendall(piece)
                tell(file.tell())
        channel.shutdown_write()
        if channel.recv_exit_status() != 0:
            raise Broken(_last(stderr.read().decode(errors="replace").splitlines()))
    finally:
        stdin.close()
        channel.close()


def _over_ssh(connector: SSHConnector, command: str, given: str | None) -> Iterator[str]:
    assert connector.client is not None
    stdin, stdout, stderr = connector.client.exec_command(command)
    try:
        if given is not None:
            stdin.write(given)
        stdin.close()
        for line in stdout:
            yield line.rstrip("\n")
        if stdout.channel.recv_exit_status() != 0:
            raise Broken(_last(stderr.read().decode(errors="replace").splitlines()))
    finally:
        stdout.channel.close()


def _last(said: list[str]) -> str:
    """-1 is paramiko's status of a channel that was cut."""
    told = [line for line in said if line.strip()]
    return told[-1][:300] if told else "no answer to its end"
