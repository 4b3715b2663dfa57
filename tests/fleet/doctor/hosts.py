"""A Spark that doctor finds nothing on, and what tests change of it."""

from typing import Any

from fleet.doctor.check import Host
from fleet.generation import Generation
from fleet.gpu import Gpu, GpuAnswer, GpuState
from fleet.hardware import INTERFACES, TWINS
from fleet.host.clock import Clock, Logins
from fleet.host.firmware import Firmware
from fleet.host.fstab import FstabEntry
from fleet.host.journal import SENTINELS, Journal, Sentinel
from fleet.host.kernel_values import HugePages
from fleet.host.mounts import Mount, Mounts, Space
from fleet.host.units import Units, UnitState
from fleet.invocation import Running
from fleet.kernel.boot import Boot, SecureBoot
from fleet.kernel.defaults import GrubDefaults
from fleet.kernel.dkms import Dkms
from fleet.kernel.files import InstalledKernels, KernelFiles
from fleet.kernel.grub_cfg import parse_grub_cfg
from fleet.kernel.grubenv import GrubEnvironment
from fleet.kernel.kho import Kho
from fleet.kernel.packages import Package, Packages
from fleet.kernel.running import CommandLine, Kernel, parse_command_line
from fleet.kernel.upgrades import Upgrades
from fleet.machine import Machine
from fleet.memory import Memory
from fleet.observation import Observation, known
from fleet.ollama.servers import OllamaServer
from fleet.port_settings import PortSettings
from fleet.processes import EngineProcess, EngineProcesses
from fleet.record import Unobserved
from fleet.roce import RoceDevice
from fleet.roster import Roster
from fleet.target import Scope
from tests.deploys.site import SERVED, VALUES
from tests.fleet import observed
from tests.fleet.doctor.policies import FALLBACK, KERNEL, PINNED
from tests.fleet.kernel.menus import grub_cfg, selector
from tests.fleet.ollama import host as ollama_host
from tests.fleet.test_ledger import GIB, NOTHING, memory
from tests.fleet.test_processes import process

ROSTER = Roster.read(VALUES, "test")
DESIRED = ROSTER.desired_for("a")
SERVE = process(
    7, runtime="ollama", memory=memory(GIB), unit="ollama.service", comm="ollama",
    start_ticks=ollama_host.PROCESS.start_ticks,
)  # fmt: skip
SILENT = Unobserved(reason="no answer in 5 s")


def settings(rp_filter: int = 2, arp_ignore: int = 1) -> PortSettings:
    own = {"rp_filter": rp_filter, "arp_ignore": arp_ignore, "arp_filter": 0}
    nothing = {"rp_filter": 0, "arp_ignore": 0, "arp_filter": 0}
    return PortSettings(values={"all": nothing} | dict.fromkeys(INTERFACES, own))


