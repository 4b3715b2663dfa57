"""A host's NVIDIA GPUs, as `nvidia-smi --query-gpu` and `--query-compute-apps` have them in CSV. Pure.

Never its table: on a GB10 `Not Supported` takes a column's place there (cases/122).
"""

import json
import re
from enum import StrEnum
from typing import Annotated, Any

from fleet.record import VOLATILE, Record, Unobserved

GPU_FIELDS = (
    "index", "name", "pci.bus_id", "driver_version", "memory.total", "memory.used", "memory.free",
    "utilization.gpu", "clocks.sm", "temperature.gpu", "power.draw", "pstate",
)  # fmt: skip
"""What is asked of each GPU; every driver since R390 knows all of them (`nvidia-smi --help-query-gpu`)."""
APP_FIELDS = ("pid", "process_name", "used_memory")
"""What is asked of each process that computes."""

_NO_VALUE = re.compile(
    r"\[?(N/A|Not Supported|Unknown Error|GPU requires reset|Insufficient Permissions|Not Found)\]?", re.IGNORECASE
)
"""What nvidia-smi writes in place of a value (cases/120); older drivers write some without their brackets."""
_AMOUNT = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?: (MiB|%|W|MHz))?")
_UNIFIED = re.compile(r"\b(GB10|N1X)\b")
"""GPUs that share the memory of their host. An N1X answers a small total and no [N/A], so the name decides."""
_MIB = 1 << 20


class GpuAnswer(StrEnum):
    """What became of asking nvidia-smi: each of these is another fault, with another cure."""

    SEEN = "seen"
    NO_DEVICES = "no devices"
    """The driver runs and has no GPU: the device is off PCI, or the driver could not start it."""
    NOT_INSTALLED = "not installed"
    """There is no nvidia-smi."""
    NO_DRIVER = "no driver"
    """nvidia-smi is there and the kernel module does not run."""
    MISMATCH = "driver and library differ"
    """The library was upgraded under a module that still runs: a boot cures it."""
    HUNG = "hung"
    """No answer in time: the driver, or the GPU, no longer answers."""
    FAILED = "failed"


class Gpu(Record):
    """One GPU. A figure that nvidia-smi has no value for is Unobserved, and never 0."""

    index: int
    name: str
    pci_address: str
    """As the kernel spells it: `000f:01:00.0`."""
    driver: str
    memory_total_bytes: int | Unobserved
    memory_used_bytes: Annotated[int | Unobserved, VOLATILE]
    memory_free_bytes: Annotated[int | Unobserved, VOLATILE]
    utilization_percent: Annotated[int | Unobserved, VOLATILE]
    sm_clock_mhz: Annotated[int | Unobserved, VOLATILE]
    """While serving under 1000 it is latched low, and only pulling the power cures it (field-notes)."""
    temperature_celsius: Annotated[int | Unobserved, VOLATILE]
    power_watts: Annotated[float | Unobserved, VOLATILE]
    performance_state: Annotated[str | Unobserved, VOLATILE]
    """`P0` is the fastest."""

    @property
    def is_unified(self) -> bool:
        """Does it share the memory of the host? Then /proc/meminfo has the amounts."""
        return _UNIFIED.search(self.name) is not None


class ComputeApp(Record):
    """A process with a context on a GPU. They come and go, so neither is what they hold stable."""

    pid: int
    name: str
    """The program that it calls itself, without its arguments."""
    used_bytes: int | Unobserved
    """What the driver has given it. On unified memory it is the one figure of nvidia-smi about memory."""

    @property
    def comes_and_goes(self) -> bool:
        """It is what a host does, not how it is set up."""
        return True


class GpuState(Record):
    """The GPUs of a host, and who computes on them."""

    answer: GpuAnswer
    module: str | None
    """The version of the kernel module that runs, by /proc/driver/nvidia/version; None where none runs."""
    gpus: tuple[Gpu, ...] | Unobserved
    apps: tuple[ComputeApp, ...] | Unobserved

    def used_by(self, *pids: int) -> int | Unobserved:
        """What these processes hold by the driver's word; a process that is not among the apps holds nothing."""
        if isinstance(self.apps, Unobserved):
            return self.apps
        total = 0
        for app in self.apps:
            if app.pid in pids:
                if isinstance(app.used_bytes, Unobserved):
                    return app.used_bytes
                total += app.used_bytes
        return total


