"""Who touches a fabric port, and whether it is there after the next boot."""

from collections.abc import Iterable

import pytest
from netaddr import IPNetwork

from fleet import owners
from fleet.connections import Connections, Networking, Profile
from fleet.hardware import INTERFACES
from fleet.keyfile import Keyfile, Settings, Storage, parse_keyfile
from fleet.links import Link, LinkAddress
from fleet.netplan.device import NetplanFile
from fleet.netplan.document import rail_document
from fleet.nm_device import NmDevice
from fleet.owners import parse_leftovers
from fleet.ownership import Claim, Lasting, ports
from tests.fleet.observed import link, netplan_file

F0, P0, F1, P1 = INTERFACES
"""Both twins of cage f0, both of f1."""

PLAYBOOK = """\
network:
  version: 2
  ethernets:
    enp1s0f0np0:
      dhcp4: false
      addresses: [192.168.100.10/24]
      mtu: 9000
    enP2p1s0f0np0:
      dhcp4: false
      addresses: [192.168.101.10/24]
"""
RUN = "/run/NetworkManager/system-connections"


def claims(
    interface: str,
    files: Iterable[NetplanFile] = (),
    connections: Connections | None = None,
    found: Link | None = None,
) -> tuple[Claim, ...]:
    """What touches a port of a host that has all of them."""
    links = [found if found is not None and found.name == name else link(name) for name in INTERFACES]
    return ports(files, connections or nm(), links).port(interface).claims


def nm(*profiles: Profile, keyfiles: Iterable[Keyfile] = (), external: str | None = None) -> Connections:
    devices = [
        NmDevice(name=name, type="ethernet", state="connected", detail="externally" if name == external else None)
        for name in INTERFACES
    ]
    return Connections(
        running=True, networking=Networking.ENABLED, profiles=profiles, devices=tuple(devices),
        keyfiles=tuple(keyfiles),
    )  # fmt: skip


def profile(
    name: str,
    storage: Storage,
    filename: str | None,
    device: str | None = None,
    generated: bool = False,
    **stored: object,
) -> Profile:
    return Profile(
        name=name, uuid="05ec54af-9f53-3227-867e-c7e879b25c37", type="802-3-ethernet", device=device,
        filename=filename, autoconnect=True, state="activated" if device else None, storage=storage,
        generated=generated, stored=Settings.model_validate(stored),
    )  # fmt: skip


def keyfile(text: str, path: str = "/etc/NetworkManager/system-connections/rail.nmconnection") -> Keyfile:
    return parse_keyfile("[connection]\nid=rail\ntype=ethernet\n" + text, path)


def test_a_keyfile_that_cannot_be_read_may_be_for_any_port() -> None:
    found = Connections(running=True, keyfiles=(keyfile("[ipv4]\naddress1=nonsense\n"),))
    for port in ports((), found, ()).ports:
        (claim,) = port.claims
        assert (claim.lasting, claim.is_bound, claim.addresses) == (Lasting.UNKNOWN, False, ())
        assert claim.name == "expected numbers and addresses, found others"


def test_all_four_ports_are_told_also_where_nothing_touches_them() -> None:
    found = ports((), Connections(running=False), ())
    assert [port.interface for port in found.ports] == list(INTERFACES)
    assert not any(port.present or port.claims for port in found.ports)


