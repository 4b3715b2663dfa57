"""What one Spark should be, gathered from all of a roster."""

from fleet.declared import Declared
from fleet.fit.policy import Policy
from fleet.host.policy import HostPolicy
from fleet.kernel.policy import KernelPolicy
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.retirement import Retirement
from fleet.pci import PciAddress
from fleet.rail import RailEnd
from fleet.record import Record
from fleet.route import TransitRoute
from fleet.spark import HostName, Spark
from fleet.transit.desired import Transit


class DesiredEnd(RailEnd):
    """A rail end, and what the whole fabric adds to it."""

    rail: int
    """The number of its rail or plane."""
    peers: tuple[RailEnd, ...]
    """The ends that it must reach without a hop: one on a rail, all others on a switch plane."""
    pci_address: PciAddress
    """Where its device sits on PCI while a cable is in."""
    routes: tuple[TransitRoute, ...] = ()
    """What is reached through it in a ring with transit."""
    gid_index: int | None = None
    guarded: bool = False
    """Shall a change of it undo itself unless it is confirmed, also where SSH does not come in over it?"""
    guard_seconds: int = 120
    """How long it waits for that."""
    floor_gbps: float | None = None
    declared: Declared = Declared()
    """What is said of the files of others on its Spark."""

    @property
    def joined(self) -> str:
        """The rail and its ends, as people look for them: `rail 102 (srv5 enp1s0f0np0 - srv6 enp1s0f0np0)`."""
        far = [str(end) for end in self.peers] if len(self.peers) <= 1 else [f"{len(self.peers)} others on its switch"]
        return f"rail {self.rail} ({' - '.join([str(self), *far])})"


class DesiredSpark(Record):
    """What one enrolled Spark should be: its ends of the rails, and what it serves."""

    name: HostName
    spark: Spark
    rail_ends: tuple[DesiredEnd, ...]
    ollama: OllamaDeployment | None
    retirement: Retirement | None = None
    """What becomes of what an earlier deployment left, where it serves nothing; None where nothing was said."""
    is_source: bool = False
    """May others copy models from it?"""
    transit: Transit | None = None
    """What it passes on for its neighbours in a ring; None where nothing."""
    memory_policy: Policy = Policy()
    """How much of its memory may be taken by what it serves."""
    host: HostPolicy | None = None
    """What the rest of it should be; None where that is not ours."""
    kernel: KernelPolicy | None = None
    """Which kernel it boots; None where that is not ours."""

    @property
    def stops_first(self) -> bool:
        """Is what moved away stopped before it starts elsewhere?"""
        return self.retirement is not None and self.retirement.first

    def end_on(self, interface: str) -> DesiredEnd | None:
        """The rail end on an interface, or None where no rail uses it."""
        return next((end for end in self.rail_ends if end.interface == interface), None)
