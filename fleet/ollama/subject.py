"""Exactly what Ollama serves on a Spark: the subject of evidence. Pure."""

from fleet.candidate.identity import OllamaManifest, Runtime, RuntimeIdentity
from fleet.evidence import FitSubject, HostSubject, Served
from fleet.fit.demand import WHOLE
from fleet.kernel.running import Kernel
from fleet.observation import Observation, known
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.observed import ServiceState
from fleet.ollama.settings import SETTINGS
from fleet.record import Unobserved
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
        runtime=build,
        served=tuple(
            Served(
                artifact=OllamaManifest(manifest_digest=digests[each.model]), context=each.context, slots=each.slots
            )
            for each in desired.demands
        ),
        split=WHOLE,
        settings=_settings(desired, known(seen.ollama_service)),
    )  # fmt: skip


def _build(desired: OllamaDeployment, seen: Observation) -> RuntimeIdentity | Refusal:
    """What will serve: the declared build where we install it, else what runs, with the version that it tells."""
    if blind := seen.unobserved("ollama_program"):
        return blind
    state, process = known(seen.ollama_program), known(seen.invocation).invocation
    if desired.program is not None and desired.program.is_installed:
        tree = state.tree(desired.program)
        if tree is None:
            return _no_build(seen, f"{desired.program.folder}, which is still to be unpacked")
        return _identity(tree.installed_digest, desired.program.version)
    if process is None or state.version is None:
        return _no_build(seen, "no process whose build could be told")
    if isinstance(state.version, Unobserved):
        return Refusal(
            code="unobserved", subject=f"{seen.host} ollama version", expected="an observation",
            found=state.version.reason,
        )  # fmt: skip
    return _identity(process.executable_digest, state.version)


def _identity(content_digest: str, version: str) -> RuntimeIdentity:
    """The executable alone says too little: behind a script it is an interpreter, and libraries are beside it."""
    return RuntimeIdentity(
        runtime=Runtime.OLLAMA, form="executable", content_digest=content_digest, version=version
    )  # fmt: skip


def _no_build(seen: Observation, found: str) -> Refusal:
    return Refusal(code="fit_not_evidenced", subject=f"{seen.host} memory", expected="ollama to run", found=found)


def not_declared(host: str, desired: OllamaDeployment | None) -> Refusal:
    """The refusal to say what fits where nobody said what is needed.

    + desired: None for a Spark that serves nothing
    """
    return Refusal(
        code="memory_not_declared",
        subject=f"{host} memory",
        expected="what each resident needs, as `memory` of its model in the roster",
        found="no deployment on it" if desired is None else "none declared",
    )


def _host(seen: Observation, kernel: Kernel) -> HostSubject:
    words = (each for each in kernel.command_line.parameters if each.name.replace("-", "_") in SETS_APART)
    return HostSubject(
        name=seen.host,
        machine_id_digest=known(seen.machine).machine_id_digest,
        release=kernel.release,
        page_size_bytes=kernel.page_size_bytes,
        set_apart=tuple(sorted(map(str, words))),
    )


def _settings(desired: OllamaDeployment, unit: ServiceState) -> dict[str, str]:
    """What its process has once the service is as desired: ours, and of what others give it what may matter."""
    expected = unit.expected_environment(desired.desired_environment)
    return {name: value for name, value in sorted(expected.items()) if name in (SETTINGS | ALSO) - NO_MEMORY}
