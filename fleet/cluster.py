"""A cluster: the Sparks of one fabric that serve together, in the order of their ranks."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from fleet.fabric import Fabric
from fleet.record import Record
from fleet.shape import Shape
from fleet.spark import HostName
from fleet.wall import wall


class Cluster(Record):
    """A name for some Sparks of a fabric. Rank is the place in the list: 0 is the head."""

    fabric: str
    sparks: Annotated[tuple[HostName, ...], Field(min_length=1)]

    def rank_of(self, spark: str) -> int:
        """A Spark's place; raises ValueError for one that is not of the cluster."""
        return self.sparks.index(spark)


def shape_of(cluster: Cluster, fabric: Fabric) -> Shape:
    """The shape in which the cluster's own Sparks are joined."""
    return Shape.SINGLE if len(cluster.sparks) == 1 else fabric.shape


def cluster_wall(name: str, cluster: Cluster, fabrics: Mapping[str, Fabric]) -> None:
    """Raises where the cluster's Sparks cannot all reach each other as its fabric's shape promises."""
    subject = f"clusters.{name}"
    fabric = fabrics.get(cluster.fabric)
    if fabric is None:
        known = ", ".join(sorted(fabrics)) or "none"
        raise wall("unknown_fabric", f"{subject}.fabric: expected one of {known}, found {cluster.fabric}")
    if len(set(cluster.sparks)) != len(cluster.sparks):
        twice = next(each for each in cluster.sparks if cluster.sparks.count(each) > 1)
        raise wall("cluster_spark_twice", f"{subject}.sparks: expected each spark once, found {twice} again")
    outside = [each for each in cluster.sparks if each not in fabric.sparks]
    if outside:
        raise wall(
            "cluster_outside_fabric", f"{subject}.sparks: expected sparks of {cluster.fabric}, found {outside[0]}"
        )
    if len(cluster.sparks) > 1 and not _is_joined(cluster, fabric):
        raise wall(
            "cluster_not_joined",
            f"{subject}.sparks: expected {_joined(fabric)}, found {', '.join(cluster.sparks)}",
        )


def _is_joined(cluster: Cluster, fabric: Fabric) -> bool:
    if fabric.shape is Shape.SWITCH:
        return True
    if fabric.shape is Shape.PAIR:
        return any(set(cable.sparks) == set(cluster.sparks) for cable in fabric.cables)
    return _is_turned(cluster.sparks, fabric.sparks)


def _is_turned(order: tuple[str, ...], ring: tuple[str, ...]) -> bool:
    """Does the order go round the ring, from any Spark, either way? Neighbours in rank must be neighbours in cable."""
    turns = [ring[at:] + ring[:at] for at in range(len(ring))]
    return order in turns or order[::-1] in turns


def _joined(fabric: Fabric) -> str:
    if fabric.shape is Shape.PAIR:
        return "two sparks that share a cable"
    return f"all of {', '.join(fabric.sparks)} in cable order"


def cluster_of(spark: str, fabrics: Mapping[str, Fabric]) -> tuple[Cluster, ...]:
    """The clusters that the cabling itself makes of a Spark, one for each fabric it is in."""
    return tuple(
        Cluster(fabric=name, sparks=_whole(spark, fabric)) for name, fabric in fabrics.items() if spark in fabric.sparks
    )


def _whole(spark: str, fabric: Fabric) -> tuple[str, ...]:
    if fabric.shape is Shape.PAIR:
        return next(cable.sparks for cable in fabric.cables if spark in cable.sparks)
    return fabric.sparks
