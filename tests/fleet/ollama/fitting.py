"""A Spark that serves a model whose memory is declared."""

from typing import Any

from fleet.evidence import FitSubject
from fleet.fit.admission import Admission
from fleet.fit.instrument import GIB
from fleet.fit.needs import Needs
from fleet.fit.policy import Policy
from fleet.kernel.running import CommandLine, Kernel, Parameter
from fleet.machine import Machine
from fleet.memory import Memory
from fleet.observation import Observation
from fleet.ollama.deployment import OllamaDeployment, OllamaModelPin
from fleet.ollama.residents_unit import residents_digest
from fleet.ollama.service import ResidentsUnit
from fleet.ollama.subject import subject_of
from tests.fleet.fit.devices import TOTAL
from tests.fleet.ollama import host

NEEDS = Needs(weights_bytes=GIB, kv_bytes_per_token=1 << 17)
"""At 8192 tokens and two slots: 3 GiB in all."""
DESIRED: OllamaDeployment = host.DESIRED.replaced(
    environment={"OLLAMA_KEEP_ALIVE": "-1", "OLLAMA_NUM_PARALLEL": "2"},
    models=(host.PIN.replaced(memory=NEEDS),),
)
POLICY = Policy()
KERNEL = Kernel(
    release="6.17.0-1031-nvidia", page_size_bytes=4096, boot_id="one", uptime_seconds=1.0,
    command_line=CommandLine(parameters=(Parameter(name="quiet"), Parameter(name="kho", value="off"))),
)  # fmt: skip
MACHINE = Machine(hostname="srv5", architecture="aarch64", machine_id_digest=host.B)


def memory(free_gib: float) -> Memory:
    free = int(free_gib * GIB)
    return Memory(
        total_bytes=TOTAL, available_bytes=free, free_bytes=free, swap_total_bytes=0, swap_free_bytes=0
    )  # fmt: skip


def seen(free_gib: float = 100.0, desired: OllamaDeployment = DESIRED, **changes: Any) -> Observation:
    """Its service is as desired; nothing is loaded, unless a test says so."""
    state = host.service(
        drop_ins=(host.own_file(desired),),
        process_environment={"PATH": "/usr/bin", **desired.desired_environment},
        residents=ResidentsUnit(content_digest=residents_digest(desired), enabled=True),
    )
    found = host.seen(state, residents=changes.pop("residents", ()))
    sections = {
        "memory": memory(free_gib),
        "kernel": KERNEL,
        "machine": MACHINE,
        "ollama_program": host.PROGRAM,
    } | changes
    return found.model_copy(update=sections)


def subject(desired: OllamaDeployment = DESIRED, found: Observation | None = None) -> FitSubject:
    made = subject_of(desired, found or seen(desired=desired))
    assert isinstance(made, FitSubject), made
    return made


def evidenced(*subjects: FitSubject) -> Admission:
    return Admission(evidence={each.digest: host.A for each in subjects})


def two() -> OllamaDeployment:
    """It serves another model as well."""
    pin = OllamaModelPin(name="other:1b", manifest_digest=host.B, size_bytes=10, memory=NEEDS)
    return DESIRED.replaced(
        models=(*DESIRED.models, pin), residents=(host.STAY, host.STAY.replaced(model="other:1b"))
    )  # fmt: skip
