"""Which looks an observation of the model is made of, and the observation made from them."""

from typing import Any

from pyinfra.api import Host

from facts.bundle import Wanted
from facts.completion import Completions
from facts.containers import Containers
from facts.generation import GenerationStamp
from facts.gpu import GpuState
from facts.guard import Guard
from facts.invocation import OllamaInvocation
from facts.kernel import Kernel
from facts.ledger import OllamaServers
from facts.llamacpp import LlamaCpp
from facts.lock import HostLock
from facts.machine import Machine
from facts.management import ManagementIp4
from facts.memory import Memory
from facts.needs_host import policy_looks
from facts.needs_kernel import kernel_looks
from facts.netplan import NetplanFiles
from facts.network import Connections, Links
from facts.observe import observe
from facts.ollama import OllamaModels, OllamaProgram, OllamaRegistry, OllamaResidency, OllamaService
from facts.pci import PciFunctions
from facts.processes import EngineProcesses
from facts.roce import RdmaUse, RoceDevices, RoceGids
from facts.session import SshSession
from facts.transit import Firewall, Transit
from facts.vllm import VllmServers
from fleet.desired import DesiredSpark
from fleet.management import Management
from fleet.observation import Observation
from fleet.ollama.deployment import OllamaDeployment
from fleet.target import Scope

Looks = dict[str, Wanted]
"""A look for each section of an observation."""


def host_looks() -> Looks:
    """What every Spark is asked."""
    return memory_looks() | {"guard": Wanted(Guard), "lock": Wanted(HostLock)} | stamp_looks()


def document_looks() -> Looks:
    """What a decision about a rail's document rests on; whether SSH comes in over it decides how it is changed."""
    return {
        "netplan": Wanted(NetplanFiles),
        "links": Wanted(Links),
        "connections": Wanted(Connections),
        "session": Wanted(SshSession),
        "pci": Wanted(PciFunctions),
    }


def active_looks() -> Looks:
    """What a decision about a rail's activity rests on."""
    return {
        "links": Wanted(Links),
        "connections": Wanted(Connections),
        "roce_devices": Wanted(RoceDevices),
        "roce_gids": Wanted(RoceGids),
        "session": Wanted(SshSession),
        "rdma_use": Wanted(RdmaUse),
        "pci": Wanted(PciFunctions),
    }


def transit_looks(desired: DesiredSpark) -> Looks:
    """What a decision about transit rests on. Every Spark is asked for what was left over, few for their firewall."""
    looks: Looks = {"transit": Wanted(Transit)}
    if desired.transit is not None:
        looks |= {"firewall": Wanted(Firewall), "links": Wanted(Links), "pci": Wanted(PciFunctions)}
    return looks


def guarded_looks() -> Looks:
    """What a decision about a rail that is changed under guard rests on."""
    return document_looks() | active_looks() | {"guard": Wanted(Guard)}


def management_looks(management: Management) -> Looks:
    """What a decision about the management connection rests on."""
    if not management.is_ours:
        return {"netplan": Wanted(NetplanFiles), "links": Wanted(Links)}
    applied = Wanted(ManagementIp4, (("interface", management.interface),))
    return document_looks() | {"guard": Wanted(Guard), "management": applied}


def stamp_looks(desired: DesiredSpark | None = None) -> Looks:
    """What a stamp rests on, with what serves on the Spark where that is given."""
    looks: Looks = {"generation": Wanted(GenerationStamp)}
    if desired is not None and desired.ollama is not None:
        looks["invocation"] = Wanted(OllamaInvocation, (("endpoint", desired.ollama.endpoint.url),))
    return looks


def memory_looks() -> Looks:
    """What a decision about memory rests on: what is free, and of which machine and kernel evidence must be."""
    return {"memory": Wanted(Memory), "kernel": Wanted(Kernel), "machine": Wanted(Machine)}


