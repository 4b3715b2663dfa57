"""A host that never was: observations to plan from, and what carrying a step out does to them."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from facts.remote import netplan_tree
from fleet.applied import AppliedIp4
from fleet.connections import Connections, Networking, Profile
from fleet.desired import DesiredEnd
from fleet.generation import Stamp
from fleet.hardware import TWINS
from fleet.keyfile import Settings, Storage, parse_keyfile
from fleet.link_route import LinkRoute
from fleet.links import Link, LinkAddress
from fleet.lock import LockState
from fleet.netplan.device import NetplanFile
from fleet.netplan.files import parse
from fleet.netplan.harmless import ALLOWED
from fleet.nm_device import NmDevice
from fleet.observation import Observation, known
from fleet.ollama.service import ServiceState
from fleet.pci import PciFunction, PciNetwork
from fleet.plan import Plan, Refusals, plan
from fleet.rail_active import Activate
from fleet.rail_document import WriteDocument, document_for
from fleet.rail_gid import RenewGid
from fleet.rdma_use import DeviceUse
from fleet.record import sha256_digest
from fleet.roce import RoceDevice, RoceGid
from fleet.roster import Roster
from fleet.session import Session, SshConnection
from fleet.step import Step
from fleet.target import Scope, Target
from fleet.transit.desired import Transit
from fleet.transit.steps import ActivateTransit, RemoveTransit, WriteTransit
from fleet.trial import Guard
from tests.fleet.transit import host as transit_host

MANAGEMENT = "enP7s7"
BOOT = "b0070000-0000-4000-8000-000000000000"


NO_OLLAMA = ServiceState(
    load_state="not-found", active_state="inactive", sub_state="dead", unit_file_state="", need_daemon_reload=False,
    main_pid=None, started_monotonic_us=None, exec_start=None, user=None, fragment=None, process_environment=None,
)  # fmt: skip
"""A Spark on which nobody has installed Ollama."""


def plan_of(roster: Roster, collection: Mapping[str, Observation], scope: Scope = Scope.SERVE) -> Plan | Refusals:
    """The plan for exactly the hosts of a collection."""
    return plan(roster, Target(name="test", kind="deployment", hosts=tuple(sorted(collection))), collection, scope)


def blank(host: str) -> Observation:
    """A Spark as it comes: cables in, nothing configured on the fabric."""
    return Observation(
        host=host,
        netplan=(),
        links=tuple(link(name) for name in (MANAGEMENT, *(twin.interface for twin in TWINS))),
        connections=Connections(
            running=True,
            networking=Networking.ENABLED,
            devices=tuple(NmDevice(name=twin.interface, type="ethernet", state="disconnected") for twin in TWINS),
        ),
        roce_devices=tuple(
            RoceDevice(device=twin.rdma_device, port=1, state=4, state_name="ACTIVE", link_layer="Ethernet",
                       netdevs=(twin.interface,))
            for twin in TWINS
        ),
        roce_gids=(),
        transit=transit_host.UNTOUCHED,
        firewall=transit_host.with_docker(),
        session=Session(ssh=SshConnection(client="10.0.0.2", server="10.0.0.11", port=22, device=MANAGEMENT)),
        guard=Guard(),
        generation=Stamp(generation=None),
        lock=LockState(boot_id=BOOT),
        management=AppliedIp4(),
        ollama_service=NO_OLLAMA,
        rdma_use=tuple(DeviceUse(device=twin.rdma_device) for twin in TWINS),
        pci=PciNetwork(
            functions=tuple(
                PciFunction(address=twin.pci_address, vendor="15b3", device="1021", device_class="020000",
                            driver="mlx5_core", interfaces=(twin.interface,))
                for twin in TWINS
            )
        ),
    )  # fmt: skip


def link(name: str, mtu: int = 1500, addresses: Iterable[str] = (), carrier: bool = True) -> Link:
    return Link(
        name=name, ifindex=7, mtu=mtu, up=True, carrier=carrier, operstate="UP" if carrier else "DOWN",
        addresses=tuple(LinkAddress(address=each) for each in addresses),
    )  # fmt: skip


def link_of(end: DesiredEnd, carrier: bool = True) -> Link:
    """A rail's link with all that its document sets."""
    routes = tuple(LinkRoute(to=route.to, via=str(route.via)) for route in end.routes)
    return link(end.interface, end.mtu, [str(end.address)], carrier).replaced(routes=routes)


@lru_cache(maxsize=256)
def netplan_file(path: str, text: str, owner: str = "root", mode: int = 0o600) -> NetplanFile:
    """A file as the real look would see it on a host, read by the code that runs there."""
    reader: Any = netplan_tree
    entry: dict[str, Any] = {
        "path": path, "directory": path.split("/")[1], "mode": mode, "owner": owner, "group": "root",
        "size": len(text), "sha256": sha256_digest(text.encode()).removeprefix("sha256:"),
    }  # fmt: skip
    try:
        entry["tree"] = reader.tree_of(text.encode(), ALLOWED)
    except reader.Bad as bad:
        entry["error"] = list(bad.args)
    (file,) = parse(json.dumps({"files": [entry]}))
    return file


