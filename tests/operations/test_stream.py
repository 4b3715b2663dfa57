"""What a command says line by line: over SSH as it comes, else at its end; and a cut is no end."""

import io
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyinfra.api import StringCommand
from pyinfra.connectors.local import LocalConnector
from pyinfra.connectors.ssh import SSHConnector

from operations.stream import GATE, Broken, lines, send

COMMAND = StringCommand("x")


class Channel:
    """A played channel of paramiko."""

    def __init__(self, status: int) -> None:
        self.status, self.closed, self.taken, self.takes = status, False, b"", 10**9

    def sendall(self, piece: bytes) -> None:
        if len(self.taken) >= self.takes:
            raise OSError("Socket is closed")
        self.taken += piece

    def shutdown_write(self) -> None:
        self.taken += b"|"

    def recv_exit_status(self) -> int:
        return self.status

    def close(self) -> None:
        self.closed = True


def over_ssh(out: str, err: str = "", status: int = 0) -> tuple[Any, Channel]:
    channel = Channel(status)
    stdout: Any = io.StringIO(out)
    stdout.channel = channel
    connector = SSHConnector.__new__(SSHConnector)
    answer = (io.StringIO(), stdout, io.BytesIO(err.encode()))
    connector.client = SimpleNamespace(exec_command=lambda command: answer)  # type: ignore[assignment]
    return SimpleNamespace(connector=connector, connector_data={}), channel


def elsewhere(out: list[str], err: list[str], is_ok: bool) -> Any:
    output = SimpleNamespace(stdout_lines=out, stderr_lines=err)
    return SimpleNamespace(connector=None, connector_data={}, run_shell_command=lambda command, **_: (is_ok, output))


def test_each_line_comes_and_the_channel_is_closed_at_the_end() -> None:
    host, channel = over_ssh("one\ntwo\n")
    assert list(lines(host, COMMAND)) == ["one", "two"]
    assert channel.closed
    assert list(lines(elsewhere(["one"], [], True), COMMAND)) == ["one"]


def test_it_is_closed_too_when_nobody_wants_more() -> None:
    host, channel = over_ssh("one\ntwo\n")
    said = lines(host, COMMAND)
    assert next(said) == "one"
    said.close()  # type: ignore[attr-defined]
    assert channel.closed


@pytest.mark.parametrize(
    "host",
    [over_ssh("one\n", "first\nsudo refused\n", 77)[0], elsewhere(["one"], ["first", "sudo refused", ""], False)],
)
def test_a_failure_is_its_last_line(host: Any) -> None:
    with pytest.raises(Broken, match=r"^sudo refused$"):
        list(lines(host, COMMAND))


def test_a_cut_is_no_end() -> None:
    with pytest.raises(Broken, match="no answer to its end"):
        list(lines(over_ssh("one\n", status=-1)[0], COMMAND))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a file"
    path.write_bytes(b"0123456789")
    return path


def test_a_file_is_sent_from_an_offset_to_its_end(file: Path) -> None:
    host, channel = over_ssh("")
    told: list[int] = []
    send(host, COMMAND, str(file), 4, told.append)
    assert (channel.taken, told, channel.closed) == (b"456789|", [10], True)


def test_a_command_that_takes_no_more_says_why(file: Path) -> None:
    host, channel = over_ssh("", "no room\n", 1)
    channel.takes = 0
    with pytest.raises(Broken, match="no room"):
        send(host, COMMAND, str(file), 0, lambda _: None)
    assert channel.closed


def test_a_file_is_sent_on_this_machine_too(file: Path, tmp_path: Path) -> None:
    connector = LocalConnector.__new__(LocalConnector)

    def run(command: StringCommand, **_: Any) -> tuple[bool, Any]:
        done = subprocess.run(["sh", "-c", command.get_raw_value()], capture_output=True, text=True, check=False)
        return done.returncode == 0, SimpleNamespace(stderr_lines=done.stderr.splitlines())

    host: Any = SimpleNamespace(connector=connector, connector_data={}, run_shell_command=run)
    send(host, StringCommand(f"cat > {tmp_path / 'there'}"), str(file), 4, lambda _: None)
    assert (tmp_path / "there").read_bytes() == b"456789"
    with pytest.raises(Broken):
        send(host, StringCommand("exit 3"), str(file), 0, lambda _: None)


def test_nothing_is_sent_over_another_connection(file: Path) -> None:
    with pytest.raises(Broken, match="expected a connection over SSH"):
        send(elsewhere([], [], True), COMMAND, str(file), 0, lambda _: None)


def test_nothing_begins_behind_a_gate_that_is_closed(file: Path) -> None:
    class Closed(Exception):
        pass

    def closed() -> None:
        raise Closed

    host, channel = over_ssh("one\n")
    host.connector_data[GATE] = closed
    with pytest.raises(Closed):
        list(lines(host, COMMAND))
    with pytest.raises(Closed):
        send(host, COMMAND, str(file), 0, lambda _: None)
    assert channel.taken == b""