def test_a_file_is_told_by_what_it_sets_and_where() -> None:
    (claim,) = claims(F0, [netplan_file("/etc/netplan/40-cx7.yaml", PLAYBOOK)])
    assert claim.owner == "NVIDIA playbook helper, sparkrun or sparknet"
    assert (claim.file, claim.line, claim.name) == ("/etc/netplan/40-cx7.yaml", 4, F0)
    assert (claim.addresses, claim.mtu, claim.lasting) == (("192.168.100.10/24",), 9000, Lasting.PERSISTENT)
    assert claim.content_digest is not None
    assert claim.says == "192.168.100.10/24, mtu 9000"
    assert not claims(F1, [netplan_file("/etc/netplan/40-cx7.yaml", PLAYBOOK)])


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("99-nvidia-sync-cluster.yaml", "NVIDIA Sync (Cluster Assistant)"),
        ("98-spark-vllm-docker.yaml", "spark-vllm-docker"),
        ("40-sparkring-fabric.yaml", "sparkring"),
        ("10-qsfp.yaml", "dgxarley"),
        ("40-dgx-spark-roce.yaml", "dgx-spark-deepseek-fleet"),
        ("50-cloud-init.yaml", "cloud-init"),
        ("90-NM-05ec54af-9f53-3227-867e-c7e879b25c37.yaml", "NetworkManager (a person's profile)"),
        ("90-NM-05ec54af-9f53-3227-867e-c7e879b25c37-home.yaml", "NetworkManager (a person's profile)"),
        ("41-cx7.yaml", "unknown"),
        ("xx40-cx7.yaml", "unknown"),
    ],
)
def test_owners_are_told_by_the_name_of_their_file(name: str, owner: str) -> None:
    assert owners.owner_of(f"/etc/netplan/{name}") == owner


def test_every_known_owner_has_a_source() -> None:
    assert all(known.owner and known.source for known in owners.KNOWN)


def test_our_own_document_is_ours() -> None:
    document = rail_document("srv5", F0, IPNetwork("192.168.102.10/24"), 9000)
    (claim,) = claims(F0, [netplan_file(document.path, document.text)])
    assert (claim.owner, claim.lasting) == (owners.OURS, Lasting.PERSISTENT)


def test_a_file_in_run_is_lost_at_the_next_boot() -> None:
    (claim,) = claims(F0, [netplan_file("/run/netplan/40-cx7.yaml", PLAYBOOK)])
    assert claim.lasting is Lasting.EPHEMERAL


def test_a_file_that_run_hides_comes_back() -> None:
    hidden = netplan_file("/etc/netplan/40-cx7.yaml", PLAYBOOK)
    hidden = hidden.model_copy(update={"shadowed_by": "/run/netplan/40-cx7.yaml"})
    (claim,) = claims(F0, [hidden])
    assert (claim.lasting, claim.hidden_by) == (Lasting.PERSISTENT, "/run/netplan/40-cx7.yaml")


def test_a_file_that_etc_hides_for_good_touches_nothing() -> None:
    hidden = netplan_file("/lib/netplan/40-cx7.yaml", PLAYBOOK)
    assert not claims(F0, [hidden.model_copy(update={"shadowed_by": "/etc/netplan/40-cx7.yaml"})])


def test_a_file_that_cannot_be_read_may_touch_any_port() -> None:
    broken = netplan_file("/etc/netplan/40-cx7.yaml", "network:\n\tversion: 2\n")
    assert {claims(name, [broken])[0].lasting for name in INTERFACES} == {Lasting.UNKNOWN}


def test_a_keyfile_is_a_persons_and_lasts() -> None:
    text = f"interface-name={F1}\n[ethernet]\nmtu=9000\n[ipv4]\naddress1=10.0.0.5/24\nmethod=manual\n"
    (claim,) = claims(F1, connections=nm(keyfiles=[keyfile(text)]))
    assert (claim.owner, claim.lasting, claim.addresses) == (owners.PERSON, Lasting.PERSISTENT, ("10.0.0.5/24",))
    assert not claims(F0, connections=nm(keyfiles=[keyfile(text)]))


def test_a_keyfile_bound_by_its_hardware_address() -> None:
    found = link(F1).model_copy(update={"mac": "52:54:00:00:01:04"})
    connections = nm(keyfiles=[keyfile("[ethernet]\nmac-address=52:54:00:00:01:04\n")])
    (claim,) = claims(F1, connections=connections, found=found)
    assert claim.lasting is Lasting.PERSISTENT
    assert not claims(F0, connections=connections)


def test_a_keyfile_that_names_no_device_may_take_any_port() -> None:
    connections = nm(keyfiles=[keyfile("[ipv4]\nmethod=auto\n")])
    assert {claims(name, connections=connections)[0].lasting for name in INTERFACES} == {Lasting.UNKNOWN}


