"""The one netplan file of a management connection: exactly the text that NetworkManager itself would write for it."""

from collections.abc import Iterator

from fleet.management import Management
from fleet.netplan.document import AUTOCONNECT_PRIORITY, NetplanDocument, rail_uuid


def management_document(spark: str, management: Management) -> NetplanDocument:
    """The file of a management connection that is ours; one that is not is a bug of the caller."""
    assert management.is_ours
    uuid = rail_uuid(spark, management.interface)
    return NetplanDocument(
        path=f"/etc/netplan/90-NM-{uuid}.yaml", text=_text(management, uuid), interface=management.interface, uuid=uuid
    )


# Keys, order and quoting as libnetplan 0.106 writes them for the same profile (compared byte for byte, 2026-11-29;
# the pieces also in cases 002 and 011, where 0.106 to 1.2 agree). The default router is NetworkManager's own key:
# so it writes one itself. IPv6 stays automatic, as NetworkManager has it by default: it may carry SSH too.
def _text(wanted: Management, uuid: str) -> str:
    return f"""\
network:
  version: 2
  ethernets:
    NM-{uuid}:
      renderer: NetworkManager
      match:
        name: "{wanted.interface}"
      {_below(6, *_settings(wanted))}
      wakeonlan: true
      networkmanager:
        uuid: "{uuid}"
        name: "sparks-{wanted.interface}"
        passthrough:
          {_below(10, *_passthrough(wanted))}
"""


def _below(indent: int, *lines: str) -> str:
    return ("\n" + " " * indent).join(lines)


def _settings(wanted: Management) -> Iterator[str]:
    if wanted.address is None:
        yield "dhcp4: true"
    else:
        yield from ("addresses:", f'- "{wanted.address}"')
    if wanted.nameservers:
        yield from ("nameservers:", "  addresses:", *(f"  - {each}" for each in wanted.nameservers))
    yield "dhcp6: true"
    if wanted.mtu is not None:
        yield f"mtu: {wanted.mtu}"


def _passthrough(wanted: Management) -> Iterator[str]:
    yield f'connection.autoconnect-priority: "{AUTOCONNECT_PRIORITY}"'
    if wanted.mtu is None:
        yield 'ethernet._: ""'
    if wanted.gateway is not None:
        yield from (f'ipv4.address1: "{wanted.address},{wanted.gateway}"', 'ipv4.method: "manual"')
    yield from ('ipv6.addr-gen-mode: "default"', 'ipv6.ip6-privacy: "-1"', 'proxy._: ""')
