"""The SSH transport of a site: no Nagle delay, an end where the host is gone, and on request a trace of every command.

Stock sockets cost about 49 ms per command on loopback, 6 to 10 ms with TCP_NODELAY (measured 2026-11-29 with
pyinfra 3.10.0 and paramiko 4 on two shared cores).
"""

import json
import logging
import os
import socket
import time
from typing import Any

import paramiko
from pyinfra import logger

TRACE = "SPARKS_SSH_TRACE"
"""Environment variable: a file that gets one JSON line for each channel opened, command begun and command ended."""

ALIVE_SECONDS = 15
"""How often a connection on which nothing is said sends something: a host that lost its power says no goodbye, and
whoever only waits for its answer waits for ever. One that has booted answers that it knows no such connection."""
GONE_SECONDS = 120
"""How long what was sent may stay without a word from the host's kernel. A host that has much to do answers still: its
kernel does, not its sshd. Four times the 30 s that a ring of switches may take to find another way (802.1D)."""

# Where nobody listens to it, Python prints what paramiko logs as an error: the traceback of a host that hung up.
# pyinfra says the same in one line.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

UNREAD_KEYS = "Failed to load host keys from %s: %s"
"""What pyinfra 3.10.0 warns of, with the file and the error, for each host that it connects to."""


def _in_our_words(record: logging.LogRecord) -> bool:
    """A file of host keys that is not there is the first thing that a new site lacks: say what to do about it."""
    if record.msg == UNREAD_KEYS and isinstance(record.args, tuple):
        path, error = record.args
        record.args = (path, getattr(error, "strerror", None) or error)
        record.msg = "%s: expected the host keys of this site, found %s; without its key no host is spoken to"
    return True


logger.addFilter(_in_our_words)


class Transport(paramiko.Transport):
    """paramiko's transport on a socket without Nagle's algorithm that notices when the host is gone.

    Channels are traced where `TRACE` is set.
    """

    def __init__(self, sock: Any, **kwargs: Any) -> None:
        if isinstance(sock, socket.socket):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # only Linux has it; others give up after minutes of their own
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_SECONDS * 1000)
        super().__init__(sock, **kwargs)
        self.set_keepalive(ALIVE_SECONDS)

    def open_session(self, *args: Any, **kwargs: Any) -> paramiko.Channel:
        """A new session channel, noted in the trace."""
        channel = super().open_session(*args, **kwargs)
        if os.environ.get(TRACE):
            sock: Any = self.sock
            host, port = sock.getpeername()[:2]
            _trace(channel, f"{host}:{port}", sock.getsockname()[1])
        return channel


def transport(sock: Any, **kwargs: Any) -> Transport:
    """What pyinfra takes as `ssh_paramiko_connect_kwargs["transport_factory"]`: a function can be printed."""
    return Transport(sock, **kwargs)


def _trace(channel: paramiko.Channel, peer: str, local: int) -> None:
    """Makes one channel note what it does, and over which connection: `local` is its port here.

    paramiko builds channels itself, so the instance is what can be changed.
    """
    carry, status_of = channel.exec_command, channel.recv_exit_status

    def exec_command(command: str | bytes) -> None:
        text = command.decode() if isinstance(command, bytes) else command
        _note(peer=peer, local=local, event="begin", command=text)
        carry(command)

    def recv_exit_status() -> int:
        status = status_of()
        _note(peer=peer, event="end", status=status)
        return status

    _note(peer=peer, event="open")
    channel.exec_command = exec_command  # type: ignore[method-assign, assignment]
    channel.recv_exit_status = recv_exit_status  # type: ignore[method-assign]


def _note(**entry: Any) -> None:
    """Append one line; O_APPEND keeps lines of concurrent hosts whole."""
    line = json.dumps({"at": time.time(), **entry}) + "\n"
    descriptor = os.open(os.environ[TRACE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
