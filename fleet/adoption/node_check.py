"""Whether a node map of another tool can be read at all: every field, and every complaint at once."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from fleet.hardware import TWINS
from fleet.plain import shown, within
from fleet.roster_error import RosterError

Node = dict[str, Any]

DEVICES = {twin.rdma_device: twin.interface for twin in TWINS}
"""The interface below each RDMA device."""


class Complaints:
    """The lines that are wrong with one file; `stop` raises them as RosterError where there are any."""

    def __init__(self, source: str) -> None:
        self.source, self.lines = source, list[str]()

    def stop(self) -> None:
        if self.lines:
            raise RosterError(self.lines)

    def wrong(self, place: str, expected: str, found: object) -> None:
        self.lines.append(f"{self.source}: {place}: expected {expected}, found {shown(found)}")


class Checked(Complaints):
    """The nodes of a map in the order of their ranks; raises RosterError with every complaint."""

    def __init__(self, values: Any, source: str, has_pool: bool) -> None:
        super().__init__(source)
        self.has_pool = has_pool
        self.nodes = self._nodes(values)

    def _nodes(self, values: Any) -> list[Node]:
        """The nodes in the order of their ranks."""
        if not isinstance(values, dict):
            self.wrong("the map", "an object with nodes", values)
        elif repr(values.get("schema_version", 1)) != "1":
            self.wrong("schema_version", "1", values["schema_version"])
        elif not (isinstance(values.get("nodes"), list) and values["nodes"]):
            self.wrong("nodes", "a list of nodes", values.get("nodes"))
        self.stop()
        for at, node in enumerate(values["nodes"]):
            self._node(f"nodes[{at}]", node)
        self.stop()
        nodes: list[Node] = sorted(values["nodes"], key=lambda node: node["rank"])
        ranks = [node["rank"] for node in nodes]
        if ranks != list(range(len(nodes))):
            self.wrong("nodes[].rank", f"each of 0 to {len(nodes) - 1} once", ranks)
        names = [node["name"] for node in nodes]
        if len(set(names)) < len(names):
            self.wrong("nodes[].name", "one of its own for each node", names)
        for node in nodes:
            self._peers(node, len(nodes))
        self.stop()
        return nodes

    def _node(self, place: str, node: Any) -> None:
        if not isinstance(node, dict):
            self.wrong(place, "an object", node)
            return
        name, rank, gid = node.get("name"), node.get("rank"), node.get("roce_gid_index", 0)
        if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*?[0-9]+", name)):
            self.wrong(f"{place}.name", "a host name that ends in the node's number, its part of each subnet", name)
        if not isinstance(rank, int) or isinstance(rank, bool):
            self.wrong(f"{place}.rank", "a whole number", rank)
        if not isinstance(gid, int) or isinstance(gid, bool) or not 0 <= gid <= 1023:
            self.wrong(f"{place}.roce_gid_index", "a whole number of 0 to 1023", gid)
        subnets = node.get("roce_subnets")
        if self.has_pool:
            self._without_subnets(place, node)
            return
        if not (isinstance(subnets, dict) and subnets):
            expected = "the IPv4 network of each device, by its name (or none in the whole map, and --pool)"
            self.wrong(f"{place}.roce_subnets", expected, subnets)
            return
        for device, subnet in subnets.items():
            self._device(f"{place}.roce_subnets", device)
            self._subnet(f"{place}.roce_subnets.{device}", subnet)
        key = f"{place}.{_routes(node)}"
        for device in self._routed(place, node):
            if self._device(key, device) and device not in subnets:
                self.wrong(f"{place}.roce_subnets.{device}", "a network for a device that reaches a peer", None)

    def _peers(self, node: Node, count: int) -> None:
        """With --pool nothing else would miss a cable to a node that is not in the map."""
        for peer in node.get("roce_peer_hcas") or {}:
            if int(peer) >= count:
                self.wrong(f"{node['name']}.roce_peer_hcas.{peer}", f"a rank of 0 to {count - 1}", peer)

    def _without_subnets(self, place: str, node: Node) -> None:
        if node.get("roce_subnets"):
            self.wrong(f"{place}.roce_subnets", "none, as --pool gives them", node["roce_subnets"])
        for device in self._routed(place, node):
            self._device(f"{place}.{_routes(node)}", device)

    def _routed(self, place: str, node: Node) -> Iterator[Any]:
        routes = node.get("roce_peer_hcas")
        switched = node.get("roce_hcas")
        if (routes is None) is (switched is None):
            self.wrong(place, "either roce_peer_hcas (cables) or roce_hcas (a switch)", sorted(map(str, node)))
        elif switched is not None:
            if isinstance(switched, list) and switched:
                yield from switched
            else:
                self.wrong(f"{place}.roce_hcas", "a list of devices", switched)
        elif not isinstance(routes, dict):
            self.wrong(f"{place}.roce_peer_hcas", "devices by the rank of their peer", routes)
        else:
            for peer, devices in routes.items():
                if not (isinstance(devices, list) and re.fullmatch(r"[0-9]{1,9}", str(peer))):
                    self.wrong(within(f"{place}.roce_peer_hcas", str(peer)), "a list of devices for a rank", devices)
                elif int(peer) == node.get("rank"):
                    self.wrong(f"{place}.roce_peer_hcas.{peer}", "the rank of another node", peer)
                else:
                    yield from devices

    def _device(self, place: str, device: Any) -> bool:
        is_known = isinstance(device, str) and device in DEVICES
        if not is_known:
            self.wrong(place, f"one of {', '.join(DEVICES)}", device)
        return is_known

    def _subnet(self, place: str, subnet: Any) -> None:
        try:
            network = ipaddress.IPv4Network(subnet if isinstance(subnet, str) else "")
            is_spelled = str(network) == subnet and 1 <= network.prefixlen <= 31
        except ValueError:
            is_spelled = False
        if not is_spelled:
            self.wrong(place, "an IPv4 network, as 10.12.1.0/24, its prefix 1 to 31", subnet)


def is_switched(node: Node) -> bool:
    """Is it on a switch? A key without a value says nothing, as one that is not there."""
    return node.get("roce_hcas") is not None


def _routes(node: Node) -> str:
    """The key under which a node names the devices that it uses."""
    return "roce_hcas" if is_switched(node) else "roce_peer_hcas"
