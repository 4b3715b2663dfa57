"""A document of ours and a file that says the same have the same outline, whatever they have in them."""

from hypothesis import given
from hypothesis import strategies as st
from netaddr import IPNetwork

from fleet.netplan.document import RailSettings, rail_document
from fleet.netplan.outline import outline, outline_of
from fleet.route import TransitRoute
from tests.fleet import observed

SOME = RailSettings(interface="enp1s0f0np0", address=IPNetwork("10.1.1.1/24"), mtu=9000)


@given(st.integers(576, 65535), st.lists(st.integers(0, 200), max_size=3, unique=True))
def test_what_is_read_of_our_own_document_is_its_outline(mtu: int, hops: list[int]) -> None:
    routes = [TransitRoute.model_validate({"to": f"10.9.{each}.0/24", "via": "10.1.1.2"}) for each in hops]
    document = rail_document("a", SOME.interface, SOME.address, mtu, routes)
    file = observed.netplan_file(document.path, document.text)
    assert outline(file) == outline_of(document.text)
    assert f"mtu: {mtu}" in outline(file)


def test_a_file_of_others_is_told_line_by_line() -> None:
    text = "network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    eth0:\n      dhcp4: true\n      mtu: 1400\n"
    assert outline(observed.netplan_file("/etc/netplan/1.yaml", text)).splitlines() == [
        "ethernets.eth0.dhcp4: true", "ethernets.eth0.mtu: 1400", "renderer: networkd",
    ]  # fmt: skip