def with_link(seen: Observation, changed: Link) -> Observation:
    links = tuple(changed if each.name == changed.name else each for each in known(seen.links))
    return seen.model_copy(update={"links": links})


def with_file(seen: Observation, file: NetplanFile) -> Observation:
    others = tuple(each for each in known(seen.netplan) if each.path != file.path)
    return seen.model_copy(update={"netplan": (*others, file)})


def with_device(seen: Observation, name: str, state: str = "connected") -> Observation:
    """A device as NetworkManager has it."""
    before = known(seen.connections)
    others = tuple(each for each in before.devices if each.name != name)
    device = NmDevice(name=name, type="ethernet", state=state)
    return seen.model_copy(update={"connections": before.model_copy(update={"devices": (*others, device)})})


def with_profile(seen: Observation, profile: Profile) -> Observation:
    """A profile that is loaded; where it is up, what was up on its device is not any more."""
    before = known(seen.connections)
    others = tuple(
        each.model_copy(update={"state": None, "device": None}) if profile.device and each.device == profile.device
        else each
        for each in before.profiles
        if each.uuid != profile.uuid
    )  # fmt: skip
    return seen.model_copy(update={"connections": before.model_copy(update={"profiles": (*others, profile)})})


def with_keyfile(seen: Observation, text: str, name: str = "x", loaded: bool = True) -> Observation:
    """A keyfile that stays, as a person or a tool has put it there with nmcli."""
    path = f"/etc/NetworkManager/system-connections/{name}.nmconnection"
    digest = f"[.sparks]\ndigest={sha256_digest(text.encode())}\n"
    file = parse_keyfile(text + digest, path)
    before = known(seen.connections)
    others = tuple(each for each in before.keyfiles if each.path != path)
    seen = seen.model_copy(update={"connections": before.model_copy(update={"keyfiles": (*others, file)})})
    if not loaded:
        return seen
    profile = Profile(
        name=name, uuid=file.uuid or "11111111-2222-3333-4444-555555555555", type="802-3-ethernet", filename=path,
        autoconnect=True, storage=Storage.PERSISTENT, stored=file.settings,
    )  # fmt: skip
    return with_profile(seen, profile)


def own_profile(end: DesiredEnd) -> Profile:
    """What NetworkManager has once netplan generated an end's document and it was brought up."""
    document = document_for(end)
    return Profile(
        name=f"sparks-{end.interface}", uuid=document.uuid, type="802-3-ethernet", device=end.interface,
        filename=f"/run/NetworkManager/system-connections/netplan-NM-{document.uuid}.nmconnection",
        autoconnect=True, state="activated", storage=Storage.NETPLAN,
        stored=Settings(ipv4_method="manual", ipv4_addresses=(str(end.address),), mtu=end.mtu,
                        interface=end.interface),
    )  # fmt: skip


def gid(end: DesiredEnd) -> RoceGid:
    words = end.address.ip.words
    mapped = f"{words[0]:02x}{words[1]:02x}:{words[2]:02x}{words[3]:02x}"
    return RoceGid(
        device=end.twin.rdma_device, port=1, index=3, gid=f"0000:0000:0000:0000:0000:ffff:{mapped}", type="RoCE v2",
        netdev=end.interface, ipv4=str(end.address.ip), link_layer="Ethernet", port_active=True,
    )  # fmt: skip


def with_end(seen: Observation, end: DesiredEnd) -> Observation:
    """The end is up, as its document says."""
    seen = with_link(seen, link_of(end))
    gids = (*(each for each in known(seen.roce_gids) if each.netdev != end.interface), gid(end))
    return with_profile(seen, own_profile(end)).model_copy(update={"roce_gids": gids})


def applied(step: Step, ends: Iterable[DesiredEnd], seen: Observation) -> Observation:
    """The host after a step was carried out."""
    match step:
        case WriteDocument(document=document):
            return with_file(seen, netplan_file(document.path, document.text))
        case Activate(interface=interface) | RenewGid(interface=interface):
            return with_end(seen, next(each for each in ends if each.interface == interface))
        case WriteTransit() | ActivateTransit() | RemoveTransit():
            return transit_host.applied(step, seen)
        case _:
            raise AssertionError(f"expected a step of the fabric, found {step.kind}")


def as_desired(ends: Iterable[DesiredEnd], host: str, transit: Transit | None = None) -> Observation:
    """A host on which every end is durable and active, and passes on what it should."""
    seen = blank(host) if transit is None else transit_host.passing_on(transit, blank(host))
    for end in ends:
        document = document_for(end)
        seen = with_end(with_file(seen, netplan_file(document.path, document.text)), end)
    return seen