def gpu(**changes: Any) -> GpuState:
    none = Unobserved(reason="nvidia-smi says [N/A]")
    figures: dict[str, Any] = dict.fromkeys(
        ("memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "temperature_celsius", "power_watts"), none
    )
    figures |= {"utilization_percent": 90, "sm_clock_mhz": 2400, "performance_state": "P0"} | changes
    one = Gpu(index=0, name="NVIDIA GB10", pci_address="000f:01:00.0", driver="580", **figures)
    return GpuState(answer=GpuAnswer.SEEN, module="580", gpus=(one,), apps=())


def devices(rate: float = 200.0, mtu: int = 4096, names: dict[str, str] | None = None) -> tuple[RoceDevice, ...]:
    return tuple(
        RoceDevice(
            device=(names or {}).get(twin.interface, twin.rdma_device), port=1, state=4, state_name="ACTIVE",
            rate_gbps=rate, active_mtu=mtu, link_layer="Ethernet", netdevs=(twin.interface,), pci=twin.pci_address,
        )
        for twin in TWINS
    )  # fmt: skip


IMAGE = Package(name=f"linux-image-{PINNED}", version="7.0.0-1019.19~24.04.2", want="hold", status="installed")


def files(release: str, **changes: Any) -> KernelFiles:
    """A kernel with all that a boot needs, and a signed driver."""
    there = {"has_image": True, "initrd_bytes": 70_000_000, "has_modules": True, "nvidia_version": "580.126.09",
             "nvidia_signer": "Canonical Ltd. Kernel Module Signing"}  # fmt: skip
    return KernelFiles(**{"release": release, **there, **changes})


def boot(saved: str = PINNED, once: str | None = None, default: str = "saved") -> Boot:
    """GRUB with both kernels; its default is the saved entry, or what a new menu would have."""
    values = {"saved_entry": selector(saved)} | ({} if once is None else {"next_entry": once})
    return Boot(
        menu=parse_grub_cfg(grub_cfg(PINNED, FALLBACK)), environment=GrubEnvironment(values=values),
        defaults=GrubDefaults(files=(), texts={"GRUB_DEFAULT": default}, lines={}),
    )  # fmt: skip


def journal(**counts: Sentinel) -> Journal:
    return Journal(sentinels=dict.fromkeys(SENTINELS, Sentinel(count=0)) | counts, from_start=True)


def mounts(*lines: FstabEntry, **changes: Any) -> Mounts:
    """A disk with room, and these lines of fstab."""
    space = Space(target="/", size_bytes=4000 * GIB, available_bytes=1200 * GIB, inodes=1000, inodes_available=900)
    found = {"mounts": (Mount(target="/", source="/dev/nvme0n1p2", type="ext4"),), "fstab": lines, "spaces": (space,)}
    return Mounts(**{**found, **changes})


def unit(**changes: Any) -> UnitState:
    known = {"name": "ssh.service", "id": "ssh.service", "load_state": "loaded", "file_state": "enabled",
             "active_state": "active", "oom_score": -900}  # fmt: skip
    return UnitState(**{**known, **changes})


def processes(*others: EngineProcess) -> EngineProcesses:
    return EngineProcesses(processes=(SERVE, *others), others_anonymous_bytes=86 * GIB)


def well() -> Observation:
    """As desired in everything, stamped, and with a GPU at work."""
    served = ollama_host.seen()
    stamp = Generation(
        plan=ollama_host.A, desired=DESIRED.digest, scope=Scope.SERVE, at=ollama_host.NOON,
        invocations=(ollama_host.PROCESS,),
    )  # fmt: skip
    server = OllamaServer(endpoint="http://127.0.0.1:11434", pid=7, version="0.13.0",
                          residents=known(served.ollama_residency).residents)  # fmt: skip
    sections: dict[str, Any] = {**NOTHING, **{each: getattr(served, each) for each in SERVED}} | {
        "generation": known(served.generation).replaced(generation=stamp),
        "processes": processes(),
        "ollama_servers": (server,),
        "port_settings": settings(),
        "gpu": gpu(),
        "roce_devices": devices(),
        "packages": Packages(packages=(IMAGE,)),
        "kernels": InstalledKernels(kernels=(files(PINNED), files(FALLBACK))),
        "boot": boot(),
        "kho": Kho(is_built_in=True, is_default=True, crash_bytes=0),
        "secure_boot": SecureBoot(state="on", lockdown="integrity"),
        "dkms": Dkms(is_there=True),
        "upgrades": Upgrades(timers={}, is_installed=False),
        "clock": Clock(max_error_seconds=0.02),
        "firmware": Firmware(),
        "huge_pages": HugePages(page_size_bytes=4096),
        "journal": journal(),
        "logins": Logins(removes_ipc=True),
        "mounts": mounts(),
        "units": Units(units={"ssh.service": unit()}),
        "machine": Machine(hostname="a", architecture="aarch64"),
        "kernel": Kernel(release="6.17.0-1031-nvidia", page_size_bytes=4096, boot_id="one", uptime_seconds=60,
                         command_line=CommandLine()),
    }  # fmt: skip
    return observed.as_desired(DESIRED.rail_ends, "a").replaced(**sections)


def host(**sections: Any) -> Host:
    """That Spark, but for these sections."""
    return Host(DESIRED, well().replaced(**sections))


def idle(**sections: Any) -> Host:
    """The same Spark where the roster has nothing served."""
    return Host(DESIRED.replaced(ollama=None), well().replaced(**sections))


def pinned(**sections: Any) -> Host:
    """The same Spark with a kernel policy, and the pinned kernel at work with pages of 64 KiB."""
    kernel = Kernel(release=PINNED, page_size_bytes=65536, boot_id="one", uptime_seconds=60,
                    command_line=parse_command_line("quiet kho=off"))  # fmt: skip
    return Host(DESIRED.replaced(kernel=KERNEL), well().replaced(**{"kernel": kernel} | sections))


def running(**changes: Any) -> Running:
    return Running(**({"invocation": ollama_host.PROCESS, "models": ("qwen3:0.6b",)} | changes))


def cma() -> Memory:
    found: Memory = NOTHING["memory"]
    return found.replaced(cma_total_bytes=0, cma_free_bytes=9 * GIB)
