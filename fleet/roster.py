"""The roster: what a site should be, read from plain values.

`Roster.read` takes the `roster` value of a group_data file. Every complaint names the file, the key,
what was expected and what was found, and all of them are given at once.
"""

import json
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator
from typing_extensions import override

from fleet.assembly import Assembly, assembled
from fleet.cluster import Cluster, cluster_wall
from fleet.declared import not_ours
from fleet.deployments import Deployment, assigned, retirement
from fleet.desired import DesiredEnd, DesiredSpark
from fleet.fabric import Fabric, together
from fleet.fit.policy import Policy
from fleet.host.policy import HostPolicy
from fleet.kernel.policy import KernelPolicy
from fleet.management import apart
from fleet.notation import expand
from fleet.plain import DEPTH, not_plain, within
from fleet.policies import page_sizes_agree, policy_known
from fleet.rail import RailEnd, Segment, SwitchPlane
from fleet.record import Record, canonical_json, sha256_digest
from fleet.roster_error import RosterError, complaints
from fleet.routes import routes_of, transit_of
from fleet.spark import HostName, RosterName, Spark
from fleet.wall import wall


class Roster(Record):
    """The desired state of one site: its Sparks, and by name its fabrics, clusters and deployments."""

    sparks: Annotated[dict[HostName, Spark], Field(min_length=1)]
    fabrics: dict[RosterName, Fabric] = Field(default_factory=dict)
    clusters: dict[RosterName, Cluster] = Field(default_factory=dict)
    deployments: dict[RosterName, Deployment] = Field(default_factory=dict)
    assemblies: dict[RosterName, Assembly] = Field(default_factory=dict)
    """What engines of others serve on clusters: only asked about, by `sparks fit`."""
    memory: Policy = Policy()
    """How much of each Spark's memory may be taken."""
    hosts: dict[RosterName, HostPolicy] = Field(default_factory=dict)
    """What the rest of a host should be, by the name that Sparks give."""
    kernels: dict[RosterName, KernelPolicy] = Field(default_factory=dict)
    """Kernel policies, which Sparks name."""

    @classmethod
    def read(cls, values: Any, source: str) -> Self:
        """The roster that plain values spell; `source` names them in errors (`group_data/sparks.py`).

        Raises RosterError with one line per complaint.
        """
        _refuse_other_than_plain(values, source)
        text = json.dumps(_written_out(values, source))
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise RosterError(complaints(error, source)) from error

    @property
    @override
    def digest(self) -> str:
        """Of what the file says: not of what is as it would be unsaid, which a later version of ours has more of."""
        return sha256_digest(canonical_json(self.model_dump(mode="json", exclude_defaults=True)).encode())

    @property
    def enrolled(self) -> tuple[str, ...]:
        """The names of the Sparks that are ours to converge, sorted."""
        return tuple(sorted(name for name, spark in self.sparks.items() if spark.enrolled))

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Every rail and switch plane of every fabric."""
        return tuple(segment for fabric in self.fabrics.values() for segment in fabric.segments)

    def desired_for(self, name: str) -> DesiredSpark:
        """What an enrolled Spark should be; raises KeyError for a Spark that is not enrolled."""
        spark = self.sparks[name]
        if not spark.enrolled:
            raise KeyError(name)
        ends = tuple(
            _desired_end(spark, fabric, segment, end)
            for fabric in self.fabrics.values()
            for segment in fabric.segments
            for end in segment.ends
            if end.spark == name
        )
        serving = [entry for entry in self.deployments.values() if entry.spark == name]
        return DesiredSpark(
            name=name,
            spark=spark,
            rail_ends=ends,
            ollama=serving[0].ollama if serving else None,
            retirement=retirement(name, spark, self.deployments),
            is_source=any(name in each.sources for each in self.deployments.values()),
            transit=transit_of(self.fabrics.values(), name),
            memory_policy=self.memory,
            host=None if spark.host is None else self.hosts[spark.host],
            kernel=None if spark.kernel is None else self.kernels[spark.kernel],
        )

    @model_validator(mode="after")
    def _walls(self) -> Self:
        for segment in self.segments:
            for end in segment.ends:
                self._known(end.spark, f"{segment} end {end.interface}")
            if isinstance(segment, SwitchPlane) and segment.switch in self.sparks:
                raise wall("switch_is_spark", f"{segment}: expected a switch, found the spark {segment.switch}")
        together(self.segments)
        managed = {name: spark.management for name, spark in self.sparks.items()}
        apart(managed, [(str(segment), segment.ends[0].address.cidr) for segment in self.segments])
        for name, spark in self.sparks.items():
            ends = (each.end_of(name) for each in self.segments)
            not_ours(name, spark.declared, [end.interface for end in ends if end is not None])
        for name, cluster in self.clusters.items():
            if cluster.fabric is None:
                self._known(cluster.sparks[0], f"clusters.{name}.sparks")
            cluster_wall(name, cluster, self.fabrics)
        assigned(self.deployments, self.sparks, self._known)
        assembled(self.assemblies, self.clusters, self.fabrics, {*self.sparks, *self.deployments})
        return self

    @model_validator(mode="after")
    def _policies(self) -> Self:
        for name, spark in self.sparks.items():
            policy_known(name, "kernel", spark.kernel, self.kernels)
            policy_known(name, "host", spark.host, self.hosts)
            if spark.kernel is not None and spark.host is not None:
                page_sizes_agree(name, self.kernels[spark.kernel], self.hosts[spark.host])
        return self

    def _known(self, spark: str, subject: str) -> None:
        if spark not in self.sparks:
            known = ", ".join(sorted(self.sparks))
            raise wall("unknown_spark", f"{subject}: expected one of {known}, found {spark}")


def _refuse_other_than_plain(values: Any, source: str) -> None:
    """JSON has text alone for keys, and would make text of a number: what is written must be what is read."""
    try:
        lines = [f"{source}: {line}" for line in not_plain(values, "roster")]
    except RecursionError as error:
        sentence = f"expected values nested at most {DEPTH} deep, found more"
        raise RosterError([f"{source}: roster: {sentence}"]) from error
    if lines:
        raise RosterError(lines)


def _written_out(values: Any, source: str) -> Any:
    """The values with every fabric in the short notation written out; raises RosterError with every complaint."""
    fabrics = values.get("fabrics") if isinstance(values, dict) else None
    if not isinstance(fabrics, dict):
        return values
    written: dict[str, Any] = {}
    lines: list[str] = []
    for name, fabric in fabrics.items():
        try:
            written[name] = expand(fabric, within(f"{source}: roster.fabrics", name))
        except RosterError as error:
            lines += error.lines
    if lines:
        raise RosterError(lines)
    return {**values, "fabrics": written}


def _desired_end(spark: Spark, fabric: Fabric, segment: Segment, end: RailEnd) -> DesiredEnd:
    return DesiredEnd(
        **dict(end),
        rail=segment.rail,
        peers=segment.peers_of(end.spark),
        pci_address=spark.pci_address(end.interface),
        routes=routes_of(fabric, end),
        gid_index=fabric.gid_index,
        guarded=fabric.guarded,
        guard_seconds=spark.guard_seconds,
        floor_gbps=fabric.floor_gbps,
        declared=spark.declared,
    )
