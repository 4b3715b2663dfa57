"""NetworkManager's view of a definition: the keyfile that netplan generates. Passthrough settings win in it.

Rules as libnetplan's NetworkManager generator follows them (1.1.2).
"""

import re

from fleet.netplan import scalars
from fleet.netplan.binding import binds
from fleet.netplan.device import NetplanDevice
from fleet.netplan.displaced import numbered
from fleet.netplan.records import Problem, Route
from fleet.netplan.settings import NetplanSettings, WrittenRoute

KINDS = {
    "ethernets": "ethernet", "wifis": "wifi", "bonds": "bond", "bridges": "bridge", "vlans": "vlan",
    "tunnels": "tunnel", "dummy-devices": "dummy", "virtual-ethernets": "veth", "vrfs": "vrf",
    "modems": "modem",
}  # fmt: skip
CONNECTION_TYPES = {
    "802-3-ethernet": "ethernet", "802-11-wireless": "wifi", "wireguard": "tunnel", "vxlan": "tunnel",
    "ip-tunnel": "tunnel", "gsm": "modem", "cdma": "modem",
}  # fmt: skip
"""What NetworkManager calls it, where that is not our word."""


def device_of(section: str, id: str, written: NetplanSettings, errors: tuple[Problem, ...] = ()) -> NetplanDevice:
    """A definition as it will run."""
    return Keyfile(section, id, written).device(errors)


