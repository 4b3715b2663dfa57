"""What a command says line by line: over SSH as it comes, else at its end; and a cut is no end."""

import io
from types import SimpleNamespace
from typing import Any

import pytest
from pyinfra.api import StringCommand
from pyinfra.connectors.ssh import SSHConnector

from operations.stream import Broken, lines

COMMAND = StringCommand("x")


class Channel:
    """A played channel of paramiko."""

    def __init__(self, status: int) -> None:
        self.status, self.closed = status, False

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
    return SimpleNamespace(connector=connector), channel


def elsewhere(out: list[str], err: list[str], is_ok: bool) -> Any:
    output = SimpleNamespace(stdout_lines=out, stderr_lines=err)
    return SimpleNamespace(connector=None, run_shell_command=lambda command, **_: (is_ok, output))


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