def cell(text: str) -> str | Unobserved:
    """One value of a row, or why there is none."""
    text = text.strip()
    if not text or _NO_VALUE.fullmatch(text):
        return Unobserved(reason=f"nvidia-smi says {text or 'nothing'}")
    return text


def number(text: str) -> float | Unobserved:
    """An amount with or without its unit; raises ValueError for any other text."""
    found = cell(text)
    if isinstance(found, Unobserved):
        return found
    match = _AMOUNT.fullmatch(found)
    if match is None:
        raise ValueError(f"nvidia-smi: expected a number, found {found!r:.60}")
    return float(match["number"])


def whole(text: str, scale: int = 1) -> int | Unobserved:
    """A whole amount, in units of `scale`."""
    found = number(text)
    return found if isinstance(found, Unobserved) else int(found * scale)


def parse_gpus(text: str, fields: tuple[str, ...] = GPU_FIELDS) -> tuple[Gpu, ...]:
    """The rows of `--query-gpu=… --format=csv,noheader`, with or without units; raises ValueError.

    + fields: what was asked, in order; what was not is Unobserved
    """
    return tuple(_gpu(dict(zip(fields, row, strict=True))) for row in _rows(text, len(fields)))


def _gpu(row: dict[str, str]) -> Gpu:
    def said(name: str) -> str:
        return row.get(name, "")

    return Gpu(
        index=int(row["index"]),
        name=row["name"],
        pci_address=pci_address(row["pci.bus_id"]),
        driver=row["driver_version"],
        memory_total_bytes=whole(said("memory.total"), _MIB),
        memory_used_bytes=whole(said("memory.used"), _MIB),
        memory_free_bytes=whole(said("memory.free"), _MIB),
        utilization_percent=whole(said("utilization.gpu")),
        sm_clock_mhz=whole(said("clocks.sm")),
        temperature_celsius=whole(said("temperature.gpu")),
        power_watts=number(said("power.draw")),
        performance_state=cell(said("pstate")),
    )


def pci_address(text: str) -> str:
    """The kernel's spelling of an address that nvidia-smi writes with eight digits of domain, in either case."""
    domain, _, rest = text.lower().partition(":")
    return f"{domain[-4:]:0>4}:{rest}"


def parse_apps(text: str) -> tuple[ComputeApp, ...]:
    """The rows of `--query-compute-apps=pid,process_name,used_memory`, by pid; a name may have commas in it."""
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        pid, _, rest = line.partition(",")
        name, comma, used = rest.rpartition(",")
        if not comma or not pid.strip().isdigit():
            raise ValueError(f"nvidia-smi: expected pid, name and memory of a process, found {line!r:.60}")
        found.append(ComputeApp(pid=int(pid), name=name.strip(), used_bytes=whole(used, _MIB)))
    return tuple(sorted(found, key=lambda app: app.pid))


def _rows(text: str, width: int) -> list[list[str]]:
    rows = [[part.strip() for part in line.split(",")] for line in text.splitlines() if line.strip()]
    for row in rows:
        if len(row) != width:
            raise ValueError(f"nvidia-smi: expected {width} values in a row, found {len(row)}")
    return rows


def parse_gpu_state(text: str) -> GpuState:
    """From the JSON of a look; raises ValueError where an answer cannot be read."""
    found: dict[str, Any] = json.loads(text)
    answer, reason = GpuAnswer(found["answer"]), Unobserved(reason=found["reason"] or "nvidia-smi gave no answer")
    nothing_there = answer is GpuAnswer.NO_DEVICES or (answer is GpuAnswer.NOT_INSTALLED and not found["module"])
    if answer is GpuAnswer.SEEN:
        apps = found["apps"]
        return GpuState(
            answer=answer,
            module=found["module"],
            gpus=parse_gpus(found["gpus"]),
            apps=reason if apps is None else parse_apps(apps),
        )
    empty: tuple[()] | Unobserved = () if nothing_there else reason
    return GpuState(answer=answer, module=found["module"], gpus=empty, apps=empty)
