"""The map of a site: how its Sparks are cabled, with which addresses, and how each thing stands. Pure.

It judges nothing: the state of an end is what `fleet.decide` decides about it, the state of a whole is the gravest of
its parts.
"""

from collections.abc import Mapping

from fleet.cable import Cable
from fleet.decide import decide_by_port
from fleet.desired import DesiredSpark
from fleet.fabric import Fabric
from fleet.hardware import Cage
from fleet.management import Management
from fleet.map_state import Finding, State, finding, worst, worst_of_ours
from fleet.observation import Observation
from fleet.rail import RailEnd, Segment, SwitchPlane
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.shape import Shape


class MapEnd(Record):
    """One end of a rail or plane, and what the plan says of it."""

    spark: str
    cage: Cage
    interface: str
    address: str
    """With its prefix, `10.10.0.1/24`."""
    state: State
    findings: tuple[Finding, ...]


class MapSegment(Record):
    """A rail, or a plane of a switch."""

    rail: int
    subnet: str
    mtu: int
    switch: str | None
    """The switch it is a plane of; None for a rail."""
    state: State
    ends: tuple[MapEnd, ...]


class MapCable(Record):
    """A cable between two Sparks, with its one or two rails; their ends come in the order of the cable's."""

    ends: tuple[str, str]
    """The cages it is plugged into, `dgx1.f1` and `dgx2.f0`."""
    state: State
    rails: tuple[MapSegment, ...]


class MapFabric(Record):
    """One fabric of the site."""

    name: str
    shape: Shape
    transit: bool
    state: State
    sparks: tuple[str, ...]
    """In the order of their ranks."""
    cables: tuple[MapCable, ...]
    planes: tuple[MapSegment, ...]

    @property
    def segments(self) -> tuple[MapSegment, ...]:
        """Every rail and plane."""
        return (*(rail for cable in self.cables for rail in cable.rails), *self.planes)


class MapSpark(Record):
    """One Spark, and all that the plan says of it: rail ends, management, and what it serves."""

    name: str
    enrolled: bool
    management: str | None
    """Its management address with the prefix, or `dhcp`; None where the roster leaves it alone."""
    management_interface: str
    state: State
    findings: tuple[Finding, ...]
    """Each once, in the order in which a deploy would come to it."""


class Map(Record):
    """What a picture of the site shows."""

    site: str
    observed: bool
    """Were hosts asked? If not, what is enrolled is `declared`."""
    state: State
    """The gravest of its enrolled Sparks; `only named` where it has none."""
    sparks: tuple[MapSpark, ...]
    fabrics: tuple[MapFabric, ...]


def map_of(site: str, roster: Roster, collection: Mapping[str, Observation] | None) -> Map:
    """The map of a roster and of what was seen of its hosts.

    + site: what people call it
    + collection: an observation of each enrolled Spark; one that is missing was not observed. None: nobody looked
    """
    return _Drawing(roster, collection).map(site)


class _Drawing:
    """Holds what was decided about each Spark while the map is put together."""

    def __init__(self, roster: Roster, collection: Mapping[str, Observation] | None) -> None:
        self.roster = roster
        self.unasked = State.AS_DESIRED if collection is not None else State.DECLARED
        seen = {} if collection is None else {name: collection.get(name) for name in roster.enrolled}
        self.decided = {name: _decided(roster.desired_for(name), each) for name, each in seen.items()}

    def map(self, site: str) -> Map:
        sparks = tuple(self._spark(name) for name in self.roster.sparks)
        return Map(
            site=site,
            observed=self.unasked is State.AS_DESIRED,
            state=worst_of_ours(each.state for each in sparks),
            sparks=sparks,
            fabrics=tuple(self._fabric(name, fabric) for name, fabric in self.roster.fabrics.items()),
        )

    def _state(self, spark: str, findings: tuple[Finding, ...]) -> State:
        if not self.roster.sparks[spark].enrolled:
            return State.ONLY_NAMED
        return worst([self.unasked, *(each.state for each in findings)])

    def _spark(self, name: str) -> MapSpark:
        spark = self.roster.sparks[name]
        findings = tuple(dict.fromkeys(each for _, each in self.decided.get(name, ())))
        return MapSpark(
            name=name,
            enrolled=spark.enrolled,
            management=_management(spark.management),
            management_interface=spark.management.interface,
            state=self._state(name, findings),
            findings=findings,
        )

    def _fabric(self, name: str, fabric: Fabric) -> MapFabric:
        cables = tuple(self._cable(cable) for cable in fabric.cables)
        planes = tuple(self._segment(plane) for plane in fabric.planes)
        states = (*(each.state for each in cables), *(each.state for each in planes))
        return MapFabric(
            name=name,
            shape=fabric.shape,
            transit=fabric.transit,
            state=worst_of_ours(states, of_none=self.unasked),
            sparks=fabric.sparks,
            cables=cables,
            planes=planes,
        )

    def _cable(self, cable: Cable) -> MapCable:
        one, other = cable.ends
        rails = tuple(self._segment(rail, cable.sparks) for rail in cable.rails)
        return MapCable(ends=(str(one), str(other)), state=worst(each.state for each in rails), rails=rails)

    def _segment(self, segment: Segment, order: tuple[str, ...] = ()) -> MapSegment:
        found = sorted(segment.ends, key=lambda end: order.index(end.spark)) if order else segment.ends
        ends = tuple(self._end(end) for end in found)
        switch = segment.switch if isinstance(segment, SwitchPlane) else None
        whole = worst if switch is None else worst_of_ours
        return MapSegment(
            rail=segment.rail,
            subnet=segment.subnet,
            mtu=segment.ends[0].mtu,
            switch=switch,
            state=whole(each.state for each in ends),
            ends=ends,
        )

    def _end(self, end: RailEnd) -> MapEnd:
        decided = self.decided.get(end.spark, ())
        findings = tuple(dict.fromkeys(each for ports, each in decided if end.interface in ports))
        return MapEnd(
            spark=end.spark,
            cage=end.twin.cage,
            interface=end.interface,
            address=str(end.address),
            state=self._state(end.spark, findings),
            findings=findings,
        )


def _decided(desired: DesiredSpark, seen: Observation | None) -> tuple[tuple[tuple[str, ...], Finding], ...]:
    """Each finding with the ports of the rail ends that it is about."""
    if seen is None:
        never = Refusal(code="unobserved", subject=desired.name, expected="an observation", found="none at all")
        return ((tuple(end.interface for end in desired.rail_ends), finding(never)),)
    return tuple((ports, finding(outcome)) for ports, outcome in decide_by_port(desired, seen))


def _management(management: Management) -> str | None:
    if management.address is not None:
        return str(management.address)
    return "dhcp" if management.dhcp else None
