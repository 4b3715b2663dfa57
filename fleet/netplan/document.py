"""The one netplan file of a rail end: exactly the text that NetworkManager itself would write for it."""

import re
from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID, uuid5

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from fleet.address import Interface4
from fleet.record import Record, sha256_digest
from fleet.route import TransitRoute

RAIL_NAMESPACE: Final = UUID("b24fb7a7-9a5f-5a0e-8d1e-6f1c9c3f5d10")
"""Fixed for ever: a rail end keeps its profile's uuid, and so its file, whatever else changes."""

AUTOCONNECT_PRIORITY: Final = 100
"""Above 0, what a person's profile has, and -999, what NetworkManager's own "Wired connection N" has."""

_INTERFACE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")


def _octal(value: object) -> object:
    return int(value, 8) if isinstance(value, str) else value


Mode = Annotated[int, BeforeValidator(_octal), PlainSerializer(lambda mode: f"{mode:04o}", return_type=str)]
"""Permission bits of a file; an int in Python, four octal digits in JSON."""


def _interface_name(value: str) -> str:
    if not _INTERFACE_NAME.fullmatch(value):
        raise PydanticCustomError(
            "interface_name",
            "expected a network interface name of 1 to 15 characters, found {found}",
            {"found": repr(value)},
        )
    return value


InterfaceName = Annotated[str, AfterValidator(_interface_name)]
"""What the kernel takes as the name of an interface."""


class RailSettings(Record):
    """What a rail end needs of its interface; the walls between the ends are the rail's own."""

    interface: InterfaceName
    address: Interface4
    mtu: Annotated[int, Field(ge=576, le=65535)]
    routes: tuple[TransitRoute, ...] = ()


class NetplanDocument(Record):
    """The exact text of one durable file under /etc/netplan."""

    path: str
    text: str
    """Byte for byte, UTF-8."""
    interface: str
    """The one interface it binds."""
    uuid: str
    """The NetworkManager profile that netplan generates from it."""
    mode: Mode = 0o600
    """Netplan warns about anything that others can read."""

    @property
    def content_digest(self) -> str:
        """The digest of the file's bytes, to be compared with `NetplanFile.content_digest`."""
        return sha256_digest(self.text.encode())


def rail_uuid(spark: str, interface: str) -> str:
    """The uuid of the profile for this interface of this Spark, the same on every day."""
    return str(uuid5(RAIL_NAMESPACE, f"{spark}/{interface}"))


def rail_path(spark: str, interface: str) -> str:
    """Where the document of this interface of this Spark is."""
    return f"/etc/netplan/90-NM-{rail_uuid(spark, interface)}.yaml"


def rail_document(
    spark: str, interface: str, address: Interface4, mtu: int, routes: Sequence[TransitRoute] = ()
) -> NetplanDocument:
    """The file of one rail end; raises pydantic.ValidationError for impossible settings."""
    settings = RailSettings(interface=interface, address=address, mtu=mtu, routes=tuple(routes))
    uuid = rail_uuid(spark, interface)
    return NetplanDocument(
        path=f"/etc/netplan/90-NM-{uuid}.yaml", text=_text(settings, uuid), interface=interface, uuid=uuid
    )


# Keys, order and quoting as libnetplan 0.106 and 1.1.2 write them for the same profile (compared byte for
# byte, 2026-11). `wakeonlan: true` leaves wake-on-LAN at NetworkManager's default; without it netplan
# generates `wake-on-lan=0`. Their generators accept the text without a warning.
def _text(settings: RailSettings, uuid: str) -> str:
    routes = "".join(f'      - to: "{each.to}"\n        via: "{each.via}"\n' for each in settings.routes)
    routes = f"      routes:\n{routes}" if routes else ""
    return f"""\
network:
  version: 2
  ethernets:
    NM-{uuid}:
      renderer: NetworkManager
      match:
        name: "{settings.interface}"
      addresses:
      - "{settings.address}"
      mtu: {settings.mtu}
{routes}      wakeonlan: true
      networkmanager:
        uuid: "{uuid}"
        name: "sparks-{settings.interface}"
        passthrough:
          connection.autoconnect-priority: "{AUTOCONNECT_PRIORITY}"
          ipv6.addr-gen-mode: "default"
          ipv6.method: "disabled"
          ipv6.ip6-privacy: "-1"
          proxy._: ""
"""
