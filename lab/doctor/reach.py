"""How an inventory reaches its hosts, as far as this machine alone can tell: names and pinned keys."""

import socket
from collections.abc import Iterator
from pathlib import Path
from shlex import join

import gevent
from paramiko import HostKeys
from pyinfra.api import Host
from pyinfra.connectors.sshuserclient.client import get_ssh_config

from fleet.doctor.check import Reached

RESOLVE_SECONDS = 5.0
"""A resolver that does not answer is asked again by libc for about that long (resolv.conf(5): 5 s, twice)."""
SSH_PORT = 22


def reached(hosts: dict[str, Host]) -> tuple[Reached, ...]:
    """Each host of an inventory over SSH; names are looked up at the same time."""
    asking = [gevent.spawn(_reached, host) for host in hosts.values() if not host.name.startswith("@")]
    gevent.joinall(asking, raise_error=True)
    return tuple(each.get() for each in asking)


def ssh_command(host: Host) -> str:
    """The command that reaches a host as the inventory says it, for a shell: its user, port, key and pinned keys."""
    return join(["ssh", *_options(host), str(host.data.get("ssh_hostname") or host.name)])


def _options(host: Host) -> Iterator[str]:
    named = {"ssh_config_file": "-F", "ssh_port": "-p", "ssh_user": "-l", "ssh_key": "-i"}
    for key, option in named.items():
        if value := host.data.get(key):
            yield from (option, str(value))
    if keys := host.data.get("ssh_known_hosts_file"):
        yield from ("-o", f'UserKnownHostsFile="{keys}"')


def _reached(host: Host) -> Reached:
    called = str(host.data.get("ssh_hostname") or host.name)
    config = get_ssh_config(host.data.get("ssh_config_file"))
    known = config.lookup(called) if config is not None else {}
    place = str(known.get("hostname") or called)
    port = int(host.data.get("ssh_port") or known.get("port") or SSH_PORT)
    jumps = "proxyjump" in known or "proxycommand" in known
    keys = str(host.data.get("ssh_known_hosts_file") or "")
    return Reached(
        host=host.name,
        place=place if port == SSH_PORT else f"[{place}]:{port}",
        unresolved=None if jumps else _unresolved(place, port),
        pinned=not keys or _is_pinned(Path(keys), {called, place}, port),
        known_hosts=keys,
    )


def _unresolved(place: str, port: int) -> str | None:
    def ask() -> str | None:
        try:
            socket.getaddrinfo(place, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            return str(getattr(error, "strerror", None) or error)
        return None

    over = f"no answer of the resolver in {RESOLVE_SECONDS:g} s"
    found: str | None = gevent.with_timeout(RESOLVE_SECONDS, ask, timeout_value=over)
    return found


def _is_pinned(path: Path, names: set[str], port: int) -> bool:
    """Has any of its names a key there? A line that cannot be read pins nothing."""
    keys = HostKeys()
    try:
        keys.load(str(path))
    except (OSError, UnicodeDecodeError):
        return False
    forms = names if port == SSH_PORT else {f"[{name}]:{port}" for name in names}
    return any(keys.lookup(form) for form in forms)
