"""Addresses that work now and that nothing will bring back: no profile and no netplan file explains them."""

import ipaddress
from collections.abc import Iterable

from fleet.connections import Connections, Profile
from fleet.links import Link, LinkAddress, canonical_cidr
from fleet.netplan.device import NetplanFile
from fleet.netplan.effective import binds_it


def hand_made(link: Link, files: Iterable[NetplanFile], connections: Connections) -> tuple[str, ...]:
    """The addresses of a link that somebody set with `ip` or another tool, with their prefixes."""
    active = connections.active_profile(link.name)
    owner = None if active is None or connections.is_mirror(active) else active
    explained = {
        canonical_cidr(address)
        for file in files
        if file.shadowed_by is None
        for device in file.devices
        if binds_it(device, link.name, link.own_mac)
        for address in device.addresses
    }
    if owner is not None and owner.settings is not None:
        explained |= set(owner.settings.ipv4_addresses)
    return tuple(each.address for each in link.addresses if each.address not in explained and _is_set(each, owner))


def _is_set(found: LinkAddress, owner: Profile | None) -> bool:
    """Link-local addresses are the kernel's own; a lease is its profile's, and IPv6 is not read there."""
    from_profile = owner is not None and (found.dynamic or ipaddress.ip_interface(found.address).version == 6)
    return found.scope == "global" and not from_profile
