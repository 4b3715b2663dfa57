"""Where a run was started: the machine and the process that hold it."""

from fleet.record import Record


class Controller(Record):
    """One process on one boot of one machine. A pid alone may come again; with its start and the boot it does not."""

    user: str
    host: str
    boot_id: str
    """Another after every boot of the controller."""
    pid: int
    started_ticks: int
    """When the process was started, in clock ticks since boot (`/proc/PID/stat`, field 22)."""

    def __str__(self) -> str:
        return f"{self.user}@{self.host} pid {self.pid}"