class Keyfile:
    """One definition's settings under NetworkManager's names."""

    def __init__(self, section: str, id: str, written: NetplanSettings) -> None:
        self.section, self.id, self.written = section, id, written
        self.set = written.passthrough_values
        self.addresses = {4: self._addresses(4), 6: self._addresses(6)}

    def device(self, errors: tuple[Problem, ...]) -> NetplanDevice:
        written, kind = self.written, self.kind
        return NetplanDevice(
            id=self.id, section=self.section, kind=kind, renderer=written.renderer,
            binds=binds(self.section, self.id, written),
            uuid=written.uuid, profile=written.profile,
            addresses=tuple(dict.fromkeys(one for one, _ in (*self.addresses[4], *self.addresses[6]))),
            dhcp4=self.method4 == "auto", dhcp6=self.method6 in ("auto", "dhcp"),
            method4=self.method4, method6=self.method6,
            mtu=self._mtu(), gateway4=self._gateway(4), gateway6=self._gateway(6), routes=self._routes(),
            nameservers=(*self._nameservers(4), *self._nameservers(6)),
            search=self._search(),
            never_default4=self._never_default(4), never_default6=self._never_default(6),
            controller=self.set.get("connection.controller") or self.set.get("connection.master"),
            members=written.interfaces, vlan_id=self._vlan_id(), link=self._link(),
            tunnel_mode=self._tunnel_mode(),
            autoconnect=self._autoconnect(),
            autoconnect_priority=_integer(self.set.get("connection.autoconnect-priority")),
            written=written, errors=errors,
        )  # fmt: skip

    @property
    def kind(self) -> str:
        if self.written.infiniband_mode:
            return "infiniband"
        kind = self.set.get("connection.type")
        return CONNECTION_TYPES.get(kind, kind) if kind else KINDS.get(self.section, self.section.removesuffix("s"))

    @property
    def method4(self) -> str:
        if method := self.set.get("ipv4.method"):
            return method
        if self.written.dhcp4:
            return "auto"
        if any(":" not in address for address in self.written.addresses):
            return "manual"
        return "disabled" if self.section == "tunnels" else "link-local"

    @property
    def method6(self) -> str:
        written = self.written
        if method := self.set.get("ipv6.method"):
            return method
        if written.dhcp6:
            return "auto"
        generation = written.ipv6_address_generation or written.ipv6_address_token
        return "manual" if self.addresses[6] or written.gateway6 or generation else "ignore"

    def _addresses(self, version: int) -> list[tuple[str, str | None]]:
        """Address and the gateway that may follow it. Passthrough's `address1` is the first, not one more."""
        written = [address for address in self.written.addresses if (":" in address) == (version == 6)]
        by_place: dict[int, tuple[str, str | None]] = {place: (one, None) for place, one in enumerate(written, 1)}
        for place, name in numbered(self.set, f"ipv{version}.address"):
            address, *gateway = scalars.parts(self.set[name]) or [""]
            if found := scalars.cidr(address):
                by_place[place] = (found, gateway[0] if gateway and scalars.ip(gateway[0]) else None)
        return [by_place[place] for place in sorted(by_place)]

    def _gateway(self, version: int) -> str | None:
        after_address = (gateway for _, gateway in self.addresses[version] if gateway)
        written = self.written.gateway4 if version == 4 else self.written.gateway6
        return self.set.get(f"ipv{version}.gateway") or next(after_address, None) or written

    def _routes(self) -> tuple[Route, ...]:
        found: list[Route] = []
        written = [_route(route) for route in self.written.routes]
        for version in (4, 6):
            of_version = [route for route in written if (":" in route.to) == (version == 6)]
            by_place = dict(enumerate(of_version, 1))
            for place, name in numbered(self.set, f"ipv{version}.route"):
                by_place[place] = _keyfile_route(self.set[name])
            found += [by_place[place] for place in sorted(by_place)]
        return tuple(found)

    def _nameservers(self, version: int) -> tuple[str, ...]:
        written = (server for server in self.written.nameservers if (":" in server) == (version == 6))
        return self._list(f"ipv{version}.dns") or tuple(written)

    def _search(self) -> tuple[str, ...]:
        found = (*self.written.search, *self._list("ipv4.dns-search"), *self._list("ipv6.dns-search"))
        return tuple(dict.fromkeys(found))

    def _list(self, name: str) -> tuple[str, ...]:
        return tuple(scalars.parts(self.set.get(name, "")))

    def _never_default(self, version: int) -> bool:
        written = self.written.use_routes4 if version == 4 else self.written.use_routes6
        return _true(self.set.get(f"ipv{version}.never-default")) or written is False

    def _mtu(self) -> int | None:
        names = ("ethernet.mtu", "802-3-ethernet.mtu", "infiniband.mtu")
        found = next((scalars.unsigned(self.set[name]) for name in names if name in self.set), self.written.mtu)
        return found or None

    def _vlan_id(self) -> int | None:
        text = self.set.get("vlan.id")
        written = self.written.vlan_id if self.section == "vlans" else None
        return written if text is None else scalars.unsigned(text)

    def _link(self) -> str | None:
        names = ("vlan.parent", "vxlan.parent", "ip-tunnel.parent")
        return next((self.set[name] for name in names if name in self.set), self.written.link)

    def _tunnel_mode(self) -> str | None:
        kind = self.set.get("connection.type")
        return self.written.tunnel_mode or (kind if kind in ("wireguard", "vxlan") else None)

    def _autoconnect(self) -> bool:
        text = self.set.get("connection.autoconnect")
        return self.written.activation_mode is None if text is None else _true(text)


def _true(text: str | None) -> bool:
    return (text or "").lower() in ("true", "yes", "1", "on")


def _integer(text: str | None) -> int:
    return int(text) if text and re.fullmatch(r"-?[0-9]{1,9}", text) else 0


def _route(written: WrittenRoute) -> Route:
    to = scalars.default_destination(written.to or "", written.via)
    return Route(to=to, via=written.via, metric=written.metric, table=written.table, source=written.source,
                 scope=written.scope, type=written.type, on_link=bool(written.on_link))  # fmt: skip


def _keyfile_route(text: str) -> Route:
    """`destination[,gateway[,metric]]`."""
    to, via, metric, *_ = [*scalars.parts(text), "", "", ""]
    return Route(to=to, via=via if scalars.ip(via) else None, metric=scalars.unsigned(metric) if metric else None)
