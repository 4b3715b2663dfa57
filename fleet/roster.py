"""The roster: what a site should be, read from plain values.

`Roster.read` takes the `roster` value of a group_data file. Every complaint names the file, the key,
what was expected and what was found, and all of them are given at once.
"""

import json
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from fleet.fabric import Fabric
from fleet.ollama.deployment import OllamaDeployment
from fleet.rail import RailEnd
from fleet.record import Record
from fleet.roster_error import RosterError, complaints
from fleet.spark import HostName, Spark
from fleet.wall import wall


class Deployment(Record):
    """What one Spark serves."""

    spark: HostName
    ollama: OllamaDeployment


class DesiredSpark(Record):
    """What one enrolled Spark should be: its ends of the rails, and what it serves."""

    name: HostName
    spark: Spark
    rail_ends: tuple[RailEnd, ...]
    ollama: OllamaDeployment | None

    def end_on(self, interface: str) -> RailEnd | None:
        """The rail end on an interface, or None where no rail uses it."""
        return next((end for end in self.rail_ends if end.interface == interface), None)


class Roster(Record):
    """The desired state of one site: its Sparks, its fabric, its deployments by name."""

    sparks: Annotated[dict[HostName, Spark], Field(min_length=1)]
    fabric: Fabric | None = None
    deployments: dict[str, Deployment] = Field(default_factory=dict)

    @classmethod
    def read(cls, values: Any, source: str) -> Self:
        """The roster that plain values spell; `source` names them in errors (`group_data/sparks.py`).

        Raises RosterError with one line per complaint.
        """
        try:
            text = json.dumps(values)
        except (TypeError, ValueError) as error:
            raise RosterError([f"{source}: roster: expected plain values, found {error}"]) from error
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise RosterError(complaints(error, source)) from error

    @property
    def enrolled(self) -> tuple[str, ...]:
        """The names of the Sparks that are ours to converge, sorted."""
        return tuple(sorted(name for name, spark in self.sparks.items() if spark.enrolled))

    def desired_for(self, name: str) -> DesiredSpark:
        """What an enrolled Spark should be; raises KeyError for a Spark that is not enrolled."""
        spark = self.sparks[name]
        if not spark.enrolled:
            raise KeyError(name)
        ends = () if self.fabric is None else tuple(end for end in self.fabric.ends if end.spark == name)
        serving = [entry for entry in self.deployments.values() if entry.spark == name]
        return DesiredSpark(name=name, spark=spark, rail_ends=ends, ollama=serving[0].ollama if serving else None)

    @model_validator(mode="after")
    def _walls(self) -> Self:
        for end in self.fabric.ends if self.fabric else ():
            self._known(end.spark, f"fabric rail end {end.interface}")
        seen: dict[str, str] = {}
        for name, deployment in self.deployments.items():
            self._known(deployment.spark, f"deployments.{name}.spark")
            if not self.sparks[deployment.spark].enrolled:
                raise wall(
                    "deployment_not_enrolled",
                    f"deployments.{name}.spark: expected an enrolled spark, found {deployment.spark}, only named",
                )
            if deployment.spark in seen:
                raise wall(
                    "spark_serves_twice",
                    f"{deployment.spark}: expected one deployment, found {seen[deployment.spark]} and {name}",
                )
            seen[deployment.spark] = name
        return self

    def _known(self, spark: str, subject: str) -> None:
        if spark not in self.sparks:
            known = ", ".join(sorted(self.sparks))
            raise wall("unknown_spark", f"{subject}: expected one of {known}, found {spark}")
