"""A Spark: one host of the lab."""

from typing import Annotated

from pydantic import Field

from fleet.management import Management
from fleet.record import Digest, Record

HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$")]

NetplanPath = Annotated[str, Field(pattern=r"^/etc/netplan/[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*\.yaml$")]
"""A file that netplan reads and that stays; a name that begins with a dot is none to it."""


class Spark(Record):
    """A host we know: enrolled (ours to converge) or only named (never touched)."""

    enrolled: bool
    management: Management = Management()
    """The connection that carries SSH."""
    guard_seconds: Annotated[int, Field(strict=True, ge=30, le=3600)] = 120
    """How long a change that may cut SSH has to be confirmed before the host undoes it by itself."""
    revert: tuple[NetplanPath, ...] = ()
    """Files of other owners that go; a copy stays on the host, for root alone."""
    machine_id: Digest | None = None
    """Digest of its machine-id. Cloned images share a host key, so the key alone does not prove which host."""
