"""Which process serves, where it listens, who is connected to it, and what it has loaded. Carried as text.

What is not there any more, or may not be read, raises `Blind` of `ollama_store`.
"""

import hashlib
import ipaddress
import os
import struct

ESTABLISHED, LISTENING = "01", "0A"
"""States of a TCP socket in /proc/net/tcp (include/net/tcp_states.h)."""


def identity(pid, blind):
    """What makes one process that process and no other."""
    try:
        start = start_ticks(pid)
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            arguments = file.read()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        return {
            "pid": pid,
            "start_ticks": start,
            "boot_id": boot,
            "unit": unit(pid),
            "executable_digest": digest_of_file(f"/proc/{pid}/exe"),
            "argv_digest": "sha256:" + hashlib.sha256(arguments).hexdigest(),
        }
    except OSError as error:
        raise blind(f"process {pid}: {error.strerror}") from error


def start_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[19])


def digest_of_file(path):
    found = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(2**20):
            found.update(piece)
    return "sha256:" + found.hexdigest()


def unit(pid):
    """The systemd unit of its control group: `ollama.service`."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines():
            hierarchy, controllers, path = line.split(":", 2)
            name = os.path.basename(path)
            if (hierarchy == "0" or controllers == "name=systemd") and name.endswith((".service", ".scope")):
                return name
    return None


def sockets(pid, blind):
    """Every TCP socket of the network that a process is in: near and far address, state, inode."""
    found = []
    for family in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{family}", encoding="ascii") as file:
                lines = file.read().splitlines()[1:]
        except FileNotFoundError:
            if family == "tcp":
                raise blind(f"connections of process {pid}: it is gone") from None
            continue
        except OSError as error:
            raise blind(f"connections of process {pid}: {error.strerror}") from error
        for words in map(str.split, lines):
            found.append((address(words[1]), address(words[2]), words[3], words[9]))
    return found


def address(text):
    """Address and port from the kernel's hexadecimal words, each in the byte order of the machine."""
    digits, _, port = text.partition(":")
    packed = b"".join(struct.pack("=I", int(digits[at : at + 8], 16)) for at in range(0, len(digits), 8))
    found = ipaddress.ip_address(packed)
    return getattr(found, "ipv4_mapped", None) or found, int(port, 16)


def held(pid):
    """The inodes of the sockets that a process has open."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def listening(pid, every, blind):
    """Where a process listens."""
    try:
        mine = held(pid)
    except OSError as error:
        raise blind(f"open files of process {pid}: {error.strerror}") from error
    return [near for near, _, state, inode in every if state == LISTENING and inode in mine]


def clients(places, every):
    """The far end of each connection that is up on one of these ports."""
    ports = {port for _, port in places}
    return [far for near, far, state, _ in every if state == ESTABLISHED and near[1] in ports]


def spelled(place):
    host, port = place
    return f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"


def endpoints(places):
    """URLs by which a client on this host reaches a server that listens there."""
    found = []
    for host, port in places:
        hosts = [host]
        if host.is_unspecified:
            loopback = [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")]
            hosts = loopback if host.version == 6 else loopback[:1]
        found += [f"http://{spelled((each, port))}" for each in hosts]
    return found


def asked(places, path, store):
    """The first answer, else why there is none; None where it does not listen, and so serves nobody."""
    error = None
    for endpoint in endpoints(places):
        try:
            return {"endpoint": endpoint, "body": store.ask(endpoint, path)}
        except store.Blind as found:
            error = error or {"error": str(found)}
    return error


def other(wanted, mine, every):
    """Who listens where clients shall reach the unit, and is not its process."""
    host, port = ipaddress.ip_address(wanted[0]), wanted[1]
    for near, _, state, inode in every:
        reaches = near[0] == host or near[0].is_unspecified
        if state == LISTENING and near[1] == port and reaches and near not in mine:
            return holder(inode)
    return None


def holder(inode):
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if inode in held(name):
                with open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as file:
                    return f"pid {name} ({file.read().strip()}, {unit(name) or 'no unit'})"
        except OSError:
            continue
    return "a process that is not in sight"


def seen(pid, wanted, store):
    """The whole look. `wanted`: where clients shall reach it, or None where that is no address of this kind."""
    every = sockets(pid or os.getpid(), store.Blind)
    places = listening(pid, every, store.Blind) if pid else []
    return {
        "invocation": identity(pid, store.Blind) if pid else None,
        "listens": [spelled(each) for each in places],
        "clients": [str(host) for host, _ in clients(places, every)],
        "models": asked(places, "/api/ps", store),
        "other": other(wanted, places, every) if wanted else None,
    }
