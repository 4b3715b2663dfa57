"""Where a run was started: the machine and the process that hold it."""

from fleet.record import Digest, Record


class Controller(Record):
    """One process on one boot of one machine. A pid alone may come again; with its start and the boot it does not."""

    user: str
    host: str
    boot_id: str
    """Another after every boot of the controller. Empty where a machine does not tell it (no `/proc`)."""
    pid: int
    started_ticks: int
    """When the process was started, in clock ticks since boot (`/proc/PID/stat`, field 22)."""
    pid_namespace: str | None = None
    """In which pids count: a container has its own, on the boot of its host."""
    machine_id_digest: Digest | None = None

    @property
    def owner(self) -> str:
        """Whose run it is: `user@host`."""
        return f"{self.user}@{self.host}"

    def __str__(self) -> str:
        return f"{self.owner} pid {self.pid}"

    def is_process(self, other: "Controller") -> bool:
        """Is it the very same process?"""
        return self.sees(other) and (self.pid, self.started_ticks) == (other.pid, other.started_ticks)

    def sees(self, other: "Controller") -> bool:
        """Are the other's pids ours, so that looking here tells whether its process lives?"""
        here = (self.boot_id, self.pid_namespace)
        return bool(self.boot_id) and here[1] is not None and here == (other.boot_id, other.pid_namespace)

    def has_outlived(self, other: "Controller") -> bool:
        """Are we the other's machine after a reboot, which no process survives?"""
        machine = (self.host, self.machine_id_digest)
        if machine != (other.host, other.machine_id_digest) or self.machine_id_digest is None:
            return False
        return bool(self.boot_id and other.boot_id) and self.boot_id != other.boot_id
