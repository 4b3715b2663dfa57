"""The network hardware of a DGX Spark: two cages, each seen as two twins, one per PCIe domain.

Source: field-notes "Names", from NVIDIA's dgx-spark-playbooks (connect-two-sparks) and two labs' records.
"""

from enum import StrEnum

from fleet.record import Record


class Cage(StrEnum):
    """A QSFP port."""

    F0 = "f0"
    F1 = "f1"


class Twin(Record):
    """One of the two faces of a cage: an interface and the RDMA device above it."""

    cage: Cage
    pci_address: str
    interface: str
    rdma_device: str

    @property
    def domain(self) -> str:
        """The PCIe domain, `0000` or `0002`: twins of one cable end in the same domain."""
        return self.pci_address.partition(":")[0]


TWINS: tuple[Twin, ...] = (
    Twin(cage=Cage.F0, pci_address="0000:01:00.0", interface="enp1s0f0np0", rdma_device="rocep1s0f0"),
    Twin(cage=Cage.F0, pci_address="0002:01:00.0", interface="enP2p1s0f0np0", rdma_device="roceP2p1s0f0"),
    Twin(cage=Cage.F1, pci_address="0000:01:00.1", interface="enp1s0f1np1", rdma_device="rocep1s0f1"),
    Twin(cage=Cage.F1, pci_address="0002:01:00.1", interface="enP2p1s0f1np1", rdma_device="roceP2p1s0f1"),
)
"""Every Spark has exactly these four; a deploy loops over them, so every host has the same operations."""

INTERFACES: tuple[str, ...] = tuple(twin.interface for twin in TWINS)


def twin_of(interface: str) -> Twin | None:
    """The twin with this interface name (case is significant), or None for any other interface."""
    return next((twin for twin in TWINS if twin.interface == interface), None)