def test_a_keyfile_that_is_up_on_a_port_has_taken_it() -> None:
    file = keyfile("[ipv4]\nmethod=auto\n")
    up = profile("rail", Storage.PERSISTENT, file.path, device=P0)
    (claim,) = claims(P0, connections=nm(up, keyfiles=[file]))
    assert (claim.lasting, claim.dhcp) == (Lasting.PERSISTENT, True)


def test_the_profile_that_netplan_generated_is_told_with_its_file_and_only_there() -> None:
    up = profile(f"netplan-{F0}", Storage.NETPLAN, f"{RUN}/netplan-{F0}.nmconnection", device=F0)
    (claim,) = claims(F0, [netplan_file("/etc/netplan/40-cx7.yaml", PLAYBOOK)], nm(up))
    assert claim.file == "/etc/netplan/40-cx7.yaml"
    (stale,) = claims(F0, (), nm(up))
    assert (stale.owner, stale.lasting) == (owners.STALE, Lasting.EPHEMERAL)


@pytest.mark.parametrize(
    ("storage", "filename", "generated", "owner"),
    [
        (Storage.RUNTIME, f"{RUN}/Wired connection 1.nmconnection", True, owners.AUTO),
        (Storage.RUNTIME, f"{RUN}/rail.nmconnection", False, owners.TEMPORARY),
        (Storage.IN_MEMORY, None, False, owners.TEMPORARY),
    ],
)
def test_profiles_without_a_lasting_file(storage: Storage, filename: str | None, generated: bool, owner: str) -> None:
    found = profile("x", storage, filename, device=F1, generated=generated, ipv4_method="auto")
    (claim,) = claims(F1, connections=nm(found))
    assert (claim.owner, claim.lasting, claim.dhcp) == (owner, Lasting.EPHEMERAL, True)


def test_an_address_that_somebody_set_by_hand_is_told_once() -> None:
    """NetworkManager makes up a profile that mirrors it (seen with 1.52.1)."""
    mirror = profile(F1, Storage.RUNTIME, f"{RUN}/{F1}.nmconnection", device=F1, generated=True,
                     ipv4_method="manual", ipv4_addresses=("10.0.0.5/24",))  # fmt: skip
    (claim,) = claims(F1, connections=nm(mirror, external=F1), found=link(F1, 9000, ["10.0.0.5/24"]))
    assert (claim.owner, claim.lasting) == (owners.HAND_MADE, Lasting.EPHEMERAL)
    assert (claim.addresses, claim.mtu) == (("10.0.0.5/24",), 9000)


def test_what_a_file_or_a_profile_explains_is_not_hand_made() -> None:
    found = link(F0, 9000, ["192.168.100.10/24", "10.9.9.9/24"])
    _, by_hand = claims(F0, [netplan_file("/etc/netplan/40-cx7.yaml", PLAYBOOK)], found=found)
    assert by_hand.addresses == ("10.9.9.9/24",)


def test_a_lease_and_the_kernels_own_addresses_are_nobodys_hand() -> None:
    addresses = (
        LinkAddress(address="10.0.0.7/24", dynamic=True),
        LinkAddress(address="fe80::1/64", scope="link"),
        LinkAddress(address="169.254.3.4/16", scope="link"),
    )
    found = link(F1).model_copy(update={"addresses": addresses})
    up = profile("dhcp", Storage.IN_MEMORY, None, device=F1, ipv4_method="auto")
    (claim,) = claims(F1, connections=nm(up), found=found)
    assert claim.owner == owners.TEMPORARY


def test_leftovers_of_nvidia_sync_are_paths_and_nothing_else() -> None:
    text = "/etc/netplan/b.yaml.sync-disabled-2\n/etc/netplan/a.yaml.sync-disabled-1\n"
    assert parse_leftovers(text) == ("/etc/netplan/a.yaml.sync-disabled-1", "/etc/netplan/b.yaml.sync-disabled-2")
    assert parse_leftovers("") == ()
    with pytest.raises(ValueError, match="expected paths"):
        parse_leftovers("find: cannot open\n")
