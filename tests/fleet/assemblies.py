"""A site with four Sparks on a switch, three of which serve a model together, and the fourth of which could join."""

from collections.abc import Mapping
from typing import Any

from fleet.assembly_fit import AssemblyFit, assembly_fit
from fleet.fit.instrument import GIB, Instrument
from fleet.fit.readings import Readings
from fleet.kernel.running import CommandLine, Kernel, Parameter
from fleet.machine import Machine
from fleet.observation import Observation
from fleet.roster import Roster
from tests.fleet.fit.devices import TOTAL
from tests.fleet.ollama import fitting

NAMES = ("s1", "s2", "s3", "s4")
MEMORY: dict[str, Any] = {
    "weights_bytes": 120 * GIB, "kv_bytes_per_token": 1 << 20, "attention_heads": 12, "kv_heads": 12, "layers": 48,
}  # fmt: skip
"""On two ranks 60 GiB of weights each, and half a MiB for each token."""
BIG: dict[str, Any] = {
    "engine": "vllm", "cluster": "two", "model": "Qwen/Qwen3-14B", "memory": MEMORY, "context": 16384, "slots": 2,
    "transport": "rdma",
}  # fmt: skip
"""With 16 GiB of KV cache 76 GiB on each rank."""
DRAFT: dict[str, Any] = {"name": "deepseek-ai/dspark_qwen3_14b_block7", "tokens": 7}
DRAFT_NEEDS: dict[str, Any] = {"attachment": "separate", "weights_bytes": 2 * GIB, "kv_bytes_per_token": 1 << 10}


def values(**changes: Any) -> dict[str, Any]:
    """The roster, with its assembly otherwise; a key that shall be None is left out."""
    big = {key: value for key, value in (BIG | changes).items() if value is not None}
    return {
        "sparks": {name: {"enrolled": name != "s4"} for name in NAMES},
        "fabrics": {
            "switch": {
                "shape": "switch", "cables": [f"{name}.f0 - switch1" for name in NAMES], "pool": "10.20.0.0/22",
                "mtu": 9000,
            },
        },
        "clusters": {
            "two": {"fabric": "switch", "sparks": ["s1", "s2"]},
            "three": {"fabric": "switch", "sparks": ["s1", "s2", "s3"]},
            "last": {"fabric": "switch", "sparks": ["s3", "s4"]},
            "one": {"fabric": "switch", "sparks": ["s1"]},
        },
        "assemblies": {"big": big},
    }  # fmt: skip


def needs(**changes: Any) -> dict[str, Any]:
    """Its memory, otherwise."""
    return MEMORY | changes


def seen(name: str, free_gib: float, release: str = "6.17.0-1031-nvidia", *words: str) -> Observation:
    """A Spark with so much free, that runs a kernel with these words on its command line."""
    parameters = tuple(Parameter(name=word.partition("=")[0], value=word.partition("=")[2] or None) for word in words)
    kernel = Kernel(
        release=release, page_size_bytes=4096, boot_id="one", uptime_seconds=1.0,
        command_line=CommandLine(parameters=parameters),
    )  # fmt: skip
    return Observation(
        host=name, memory=fitting.memory(free_gib), kernel=kernel,
        machine=Machine(hostname=name, architecture="aarch64"),
    )  # fmt: skip


def fit(free: Mapping[str, float | Observation], readings: Readings | None = None, **changes: Any) -> AssemblyFit:
    """The fit of the assembly on Sparks with so many GiB free, or that were seen like that."""
    roster = Roster.read(values(**changes), "site")
    assembly = roster.assemblies["big"]
    looked = {
        name: (roster.desired_for(name), each if isinstance(each, Observation) else seen(name, each))
        for name, each in free.items()
    }
    return assembly_fit("big", assembly, roster.clusters[assembly.cluster], looked, roster.memory, readings)


def readings(**free_gib: float) -> Readings:
    """What a probe said is free on each Spark."""
    return told(Instrument.PROBE, **free_gib)


def told(instrument: Instrument, **free_gib: float) -> Readings:
    """What an instrument said is free on each Spark."""
    return Readings.model_validate_json(text(instrument, **free_gib))


def text(instrument: Instrument, **free_gib: float) -> str:
    """As an operator writes it down."""
    lines = ",".join(
        f'{{"host":"{name}","instrument":"{instrument.value}","total_bytes":{TOTAL},"free_bytes":{int(each * GIB)},'
        '"taken_at":"2026-11-30T12:00:00Z"}'
        for name, each in free_gib.items()
    )
    return f'{{"readings":[{lines}]}}'
