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

    fabric: str | None = None
    """None for a lone Spark that is in none."""
    sparks: Annotated[tuple[HostName, ...], Field(min_length=1)]

    def rank_of(self, spark: str) -> int:
        """A Spark's place; raises ValueError for one that is not of the cluster."""
        return self.sparks.index(spark)


def shape_of(cluster: Cluster, fabrics: Mapping[str, Fabric]) -> Shape:
    """The shape in which the cluster's own Sparks are joined."""
    if len(cluster.sparks) == 1 or cluster.fabric is None:
        return Shape.SINGLE
    return fabrics[cluster.fabric].shape


def cluster_wall(name: str, cluster: Cluster, fabrics: Mapping[str, Fabric]) -> None:
    """Raises where the cluster's Sparks cannot all reach each other as its fabric's shape promises."""
    subject = f"clusters.{name}"
    if cluster.fabric is None and len(cluster.sparks) == 1:
        return
    fabric = fabrics.get(cluster.fabric or "")
    if fabric is None:
        known = ", ".join(sorted(fabrics)) or "none"
        raise wall("unknown_fabric", f"{subject}.fabric: expected one of {known}, found {cluster.fabric or 'none'}")
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


def choose_cluster(
    clusters: Mapping[str, Cluster], fabrics: Mapping[str, Fabric], spark: str, name: str | None
) -> Cluster:
    """The named cluster, or the only one that the cabling makes of a Spark; ValueError where there is no such one."""
    if name is not None:
        if name not in clusters:
            raise ValueError(f"cluster: expected one of {', '.join(sorted(clusters)) or 'none'}, found {name}")
        if spark not in clusters[name].sparks:
            raise ValueError(f"cluster {name}: expected one with {spark}, found {', '.join(clusters[name].sparks)}")
        return clusters[name]
    made = cluster_of(spark, fabrics)
    if len(made) > 1:
        mine = sorted(each for each, cluster in clusters.items() if spark in cluster.sparks)
        raise ValueError(f"{spark}: expected a cluster by name, since it is in {len(made)} fabrics: {', '.join(mine)}")
    return made[0] if made else Cluster(sparks=(spark,))
