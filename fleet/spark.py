"""A Spark: one host of the lab."""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.declared import Declared
from fleet.hardware import INTERFACES, twin_of
from fleet.management import Management
from fleet.neighbour import Neighbour
from fleet.pci import PciAddress
from fleet.record import Digest
from fleet.wall import each_once, wall

RosterName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
"""What a roster calls a fabric, a cluster, a deployment, or a policy that several Sparks share."""

HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$")]


class Spark(Declared):
    """A host we know: enrolled (ours to converge) or only named (never touched)."""

    enrolled: bool
    management: Management = Management()
    """The connection that carries SSH."""
    guard_seconds: Annotated[int, Field(strict=True, ge=30, le=3600)] = 120
    """How long a change that may cut SSH has to be confirmed before the host undoes it by itself."""
    machine_id: Digest | None = None
    """Digest of its machine-id. Cloned images share a host key, so the key alone does not prove which host."""
    neighbours: tuple[Neighbour, ...] = ()
    """Programs of others that may hold memory on it."""
    retire: tuple[Literal["ollama"], ...] = ()
    """Runtimes of which nothing shall be left that a deployment made here, which the roster has no more."""
    host: RosterName | None = None
    """Which of the roster's host policies it has; None where the rest of the host is not ours."""
    pci: dict[str, PciAddress] = Field(default_factory=dict)
    """PCI addresses of ConnectX-7 twins by interface, where a board has others than a DGX Spark."""
    kernel: RosterName | None = None
    """The name of its kernel policy among the roster's; None where its kernel is not ours."""

    def pci_address(self, interface: str) -> str:
        """Where the device of a twin's interface sits on PCI; KeyError for an interface that is no twin's."""
        twin = twin_of(interface)
        if twin is None:
            raise KeyError(interface)
        return self.pci.get(interface, twin.pci_address)

    @model_validator(mode="after")
    def _each_twin_at_a_place_of_its_own(self) -> Self:
        for interface in self.pci:
            if twin_of(interface) is None:
                raise wall("not_a_fabric_port", f"pci: expected a ConnectX-7 twin, as enp1s0f0np0, found {interface}")
        for address, count in Counter(self.pci_address(interface) for interface in INTERFACES).items():
            if self.pci and count > 1:
                raise wall("pci_reused", f"pci: expected an address for each of {', '.join(INTERFACES)}, "
                           f"found {address} {count} times")  # fmt: skip
        return self

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        each_once("retire", self.retire)
        each_once("neighbours", (each.called for each in self.neighbours))
        return self

    @property
    def declared(self) -> Declared:
        """What is said of the files of others on it."""
        return Declared(adopted=self.adopted, revert=self.revert)
