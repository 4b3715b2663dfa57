"""What the kernel does on each fabric port with packets from elsewhere and with questions for addresses. Pure."""

from fleet.record import Record

ALL = "all"
"""The settings that count for every interface too."""
NAMES = ("rp_filter", "arp_ignore", "arp_filter")


class PortSettings(Record):
    """The kernel's `net.ipv4.conf` of `all` and of each fabric port that is there, now."""

    values: dict[str, dict[str, int]]
    """By interface, then by name."""

    def effective(self, interface: str, name: str) -> int | None:
        """The value that counts; None where the host has no such interface.

        For each of `NAMES` that is the larger one of `all` and the interface (ip-sysctl.rst, Linux 6.17).
        """
        own = self.values.get(interface)
        return None if own is None else max(own[name], self.values[ALL][name])


def parse_port_settings(text: str) -> PortSettings:
    """From lines `INTERFACE NAME VALUE`; raises ValueError for another line, or where one is missing."""
    values: dict[str, dict[str, int]] = {}
    for line in text.split("\n"):
        if line:
            interface, name, value = line.split(" ")
            values.setdefault(interface, {})[name] = int(value)
    for interface in {ALL, *values}:
        if missing := set(NAMES) - set(values.get(interface, {})):
            raise ValueError(f"{interface}: expected {', '.join(sorted(missing))}, found none")
    return PortSettings(values=values)
