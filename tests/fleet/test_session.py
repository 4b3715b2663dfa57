"""Which interfaces carry the SSH connection that a host is looked at through."""

import pytest

from fleet.links import Link
from fleet.session import Session, SshConnection, parse_session
from tests.fleet.observed import link


def session(server: str, device: str) -> Session:
    return Session(ssh=SshConnection(client="10.0.0.2", server=server, port=22, device=device))


def carriers(found: Session, *links: Link) -> set[str]:
    return {each.name for each in links if found.may_be_carried_by(each.name, links)}


def of(name: str, *addresses: str, **changed: str) -> Link:
    return link(name, addresses=addresses).model_copy(update=changed)


def test_the_interface_with_the_dialled_address_carries_it_and_the_one_that_answers_leave_by() -> None:
    one, two, rail = of("enP7s7", "10.0.0.11/24"), of("wlP9s9", "10.0.0.12/24"), of("enp1s0f0np0", "10.1.1.1/24")
    assert carriers(session("10.0.0.11", "enP7s7"), one, two, rail) == {"enP7s7"}
    assert carriers(session("10.0.0.11", "wlP9s9"), one, two, rail) == {"enP7s7", "wlP9s9"}
    assert carriers(session("10.1.1.1", "enp1s0f0np0"), one, two, rail) == {"enp1s0f0np0"}


def test_no_ssh_is_carried_by_nothing() -> None:
    assert carriers(Session(), of("enP7s7", "10.0.0.11/24")) == set()


def test_a_bond_a_bridge_and_a_vlan_are_carried_by_what_they_lie_on() -> None:
    ports = of("enP7s7", master="bond0"), of("enp1s0f0np0", master="bond0"), of("enp1s0f1np1")
    bond = of("bond0", kind="bond")
    vlan = of("bond0.7", "10.0.0.11/24", kind="vlan", parent="bond0")
    assert carriers(session("10.0.0.11", "bond0.7"), *ports, bond, vlan) == {
        "enP7s7", "enp1s0f0np0", "bond0", "bond0.7"
    }  # fmt: skip
    bridge = of("br0", "10.0.0.11/24", kind="bridge")
    assert carriers(session("10.0.0.11", "br0"), of("enP7s7", master="br0"), ports[2], bridge) == {"enP7s7", "br0"}


@pytest.mark.parametrize("kind", ["tun", "wireguard", "vxlan"])
def test_below_a_tunnel_it_may_be_any(kind: str) -> None:
    links = of("enP7s7", "192.168.0.4/24"), of("enp1s0f0np0"), of("tailscale0", "100.64.0.4/32", kind=kind)
    assert carriers(session("100.64.0.4", "tailscale0"), *links) == {each.name for each in links}


def test_below_the_loopback_address_it_may_be_any() -> None:
    links = of("lo", "127.0.0.1/8"), of("enP7s7", "10.0.0.11/24")
    assert carriers(session("127.0.0.1", "lo"), *links) == {"lo", "enP7s7"}


def test_an_interface_is_known_by_its_other_names_too() -> None:
    mine = of("enP7s7", "10.0.0.11/24").model_copy(update={"altnames": ("enx0200",)})
    assert session("10.0.0.11", "enP7s7").may_be_carried_by("enx0200", (mine,))


@pytest.mark.parametrize("text", ["", "a b c\n[]", "10.0.0.2 1 10.0.0.1 22\n{}", "x 1 10.0.0.1 22\n[]"])
def test_what_is_no_session_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|Expecting|appear"):
        parse_session(text)
