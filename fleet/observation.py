"""What was seen of one host at one moment: every section is a value, or why it could not be observed."""

from typing import TypeVar

from fleet.applied import AppliedIp4
from fleet.bandwidth import Measured
from fleet.completion import Completion
from fleet.connections import Connections
from fleet.containers import Containers
from fleet.generation import Stamp
from fleet.gpu import GpuState
from fleet.host.clock import Clock, Logins
from fleet.host.files import HostFiles
from fleet.host.firmware import Firmware
from fleet.host.fragmentation import Fragmentation
from fleet.host.guard_service import MemoryGuard
from fleet.host.journal import Journal
from fleet.host.kernel_values import Governors, HugePages
from fleet.host.manager import Manager
from fleet.host.modules import Modules
from fleet.host.mounts import Mounts
from fleet.host.swap import Swap
from fleet.host.sysctl import Sysctls
from fleet.host.time_servers import TimeServers
from fleet.host.tmpfiles import Paths
from fleet.host.units import Units
from fleet.invocation import Running
from fleet.kernel.boot import Boot, SecureBoot
from fleet.kernel.dkms import Dkms
from fleet.kernel.files import InstalledKernels
from fleet.kernel.kho import Kho
from fleet.kernel.packages import Packages
from fleet.kernel.running import Kernel
from fleet.kernel.upgrades import Upgrades
from fleet.links import Link
from fleet.llamacpp import LlamaCpp
from fleet.lock import LockState
from fleet.machine import Machine
from fleet.memory import Memory
from fleet.netplan.device import NetplanFile
from fleet.ollama.observed import ModelStore, Residency, ServiceState
from fleet.ollama.program import ProgramState
from fleet.ollama.registry import Published
from fleet.ollama.servers import OllamaServer
from fleet.pci import PciNetwork
from fleet.pings import RailPing
from fleet.port_settings import PortSettings
from fleet.processes import EngineProcesses
from fleet.rdma_pin import RdmaPin
from fleet.rdma_use import DeviceUse
from fleet.record import Record, Unobserved
from fleet.refusal import Refusal
from fleet.roce import RoceDevice, RoceGid
from fleet.session import Session
from fleet.transit.observed import Firewall, TransitState
from fleet.trial import Guard
from fleet.vllm import VllmServer

T = TypeVar("T")

SERVING = frozenset({
    "ollama_program", "ollama_service", "ollama_models", "ollama_registry", "ollama_residency", "invocation",
    "completions", "ollama_servers", "vllm", "llamacpp", "processes", "gpu", "containers",
})  # fmt: skip
"""The sections about what is served."""

HOST = frozenset({
    "host_files", "sysctls", "huge_pages", "governors", "units", "manager", "clock", "logins", "mounts", "journal",
    "time_servers",
    "firmware", "fragmentation", "swap", "memory_guard", "modules", "paths",
})  # fmt: skip
"""The sections about the rest of a host."""

NOT_LOOKED = Unobserved(reason="this observation did not look")


