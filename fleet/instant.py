"""A moment in UTC, with one spelling: `2026-11-30T01:33:12.123456Z`."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

Instant = Annotated[AwareDatetime, AfterValidator(lambda value: value.astimezone(UTC))]
"""A time with its zone, kept in UTC; one without a zone is refused."""


def utc_now() -> datetime:
    """Now, by the clock of this machine."""
    return datetime.now(UTC)
