"""A Spark: one host of the lab."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fleet.hardware import twin_of
from fleet.record import Digest, Record
from fleet.wall import wall

HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$")]


class Spark(Record):
    """A host we know: enrolled (ours to converge) or only named (never touched)."""

    enrolled: bool
    management: str = "enP7s7"
    """The interface that carries SSH. `enP7s7` is the 10GbE port of every DGX Spark (field-notes, Names)."""
    machine_id: Digest | None = None
    """Digest of its machine-id. Cloned images share a host key, so the key alone does not prove which host."""

    @model_validator(mode="after")
    def _management_is_not_fabric(self) -> Self:
        if twin_of(self.management) is not None:
            raise wall(
                "management_on_fabric",
                f"management: expected an interface outside the fabric, found {self.management}",
            )
        return self
