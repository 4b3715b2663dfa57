"""Another tool's node map (`nodes.json` of spark-ds41f and sparknet) as roster rows.

The format as read 2026-11-29 in christopherowen/dgx-spark-networking docs/topology.md and spark-ds41f's examples:
`nodes[]` with `name`, `rank` in cable order, `roce_peer_hcas` (by the peer's rank, the local RDMA devices that reach
it), `roce_subnets` (by device), for a switch `roce_hcas` instead, and `roce_gid_index`, `management_interface`. It
has no host addresses: by that tool's rule a host's part of every subnet is the number that ends its name, and the MTU
is 9000.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from fleet.adoption.assemble import Values, fabrics, numbered, segment
from fleet.adoption.node_check import DEVICES, Checked, Complaints, is_switched
from fleet.hardware import TWINS
from fleet.rail import RailEnd, Segment
from fleet.roster import Roster
from fleet.roster_error import sentence_of

MTU = 9000
"""Bytes; docs/topology.md, "Addressing and cabling"."""


def read_node_map(values: Any, source: str, pool: str | None = None) -> Values:
    """The `sparks` and `fabrics` of a roster; raises RosterError, each line with file, field and what is wrong.

    + pool: the network for the subnets of a map that has none; the fabric is then in the short notation
    """
    rows = _NodeMap(values, source, pool).rows()
    Roster.read(rows, source)
    return rows


class _NodeMap(Complaints):
    """The rows of one map; every complaint is kept until all of it has been looked at."""

    def __init__(self, values: Any, source: str, pool: str | None) -> None:
        super().__init__(source)
        self.pool = pool
        self.nodes = Checked(values, source, pool is not None).nodes

    def rows(self) -> Values:
        sparks = {node["name"]: {"enrolled": True, **self._management(node)} for node in self.nodes}
        made = self._short() if self.pool is not None else self._written_out(list(sparks))
        self.stop()
        return {"sparks": sparks, "fabrics": made}

    def _written_out(self, names: list[str]) -> Values:
        segments = self._segments()
        self.stop()
        made = fabrics(segments, names, self._options())
        self.lines += [f"{self.source}: {line}" for each in made for line in each.problems]
        return {each.name: each.values for each in made}

    def _short(self) -> Values:
        """Cables by name, in the order of ranks: a map without subnets tells no more."""
        if all(map(is_switched, self.nodes)):
            return self._short_switch()
        count = len(self.nodes)
        if count == 1:
            self.wrong("nodes", "two or more, as --pool is for what joins them", [self.nodes[0]["name"]])
            return {}
        shape = {2: "pair", 3: "triangle"}.get(count, "ring")
        pairs = [(at, (at + 1) % count) for at in range(count)][: 1 if count == 2 else count]
        cables = [
            f"{self.nodes[one]['name']}.{self._cage(one, other)} - {self.nodes[other]['name']}.{self._cage(other, one)}"
            for one, other in pairs
        ]
        return {f"{shape}-{self.nodes[0]['name']}": self._pooled(shape, cables)}

    def _short_switch(self) -> Values:
        cables = [
            f"{node['name']}.{self._cage_of(node['roce_hcas'], node['name'] + '.roce_hcas')} - switch1"
            for node in self.nodes
        ]
        return {"switch1": self._pooled("switch", cables)}

    def _pooled(self, shape: str, cables: list[str]) -> Values:
        return {"shape": shape, "cables": cables, "pool": self.pool, "mtu": MTU, **self._options()}

    def _cage(self, rank: int, peer: int) -> str:
        """The cage whose two twins reach a peer."""
        node = self.nodes[rank]
        devices = (node.get("roce_peer_hcas") or {}).get(str(peer), (node.get("roce_peer_hcas") or {}).get(peer, []))
        return self._cage_of(devices, f"{node['name']}.roce_peer_hcas.{peer}")

    def _cage_of(self, devices: list[str], place: str) -> str:
        cages = {str(twin.cage) for twin in TWINS if twin.rdma_device in devices}
        if len(set(devices)) != 2 or len(cages) != 1:
            self.wrong(place, "both devices of one cage, as with --pool each cable has two rails", devices)
            return "f0"
        return cages.pop()

    def _segments(self) -> list[Segment]:
        """Devices in one subnet are one rail; on a switch, one plane."""
        ends: dict[str, list[tuple[Values, str]]] = {}
        for node in self.nodes:
            for device, subnet in node["roce_subnets"].items():
                ends.setdefault(subnet, []).append((node, device))
        taken: set[int] = set()
        return [each for subnet, joined in ends.items() for each in self._segment(subnet, joined, taken)]

    def _segment(self, subnet: str, joined: list[tuple[Values, str]], taken: set[int]) -> Iterator[Segment]:
        kinds = {is_switched(node) for node, _ in joined}
        switched = kinds == {True}
        if len(kinds) > 1:
            expected = "nodes that all say roce_peer_hcas (cables), or all roce_hcas (a switch)"
            self.wrong(f"roce_subnets {subnet}", expected, [node["name"] for node, _ in joined])
            return
        if not switched:
            self._reciprocal(subnet, joined)
        try:
            ends = [self._end(node, device, subnet) for node, device in joined]
            yield segment(numbered(subnet, taken), ends, "switch1" if switched else None)
        except ValidationError as error:
            lines = (sentence_of(each) for each in error.errors(include_url=False))
            self.lines += [f"{self.source}: roce_subnets {subnet}: {line}" for line in lines]
        except ValueError:
            self.wrong(f"roce_subnets {subnet}", "room for each node's number", [node["name"] for node, _ in joined])

    def _end(self, node: Values, device: str, subnet: str) -> RailEnd:
        network = ipaddress.IPv4Network(subnet)
        number = int(re.split(r"[^0-9]", node["name"])[-1])
        address = f"{network.network_address + number}/{network.prefixlen}"
        return RailEnd.model_validate(
            {"spark": node["name"], "interface": DEVICES[device], "address": address, "mtu": MTU}
        )

    def _reciprocal(self, subnet: str, joined: list[tuple[Values, str]]) -> None:
        """Where a device is said to reach a peer, its subnet must be that peer's too."""
        names = {node["rank"] for node, _ in joined}
        for node, device in joined:
            for peer, devices in (node.get("roce_peer_hcas") or {}).items():
                if device in devices and int(peer) not in names:
                    place = f"{node['name']}.roce_peer_hcas.{peer}"
                    self.wrong(place, f"rank {peer} in {subnet}, the network of {device}", sorted(names))

    def _options(self) -> Values:
        """What holds for a whole fabric; an index that differs between nodes is none of it."""
        indices = {node.get("roce_gid_index") for node in self.nodes}
        index = indices.pop() if len(indices) == 1 else None
        return {} if index is None else {"gid_index": index}

    def _management(self, node: Values) -> Values:
        interface = node.get("management_interface")
        return {} if interface is None else {"management": {"interface": interface}}
