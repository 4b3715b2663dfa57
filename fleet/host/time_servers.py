"""Whom a host asks for the time, and by which service."""

from typing import Annotated, Literal

from pydantic import Field

from fleet.host.answer import answer
from fleet.host.conf import ConfLine
from fleet.record import Record

TimeService = Literal["timesyncd", "chrony"]
TIME_UNITS: dict[TimeService, str] = {"timesyncd": "systemd-timesyncd.service", "chrony": "chrony.service"}
TimeServer = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.:-]{0,251}[a-z0-9])?$")]
"""A name or an address, in lower case: `ntp1.lab`, `192.0.2.7`."""
CHRONY_SOURCES = "/etc/chrony/sources.d/sparks-host.sources"
"""Read where chrony.conf has `sourcedir /etc/chrony/sources.d`, as Debian 12 ships it (chrony 4.3, 2026-11-30)."""


class TimeServers(Record):
    """The servers of the service that was asked about."""

    service: TimeService
    running: tuple[str, ...] | None
    """Those that it asks now, by the names that it was given; None where it does not run."""
    own: tuple[str, ...] = ()
    """Those of our file for chrony, as it lies there: others of chrony's own files stay beside them."""
    lines: tuple[ConfLine, ...] = ()
    """Lines of `timesyncd.conf` and its drop-ins about that, in the order in which they are read."""
    reads_ours: bool = True
    """Does chrony read the directory of our file?"""


def parse_time_servers(text: str) -> TimeServers:
    """The servers from the JSON of a look; raises ValueError."""
    return TimeServers.model_validate(answer(text))