def ollama_looks(desired: OllamaDeployment) -> Looks:
    """What a decision about Ollama rests on: the service, and its API where clients reach it."""
    endpoint = (("endpoint", desired.endpoint.url),)
    looks: Looks = {} if not desired.demands else memory_looks()
    installs = (("installs", True),) if desired.program is not None and desired.program.is_installed else ()
    asks_build = desired.program is not None or desired.demands
    looks |= {"ollama_program": Wanted(OllamaProgram, endpoint)} if asks_build else {}
    store = (*endpoint, ("directory", desired.store), *installs)
    pins = tuple((pin.name, pin.manifest_digest) for pin in desired.models if pin.pull)
    looks |= {"ollama_registry": Wanted(OllamaRegistry, (*store, ("pins", pins)))} if pins else {}
    return looks | {
        "ollama_service": Wanted(OllamaService),
        "ollama_models": Wanted(OllamaModels, store),
        "ollama_residency": Wanted(OllamaResidency, (*endpoint, *installs)),
        "invocation": Wanted(OllamaInvocation, endpoint),
        "generation": Wanted(GenerationStamp),
    }


def fit_looks(desired: OllamaDeployment) -> Looks:
    """What evidence of a fit rests on: what exactly is served, and every instrument that says what it holds."""
    return ollama_looks(desired) | {"processes": Wanted(EngineProcesses), "gpu": Wanted(GpuState)}


def retire_looks(desired: DesiredSpark) -> Looks:
    """What a decision about a Spark rests on that serves nothing: whether anything of a deployment is left there.

    What has moved away may be copied from here.
    """
    looks: Looks = {"ollama_service": Wanted(OllamaService)}
    if desired.retirement is not None:
        looks |= {"invocation": Wanted(OllamaInvocation), "generation": Wanted(GenerationStamp)}
    if desired.is_source:
        looks["ollama_models"] = Wanted(OllamaModels)
    return looks


def offer_looks(desired: DesiredSpark) -> Looks:
    """What an offer of a model rests on: the store that has it."""
    looks = retire_looks(desired) if desired.ollama is None else ollama_looks(desired.ollama)
    return {"ollama_models": looks["ollama_models"]}


def ledger_looks(desired: DesiredSpark) -> Looks:
    """What the ledger of memory rests on: who holds it by every instrument, and what a run of ours left running."""
    looks: Looks = {
        "memory": Wanted(Memory),
        "processes": Wanted(EngineProcesses),
        "gpu": Wanted(GpuState),
        "containers": Wanted(Containers),
        "ollama_servers": Wanted(OllamaServers),
        "vllm": Wanted(VllmServers),
        "llamacpp": Wanted(LlamaCpp),
        "invocation": Wanted(OllamaInvocation),
    }
    return looks | stamp_looks(desired)


def health_looks(desired: DesiredSpark, scope: Scope = Scope.SERVE) -> Looks:
    """What is looked at when a run is over: all that it decided on, and whether what is served answers.

    It costs a GPU a token for each resident, so no plan and no dry run looks at that.
    """
    looks = looks_for(desired, scope)
    if desired.ollama is not None and scope.includes(Scope.SERVE):
        residents = tuple((pin.model, pin.context) for pin in desired.ollama.residents)
        arguments = (("residents", residents), ("endpoint", desired.ollama.endpoint.url))
        looks |= {"completions": Wanted(Completions, arguments)}
    return looks


def looks_for(desired: DesiredSpark, scope: Scope = Scope.SERVE) -> Looks:
    """Everything that the decisions of a scope need to know of a Spark."""
    if scope is Scope.HOST:
        return host_looks() | policy_looks(desired)
    if scope is Scope.KERNEL:
        return host_looks() | kernel_looks(desired)
    looks = host_looks() | document_looks() | transit_looks(desired) | management_looks(desired.spark.management)
    if desired.rail_ends:
        looks |= active_looks()
    if scope.includes(Scope.SERVE):
        looks |= retire_looks(desired) if desired.ollama is None else ollama_looks(desired.ollama)
    return looks


def observation(host: Host, name: str, looks: Looks) -> Observation:
    """One host, seen through these looks; sections that were not looked at say so."""
    seen = observe(host, *looks.values())
    sections: dict[str, Any] = {section: seen[look] for section, look in looks.items()}
    return Observation(host=name, **sections)
