"""One definition as its files write it: what netplan's merge works on, before NetworkManager's defaults."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fleet.record import Record


class Match(Record):
    """`match:` as written; an empty one is not the same as none."""

    name: str | None = None
    drivers: tuple[str, ...] = ()
    macaddress: str | None = None


class WrittenRoute(Record):
    """A route as written: netplan compares these, so `default` and `0.0.0.0/0` are two."""

    to: str | None = None
    via: str | None = None
    metric: int | None = None
    table: int | None = None
    source: str | None = None
    scope: str | None = None
    type: str | None = None
    on_link: bool | None = None


class NetplanSettings(Record):
    """Every setting that we read, None or empty where the file does not say. Printed without those."""

    renderer: str | None = None
    match: Match | None = None
    set_name: str | None = None
    dhcp4: bool | None = None
    dhcp6: bool | None = None
    use_routes4: bool | None = None
    use_routes6: bool | None = None
    mtu: int | None = None
    wakeonlan: bool | None = None
    gateway4: str | None = None
    gateway6: str | None = None
    ipv6_address_generation: str | None = None
    infiniband_mode: str | None = None
    tunnel_mode: str | None = None
    vlan_id: int | None = None
    link: str | None = None
    peer: str | None = None
    table: int | None = None
    uuid: str | None = None
    profile: str | None = None
    addresses: tuple[str, ...] = ()
    routes: tuple[WrittenRoute, ...] = ()
    nameservers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    link_local: tuple[str, ...] | None = None
    interfaces: tuple[str, ...] = ()
    access_points: tuple[str, ...] = ()
    """Their key management, one per access point; the SSIDs stay on the host."""
    passthrough: tuple[tuple[str, str], ...] = ()
    """NetworkManager's own settings, only those known to hold no secret; a later one replaces an earlier."""

    @model_serializer(mode="wrap")
    def _only_what_is_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        unwritten = {name for name, value in self if value is None or (value == () and name != "link_local")}
        return {name: value for name, value in handler(self).items() if name not in unwritten}

    @property
    def passthrough_values(self) -> dict[str, str]:
        """The passthrough settings by name."""
        return dict(self.passthrough)
