"""Which Spark serves what: the assignment, and what becomes of the Sparks that it leaves."""

from collections.abc import Callable, Mapping

from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.retirement import Retirement
from fleet.record import Record
from fleet.spark import HostName, Spark
from fleet.wall import wall


class Deployment(Record):
    """What one Spark serves."""

    spark: HostName
    ollama: OllamaDeployment
    moved_from: HostName | None = None
    """The Spark that served it before: what is left there is stopped, in the same plan."""
    stop_first: bool = False
    """Is it stopped there before it starts here? Otherwise once it answers here, so that it is never away."""

    copy_from: tuple[HostName, ...] = ()
    """Sparks that its models may be copied from, over a rail; so may they from the one that served it before."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The Sparks that its models may be copied from, in the order in which they are asked."""
        return tuple(dict.fromkeys((*([self.moved_from] if self.moved_from else []), *self.copy_from)))

    @property
    def served_on(self) -> tuple[str, ...]:
        """The Sparks that may serve it: where it is, and where it was."""
        return (self.spark, *([self.moved_from] if self.moved_from else []))

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every Spark that a plan of it is about, the one that serves it first."""
        return (self.spark, *self.sources)


def retirement(name: str, spark: Spark, deployments: Mapping[str, Deployment]) -> Retirement | None:
    """What becomes of what an earlier deployment left on a Spark; None where it serves, or where nothing was said."""
    if any(each.spark == name for each in deployments.values()):
        return None
    moved = [each for each in deployments.values() if each.moved_from == name]
    if moved:
        return Retirement(moved_to=moved[0].spark, first=moved[0].stop_first)
    return Retirement() if "ollama" in spark.retire else None


def assigned(
    deployments: Mapping[str, Deployment], sparks: Mapping[str, Spark], known: Callable[[str, str], None]
) -> None:
    """The walls of the assignment: a Spark serves one deployment, and one deployment is served by a Spark.

    + known: raises the wall of a Spark that the roster does not have
    """
    for name, deployment in deployments.items():
        _enrolled(deployment.spark, f"deployments.{name}.spark", sparks, known)
        if deployment.moved_from is not None:
            _moved(name, deployment, deployment.moved_from)
            _enrolled(deployment.moved_from, f"deployments.{name}.moved_from", sparks, known)
        for source in deployment.copy_from:
            _copied(name, deployment, source)
            _enrolled(source, f"deployments.{name}.copy_from", sparks, known)
    serves = _by_spark({name: each.spark for name, each in deployments.items()})
    left = _by_spark({name: each.moved_from for name, each in deployments.items() if each.moved_from})
    for spark, names in serves.items():
        if len(names) > 1:
            raise wall("spark_serves_twice", f"{spark}: expected one deployment, found {' and '.join(names)}")
    for spark, names in left.items():
        if len(names) > 1:
            found = " and ".join(names)
            raise wall("moved_from_twice", f"{spark}: expected one deployment moved away from it, found {found}")
    for spark in sparks:
        if sparks[spark].retire and spark in serves:
            raise wall(
                "retire_serves",
                f"sparks.{spark}.retire: expected a spark that serves nothing, found {serves[spark][0]} on it",
            )


def _moved(name: str, deployment: Deployment, source: str) -> None:
    if source == deployment.spark:
        raise wall("moved_nowhere", f"deployments.{name}.moved_from: expected another spark, found {source}")


def _copied(name: str, deployment: Deployment, source: str) -> None:
    if source == deployment.spark or deployment.copy_from.count(source) > 1:
        raise wall("copied_nowhere", f"deployments.{name}.copy_from: expected other sparks, each once, found {source}")


def _enrolled(spark: str, place: str, sparks: Mapping[str, Spark], known: Callable[[str, str], None]) -> None:
    known(spark, place)
    if not sparks[spark].enrolled:
        raise wall("deployment_not_enrolled", f"{place}: expected an enrolled spark, found {spark}, only named")


def _by_spark(sparks: Mapping[str, str]) -> dict[str, list[str]]:
    """The deployments of each Spark, from the Spark of each deployment."""
    return {spark: [name for name in sparks if sparks[name] == spark] for spark in dict.fromkeys(sparks.values())}
