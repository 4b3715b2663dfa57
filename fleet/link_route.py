"""The routes that profiles set on a link, as the kernel has them."""

import json

from fleet.record import Record


class LinkRoute(Record):
    """One IPv4 route by way of a neighbour, as a profile sets it (`proto static`): not one of a lease or the kernel."""

    to: str
    """The destination with its prefix, `10.10.4.0/24`; `default`."""
    via: str


def in_order(routes: tuple[LinkRoute, ...]) -> tuple[LinkRoute, ...]:
    """Each once, by destination: the kernel's order is one of events, and metrics are NetworkManager's own."""
    return tuple(sorted(set(routes), key=lambda route: (route.to, route.via)))


def parse_routes(text: str) -> dict[str, tuple[LinkRoute, ...]]:
    """Those with a gateway in what `ip -j -4 route show proto static` prints, by link; else raises ValueError."""
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"expected a list of routes, found {type(found).__name__}")
    by_link: dict[str, tuple[LinkRoute, ...]] = {}
    for each in found:
        if "gateway" in each and "dev" in each:
            route = LinkRoute(to=str(each.get("dst")), via=str(each["gateway"]))
            by_link[str(each["dev"])] = (*by_link.get(str(each["dev"]), ()), route)
    return by_link
