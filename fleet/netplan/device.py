"""A definition in a netplan file, as NetworkManager will run it; and the file it stands in."""

from fleet.netplan.document import Mode
from fleet.netplan.records import Binds, Directory, NetplanFileError, Problem, Route
from fleet.netplan.settings import NetplanSettings
from fleet.record import Record


class NetplanDevice(Record):
    """One definition. The values are NetworkManager's view: its passthrough settings override netplan's."""

    id: str
    """Netplan's name for it; the interface only where `binds` says so."""
    section: str
    """The mapping it stands in, as `ethernets`."""
    line: int | None = None
    """Where its id stands in the file, first if twice."""
    kind: str
    """ethernet, wifi, bond, bridge, vlan, tunnel, dummy, veth, vrf, modem, infiniband, …"""
    renderer: str | None
    """As written on the definition itself; see `EffectiveDevice.renderer` for who acts on it."""
    binds: Binds
    uuid: str | None
    profile: str | None
    """The profile's name; redacted where it is an SSID."""
    addresses: tuple[str, ...]
    """With their prefixes, each once, as `192.168.102.10/24`."""
    dhcp4: bool
    dhcp6: bool
    method4: str
    """NetworkManager's ipv4.method: auto, manual, link-local, disabled, shared."""
    method6: str
    mtu: int | None
    gateway4: str | None
    gateway6: str | None
    routes: tuple[Route, ...]
    nameservers: tuple[str, ...]
    search: tuple[str, ...]
    never_default4: bool
    """It gives no default route, whatever DHCP offers."""
    never_default6: bool
    controller: str | None
    """The bond, bridge or VRF that it is a port of."""
    members: tuple[str, ...]
    """The ports that this definition names itself; NetworkManager's files name the controller at the port."""
    vlan_id: int | None
    link: str | None
    """The parent of a VLAN or tunnel."""
    tunnel_mode: str | None
    autoconnect: bool
    autoconnect_priority: int
    written: NetplanSettings
    """What the file says, for the merge with other files."""
    errors: tuple[Problem, ...] = ()


class NetplanFile(Record):
    """One `*.yaml` in a netplan directory, secrets left on the host."""

    path: str
    directory: Directory
    name: str
    """Its basename, by which netplan orders and hides files."""
    mode: Mode | None
    """None where it could not be looked at."""
    owner: str | None
    group: str | None
    size_bytes: int | None
    content_digest: str | None
    """sha256 of its bytes; None where they could not be read."""
    too_open: bool
    """Somebody besides the owner has access; netplan warns of it."""
    durable: bool
    """False for what lives in /run only: lost at the next boot."""
    shadowed_by: str | None
    """The file of the same name that netplan reads instead."""
    renderer: str | None
    """The global renderer it sets."""
    devices: tuple[NetplanDevice, ...]
    error: NetplanFileError | None
