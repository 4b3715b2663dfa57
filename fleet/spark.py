"""A Spark: one host of the lab."""

from typing import Annotated

from pydantic import Field

from fleet.declared import Declared
from fleet.management import Management
from fleet.record import Digest

HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$")]


class Spark(Declared):
    """A host we know: enrolled (ours to converge) or only named (never touched)."""

    enrolled: bool
    management: Management = Management()
    """The connection that carries SSH."""
    guard_seconds: Annotated[int, Field(strict=True, ge=30, le=3600)] = 120
    """How long a change that may cut SSH has to be confirmed before the host undoes it by itself."""
    machine_id: Digest | None = None
    """Digest of its machine-id. Cloned images share a host key, so the key alone does not prove which host."""

    @property
    def declared(self) -> Declared:
        """What is said of the files of others on it."""
        return Declared(adopted=self.adopted, revert=self.revert)
