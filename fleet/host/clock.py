"""Does a host's clock follow the world's, and does a login leave its processes alone?"""

from typing import Annotated

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.conf import ConfLine
from fleet.record import VOLATILE, Record

UNSYNCHRONIZED_SECONDS = 16.0
"""The largest error that the kernel tells: nobody has set its clock (NTP_PHASE_LIMIT, include/linux/timex.h)."""


class Clock(Record):
    """What the kernel says of its own clock."""

    max_error_seconds: Annotated[float, VOLATILE]
    """How far it may be off; it grows while nobody sets it, up to 16 (adjtimex(2))."""
    is_local: bool = False
    """The hardware clock has local time, and jumps twice a year."""
    timezone: str = ""

    @property
    def is_synchronized(self) -> bool:
        """Has somebody set it who knows the time? As `timedatectl` tells it."""
        return self.max_error_seconds < UNSYNCHRONIZED_SECONDS


class Logins(Record):
    """What happens to a user's processes and memory when the last session ends."""

    removes_ipc: bool | None
    """logind removes a user's shared memory and semaphores at the end of the last session, an engine's too; None where
    no logind runs, and so nobody does."""
    lingering: tuple[str, ...] = ()
    """Users whose manager runs without a session; of these nothing is removed."""
    users: dict[str, bool] = Field(default_factory=dict)
    """Does a user of that name exist? Of those that were asked for."""
    lines: tuple[ConfLine, ...] = ()
    """Lines of `logind.conf` and its drop-ins about that, in the order in which they are read."""


def parse_clock(text: str) -> Clock:
    """The clock from the JSON of a look; raises ValueError."""
    return Clock.model_validate(answer(text))


def parse_logins(text: str) -> Logins:
    """What a logout does, from the JSON of a look; raises ValueError."""
    return Logins.model_validate(answer(text))
