"""The SSH connection over which a host is looked at, and the interfaces that carry it."""

import ipaddress
import json
from collections.abc import Iterable, Iterator
from typing import Annotated

from fleet.links import Link, find_link
from fleet.record import VOLATILE, Record


class SshConnection(Record):
    """One SSH connection, as the host sees it."""

    client: Annotated[str, VOLATILE]
    """The address it comes from."""
    server: str
    """The host's own address that it came to."""
    port: int
    """The host's port that it came to."""
    device: str
    """The interface over which answers go back."""


class Session(Record):
    """How a host was reached."""

    ssh: SshConnection | None = None
    """None where it was not over SSH (`@local`)."""

    def may_be_carried_by(self, interface: str, links: Iterable[Link]) -> bool:
        """Could the session break when this interface changes?

        The interface with the address that was dialled carries it, and the one that answers leave by; below a bond,
        a bridge or a VLAN, their ports and parents. Below a tunnel it may be any.
        """
        if self.ssh is None:
            return False
        links = tuple(links)
        link = find_link(links, interface)
        name = interface if link is None else link.name
        below = tuple(_below(self._ends(self.ssh, links), links))
        return name in below or any(_hides_its_carrier(each, links) for each in below)

    def _ends(self, ssh: SshConnection, links: tuple[Link, ...]) -> set[str]:
        server = ipaddress.ip_address(ssh.server)
        dialled = {
            link.name for link in links for each in link.addresses if ipaddress.ip_interface(each.address).ip == server
        }
        return {ssh.device, *dialled}


def _below(names: Iterable[str], links: tuple[Link, ...]) -> Iterator[str]:
    """The links of these names, and all that they lie on."""
    waiting, seen = sorted(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += _carriers(name, links)


def _carriers(name: str, links: tuple[Link, ...]) -> list[str]:
    link = find_link(links, name)
    parents = [link.parent] if link is not None and link.parent is not None else []
    return [*parents, *(each.name for each in links if each.master == name)]


def _hides_its_carrier(name: str, links: tuple[Link, ...]) -> bool:
    """A tunnel's packets leave by any interface; so do those of whatever forwards to the loopback address."""
    link = find_link(links, name)
    if link is None or name == "lo":
        return True
    return link.kind is not None and not _carriers(name, links)


def parse_session(text: str) -> Session:
    """From a line of sshd's SSH_CONNECTION and one of `ip -j route get`; a line `none` is no SSH.

    Raises ValueError for anything else. An IPv6 address of a link has the link's name behind a `%`.
    """
    first, _, rest = text.strip().partition("\n")
    if first == "none":
        return Session()
    words = first.split()
    if len(words) != 4:
        raise ValueError(f"SSH_CONNECTION: expected four words, found {len(words)}")
    client, _, server, port = words
    found = json.loads(rest)
    if not (isinstance(found, list) and len(found) == 1 and "dev" in found[0]):
        raise ValueError("ip route get: expected one route with its device, found another answer")
    return Session(
        ssh=SshConnection(client=_plain(client), server=_plain(server), port=int(port), device=found[0]["dev"])
    )


def _plain(address: str) -> str:
    """Without the zone; an IPv4 address in IPv6 clothes is the IPv4 address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)
