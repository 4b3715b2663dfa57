"""A connection to a host that is gone without a goodbye ends, also where nothing is to be sent."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import paramiko
import pytest
from pyinfra.connectors.sshuserclient.client import get_host_keys

from lab import transport
from tests.waiting import until

KEY = paramiko.RSAKey.generate(1024)


class Host(paramiko.ServerInterface):
    """Takes every command, and never answers."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def check_auth_none(self, username: str) -> int:
        return paramiko.common.AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.common.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self.asked.set()
        return True


class Cut:
    """A way to the host that carries all until the host loses its power; then it resets whatever still comes."""

    def __init__(self, host: Host) -> None:
        here, there = socket.socketpair()
        self.server = paramiko.Transport(there)
        self.server.add_server_key(KEY)
        self.server.start_server(threading.Event(), host)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.client = socket.create_connection(self.listener.getsockname())
        self.way, self.here = self.listener.accept()[0], here
        self.power = threading.Event()
        self.power.set()
        for source, goal in ((self.way, here), (here, self.way)):
            threading.Thread(target=self._carry, args=(source, goal), daemon=True).start()

    def _carry(self, source: socket.socket, goal: socket.socket) -> None:
        with suppress(OSError):  # closed, which ends it
            while said := source.recv(65536):
                if not self.power.is_set():
                    self.way.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.way.close()
                    return
                goal.sendall(said)

    def close(self) -> None:
        self.server.close()
        for each in (self.listener, self.here, self.client, self.way):
            each.close()


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def cut(host: Host) -> Iterator[Cut]:
    made = Cut(host)
    yield made
    made.close()


@pytest.mark.timeout(120)
def test_a_command_without_an_answer_ends_when_the_host_has_lost_its_power(
    cut: Cut, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "ALIVE_SECONDS", 1)
    made = transport.transport(cut.client)
    made.start_client()
    made.auth_none("spark")
    channel = made.open_session()
    channel.exec_command("something that takes long")
    assert host.asked.wait(60)
    cut.power.clear()
    assert channel.recv_exit_status() == -1
    until(lambda: not made.is_active(), "its thread tells its channels first")
    made.close()


def test_what_nobody_acknowledges_ends_it_too(cut: Cut) -> None:
    made = transport.transport(cut.client)
    given = cut.client.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert given == transport.GONE_SECONDS * 1000 > transport.ALIVE_SECONDS * 1000
    made.close()


def test_host_keys_that_cannot_be_read_are_told_in_our_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = str(tmp_path / "known_hosts")
    get_host_keys((file,))
    told = f"{file}: expected the host keys of this site, found No such file or directory; "
    assert [each.getMessage() for each in caplog.records] == [f"{told}without its key no host is spoken to"]
