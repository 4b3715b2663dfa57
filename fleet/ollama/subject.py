"""Exactly what Ollama serves on a Spark, and what was measured of it: the subject of evidence. Pure."""

from datetime import datetime

from fleet.candidate.identity import OllamaManifest, Runtime, RuntimeIdentity
from fleet.evidence import FitEvidence, FitSubject, HostSubject, Measured, Served
from fleet.fit.demand import WHOLE
from fleet.fit.instrument import Instrument
from fleet.kernel.running import Kernel
from fleet.observation import Observation, known
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.observed import Residency, ServiceState
from fleet.ollama.settings import SETTINGS
from fleet.record import Record, Unobserved
from fleet.refusal import Refusal

NO_MEMORY = frozenset(
    {
        "OLLAMA_DEBUG",
        "OLLAMA_DEBUG_LOG_REQUESTS",
        "OLLAMA_HOST",
        "OLLAMA_KEEP_ALIVE",
        "OLLAMA_LOAD_TIMEOUT",
        "OLLAMA_MAX_QUEUE",
        "OLLAMA_MAX_TRANSFER_STREAMS",
        "OLLAMA_MODELS",
        "OLLAMA_NOHISTORY",
        "OLLAMA_NOPRUNE",
        "OLLAMA_NO_CLOUD",
        "OLLAMA_ORIGINS",
        "OLLAMA_REMOTES",
        "OLLAMA_TMPDIR",
    }
)
"""Settings about addresses, files, times and logs (envconfig, v0.33). Every other one is part of what fitted."""
ALSO = frozenset(
    {"CUDA_VISIBLE_DEVICES", "GGML_CUDA_ENABLE_UNIFIED_MEMORY", "LD_LIBRARY_PATH", "NVIDIA_VISIBLE_DEVICES"}
)
"""Variables that are no settings of Ollama's and choose what computes."""
SETS_APART = ("cma", "crashkernel", "default_hugepagesz", "hugepages", "hugepagesz", "kho",
              "kho_scratch", "mem", "memmap", "movablecore", "kernelcore")  # fmt: skip
"""Words of the kernel's command line that set memory apart (Documentation/admin-guide/kernel-parameters, 6.17)."""


def subject_of(desired: OllamaDeployment, seen: Observation) -> FitSubject | Refusal:
    """Exactly what fits or does not, or what of it cannot be told."""
    blind = seen.unobserved("machine", "kernel", "ollama_service", "invocation")
    if blind is not None:
        return blind
    build = _build(desired, seen)
    if isinstance(build, Refusal):
        return build
    digests = {pin.name: pin.manifest_digest for pin in desired.models}
    return FitSubject(
        hosts=(_host(seen, known(seen.kernel)),),
        runtime=RuntimeIdentity(
            runtime=Runtime.OLLAMA, form="executable", content_digest=build
        ),
        served=tuple(
            Served(
                artifact=OllamaManifest(manifest_digest=digests[each.model]), context=each.context, slots=each.slots
            )
            for each in desired.demands
        ),
        split=WHOLE,
        settings=_settings(desired, known(seen.ollama_service)),
    )  # fmt: skip


def _build(desired: OllamaDeployment, seen: Observation) -> str | Refusal:
    """The digest of the executable that will serve: the declared build's where we install it, else what runs."""
    subject, expected = f"{seen.host} memory", "ollama to run"
    if desired.program is not None and desired.program.is_installed:
        if blind := seen.unobserved("ollama_program"):
            return blind
        tree = known(seen.ollama_program).tree(desired.program)
        if tree is not None:
            return tree.installed_digest
        found = f"{desired.program.folder}, which is still to be unpacked"
        return Refusal(code="fit_not_evidenced", subject=subject, expected=expected, found=found)
    process = known(seen.invocation).invocation
    if process is None:
        found = "no process whose build could be told"
        return Refusal(code="fit_not_evidenced", subject=subject, expected=expected, found=found)
    return process.executable_digest


def _host(seen: Observation, kernel: Kernel) -> HostSubject:
    words = (each for each in kernel.command_line.parameters if each.name.replace("-", "_") in SETS_APART)
    return HostSubject(
        name=seen.host,
        machine_id_digest=known(seen.machine).machine_id_digest,
        release=kernel.release,
        page_size_bytes=kernel.page_size_bytes,
        set_apart=tuple(sorted(each.name if each.value is None else f"{each.name}={each.value}" for each in words)),
    )


def _settings(desired: OllamaDeployment, unit: ServiceState) -> dict[str, str]:
    """What its process has once the service is as desired: ours, and of what others give it what may matter."""
    expected = unit.expected_environment(desired.desired_environment)
    return {name: value for name, value in sorted(expected.items()) if name in (SETTINGS | ALSO) - NO_MEMORY}


class Occasion(Record):
    """When something was measured, by whom, and in which run."""

    deployment: str
    at: datetime
    by: str
    receipt: str | None = None


def fit_evidence(
    desired: OllamaDeployment, before: Observation | None, after: Observation, occasion: Occasion
) -> FitEvidence | Refusal:
    """The evidence that a deployment has fitted, where it is loaded as declared and well.

    + before: the Spark before it was loaded; None where nobody has looked then
    """
    if not desired.demands:
        return not_declared(after.host)
    subject = subject_of(desired, after)
    if blind := after.unobserved("memory", "ollama_residency"):
        return blind
    if isinstance(subject, Refusal):
        return subject
    return FitEvidence(
        deployment=occasion.deployment,
        subject=subject,
        measured=_measured(before, after),
        measured_at=occasion.at,
        measured_by=occasion.by,
        receipt=occasion.receipt,
    )


def not_declared(host: str) -> Refusal:
    """The refusal to say what fits where nobody said what is needed."""
    return Refusal(
        code="memory_not_declared",
        subject=f"{host} memory",
        expected="what each resident needs, as `memory` of its model in the roster",
        found="none declared",
    )


def _measured(before: Observation | None, after: Observation) -> tuple[Measured, ...]:
    """By each instrument that was read afterwards."""
    return tuple(
        Measured(
            host=after.host, instrument=each, before_bytes=_said(each, before), after_bytes=_said(each, after) or 0
        )
        for each in (Instrument.MEM_AVAILABLE, Instrument.ENGINE)
    )


def _said(instrument: Instrument, seen: Observation | None) -> int | None:
    """What an instrument said; None where it was not read."""
    section = None if seen is None else seen.memory if instrument is Instrument.MEM_AVAILABLE else seen.ollama_residency
    if section is None or isinstance(section, Unobserved):
        return None
    if isinstance(section, Residency):
        return sum(each.size_vram_bytes for each in section.residents)
    return section.available_bytes
