"""Whom a host asks for the time."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host.time_servers import CHRONY_SOURCES, TIME_UNITS, TimeService, parse_time_servers
from fleet.host.time_servers import TimeServers as State


class TimeServers(Look[State]):
    """
    The servers that timesyncd or chrony asks now, and what its files say; ``None`` when they were not observed.

    + service: ``timesyncd`` or ``chrony``
    + root: a directory to look under instead of ``/``

    .. code:: python

        TimeServers(service="timesyncd", running=("ntp1.lab", "192.0.2.7"))
    """

    needs_root = True

    @override
    def command(self, service: TimeService = "timesyncd", root: str = "") -> str:
        asked = {"service": service, "unit": TIME_UNITS[service], "own": CHRONY_SOURCES}
        return as_root(remote_python("host_systemd", what="time_servers", root=root, **asked))

    @override
    def parse(self, text: str) -> State:
        return parse_time_servers(text)
