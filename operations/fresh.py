"""A fresh SSH connection to a host in the middle of a run: a new TCP connection, a new login, the same pinned key."""

import contextlib
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gevent
from paramiko import SSHException
from pyinfra.api import Host, State
from pyinfra.api.exceptions import ConnectError
from pyinfra.connectors.ssh import SSHConnector

CONNECT_SECONDS = 10
"""For the TCP connection, and 5 s more for the server's first word: some networks accept for a host that is away."""
LOGIN_SECONDS = 60
"""For all of a connection and its login; 1 to 5 s on virtual Sparks (measured 2026-11-29)."""
PAUSE_SECONDS = 1.0
"""Between two rounds of tries."""


@dataclass(frozen=True)
class Place:
    """Where a host may answer: an address and a port; without one it is what the inventory says."""

    address: str | None = None
    port: int = 22

    def __str__(self) -> str:
        return "the inventory's address" if self.address is None else f"{self.address}:{self.port}"


def places(host: Host, reach: Sequence[str]) -> tuple[Place, ...]:
    """The inventory's address; each address of `reach` at the inventory's port; each of host data `ssh_also_at`."""
    port = _port(host)
    also = [str(each).rpartition(":") for each in host.data.get("ssh_also_at") or ()]
    return (
        Place(),
        *(Place(address, port) for address in reach),
        *(Place(address, int(number)) for address, _, number in also),
    )


def _port(host: Host) -> int:
    """The port that the host was reached at, which ssh_config may have chosen."""
    if number := host.data.get("ssh_port"):
        return int(number)
    client = getattr(host.connector, "client", None)
    config: dict[str, Any] = getattr(client, "_ssh_config", None) or {}
    return int(config.get("port", 22))


def connected(state: State, host: Host, where: Sequence[Place]) -> Iterator[tuple[Place, SSHConnector]]:
    """Every place that answers now, with a new connection to it that is the caller's to use or to `close`."""
    for place in where:
        connector = _connect(state, host, place)
        if connector is not None:
            yield place, connector


def _connect(state: State, host: Host, place: Place) -> SSHConnector | None:
    """The key is looked up under the inventory's name wherever the host answers: it is the same host or it is none."""
    connector = SSHConnector(state, host)
    given: dict[str, Any] = dict(connector.data["ssh_paramiko_connect_kwargs"] or {})
    given |= {"timeout": CONNECT_SECONDS, "banner_timeout": CONNECT_SECONDS + 5, "auth_timeout": LOGIN_SECONDS}
    try:
        with gevent.Timeout(LOGIN_SECONDS):
            if place.address is not None:
                given["sock"] = socket.create_connection((place.address, place.port), timeout=CONNECT_SECONDS)
            connector.data["ssh_paramiko_connect_kwargs"] = given
            connector.data["ssh_connect_retries"] = 0
            connector.connect()
    except (gevent.Timeout, ConnectError, OSError, SSHException):
        close(connector)
        return None
    return connector


def is_cut(host: Host) -> bool:
    """Has the connection of the host ended? It does not come back by itself."""
    client = host.connector.client if isinstance(host.connector, SSHConnector) else None
    transport = client.get_transport() if client is not None else None
    return client is not None and not (transport is not None and transport.is_active())


def use(host: Host, connector: SSHConnector) -> None:
    """Make a connection the one that facts and later operations of the run go over; the old one is closed."""
    old = host.connector
    host.connector, host.connected = connector, True
    if isinstance(old, SSHConnector) and old is not connector:
        close(old)


def close(connector: SSHConnector) -> None:
    """End a connection, whatever state it is in."""
    if connector.client is not None:
        with contextlib.suppress(Exception):
            connector.client.close()