class Observation(Record):
    """One host, looked at once. An empty section means: looked, there is none."""

    host: str
    netplan: tuple[NetplanFile, ...] | Unobserved = NOT_LOOKED
    links: tuple[Link, ...] | Unobserved = NOT_LOOKED
    connections: Connections | Unobserved = NOT_LOOKED
    session: Session | Unobserved = NOT_LOOKED
    guard: Guard | Unobserved = NOT_LOOKED
    lock: LockState | Unobserved = NOT_LOOKED
    management: AppliedIp4 | Unobserved = NOT_LOOKED
    roce_devices: tuple[RoceDevice, ...] | Unobserved = NOT_LOOKED
    roce_gids: tuple[RoceGid, ...] | Unobserved = NOT_LOOKED
    transit: TransitState | Unobserved = NOT_LOOKED
    firewall: Firewall | Unobserved = NOT_LOOKED
    pci: PciNetwork | Unobserved = NOT_LOOKED
    port_settings: PortSettings | Unobserved = NOT_LOOKED
    rdma_use: tuple[DeviceUse, ...] | Unobserved = NOT_LOOKED
    rail_pings: tuple[RailPing, ...] | Unobserved = NOT_LOOKED
    rail_bandwidth: tuple[Measured, ...] | Unobserved = NOT_LOOKED
    rdma_pins: tuple[RdmaPin, ...] | Unobserved = NOT_LOOKED
    kernel: Kernel | Unobserved = NOT_LOOKED
    packages: Packages | Unobserved = NOT_LOOKED
    kernels: InstalledKernels | Unobserved = NOT_LOOKED
    boot: Boot | Unobserved = NOT_LOOKED
    secure_boot: SecureBoot | Unobserved = NOT_LOOKED
    dkms: Dkms | Unobserved = NOT_LOOKED
    kho: Kho | Unobserved = NOT_LOOKED
    upgrades: Upgrades | Unobserved = NOT_LOOKED
    machine: Machine | Unobserved = NOT_LOOKED
    memory: Memory | Unobserved = NOT_LOOKED
    ollama_program: ProgramState | Unobserved = NOT_LOOKED
    ollama_service: ServiceState | Unobserved = NOT_LOOKED
    ollama_models: ModelStore | Unobserved = NOT_LOOKED
    ollama_registry: tuple[Published, ...] | Unobserved = NOT_LOOKED
    ollama_residency: Residency | Unobserved = NOT_LOOKED
    invocation: Running | Unobserved = NOT_LOOKED
    generation: Stamp | Unobserved = NOT_LOOKED
    completions: tuple[Completion, ...] | Unobserved = NOT_LOOKED
    processes: EngineProcesses | Unobserved = NOT_LOOKED
    gpu: GpuState | Unobserved = NOT_LOOKED
    containers: Containers | Unobserved = NOT_LOOKED
    ollama_servers: tuple[OllamaServer, ...] | Unobserved = NOT_LOOKED
    vllm: tuple[VllmServer, ...] | Unobserved = NOT_LOOKED
    llamacpp: LlamaCpp | Unobserved = NOT_LOOKED
    host_files: HostFiles | Unobserved = NOT_LOOKED
    sysctls: Sysctls | Unobserved = NOT_LOOKED
    huge_pages: HugePages | Unobserved = NOT_LOOKED
    governors: Governors | Unobserved = NOT_LOOKED
    units: Units | Unobserved = NOT_LOOKED
    manager: Manager | Unobserved = NOT_LOOKED
    clock: Clock | Unobserved = NOT_LOOKED
    logins: Logins | Unobserved = NOT_LOOKED
    time_servers: TimeServers | Unobserved = NOT_LOOKED
    swap: Swap | Unobserved = NOT_LOOKED
    memory_guard: MemoryGuard | Unobserved = NOT_LOOKED
    modules: Modules | Unobserved = NOT_LOOKED
    paths: Paths | Unobserved = NOT_LOOKED
    mounts: Mounts | Unobserved = NOT_LOOKED
    journal: Journal | Unobserved = NOT_LOOKED
    firmware: Firmware | Unobserved = NOT_LOOKED
    fragmentation: tuple[Fragmentation, ...] | Unobserved = NOT_LOOKED

    @property
    def blind(self) -> Refusal | None:
        """A refusal where nothing at all could be observed, and for one reason; None where anything was."""
        sections = [getattr(self, name) for name in type(self).model_fields if name != "host"]
        looked = [section for section in sections if section != NOT_LOOKED]
        reasons = {section.reason if isinstance(section, Unobserved) else None for section in looked}
        reason = reasons.pop() if len(reasons) == 1 else None
        if reason is None:
            return None
        return Refusal(code="unobserved", subject=self.host, expected="an observation", found=reason)

    def unobserved(self, *sections: str) -> Refusal | None:
        """A refusal for the first of these sections that could not be observed; None when all were."""
        for section in sections:
            looked = getattr(self, section)
            if isinstance(looked, Unobserved):
                return Refusal(
                    code="unobserved",
                    subject=f"{self.host} {section.replace('_', ' ')}",
                    expected="an observation",
                    found=looked.reason,
                )
        return None


def known(value: T | Unobserved) -> T:
    """The value of a section that `Observation.unobserved` has passed; a bug of ours where it has not."""
    if isinstance(value, Unobserved):
        raise AssertionError(f"a decision rests on something unobserved: {value.reason}")
    return value
