"""What a command says on a host, line by line as it comes: one exec channel for something that takes long."""

from collections.abc import Iterator

from pyinfra.api import Host, StringCommand
from pyinfra.connectors.ssh import SSHConnector


class Broken(Exception):
    """The command failed, or the connection ended before it did; one line."""


def lines(host: Host, command: StringCommand) -> Iterator[str]:
    """Each line of the command's output; raises Broken where it did not end well.

    The channel is closed when the caller stops asking: then whatever the command prints next ends it.
    """
    connector = host.connector
    if isinstance(connector, SSHConnector) and connector.client is not None:
        yield from _over_ssh(connector, command.get_raw_value())
        return
    is_ok, output = host.run_shell_command(command, print_output=False, print_input=False)
    yield from output.stdout_lines
    if not is_ok:
        raise Broken(_last(output.stderr_lines))


def _over_ssh(connector: SSHConnector, command: str) -> Iterator[str]:
    assert connector.client is not None
    stdin, stdout, stderr = connector.client.exec_command(command)
    try:
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
