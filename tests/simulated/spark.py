"""One simulated Spark: its state as a look would find it, what a step makes of it, and what a boot leaves."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fleet.containers import Containers
from fleet.desired import DesiredSpark
from fleet.generation import Stamp, origin
from fleet.generation_due import WriteStamp
from fleet.gpu import GpuAnswer, GpuState
from fleet.hardware import INTERFACES
from fleet.invocation import Invocation, Running
from fleet.kernel.running import CommandLine, Kernel
from fleet.llamacpp import LlamaCpp
from fleet.machine import Machine
from fleet.memory import Memory
from fleet.observation import Observation, known
from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.disrupt import OURS
from fleet.ollama.observed import ModelStore, Residency, Resident
from fleet.ollama.service import ResidentsUnit, ServiceState
from fleet.ollama.steps import (
    ConfigureService,
    CopyModel,
    EvictResident,
    LoadResident,
    OfferModel,
    PullModel,
    RetireOllama,
)
from fleet.port_settings import ALL, PortSettings
from fleet.processes import EngineProcesses
from fleet.rail_active import Activate
from fleet.rail_document import WriteDocument, document_for
from fleet.step import Step
from tests.fleet import observed
from tests.fleet.ollama import host as ollama_host

CLIENT, SERVER, PORT = "10.0.0.2", "10.0.0.11", 22


def boot_id(number: int) -> str:
    return f"b007{number:04d}-0000-4000-8000-000000000000"


@dataclass
class SimulatedSpark:
    """A host. `seen` is what looks find; the lock and the connections are kept beside it."""

    desired: DesiredSpark
    """What its documents and units mean once they come up."""
    seen: Observation
    boots: int = 1
    processes: int = 1000
    """The number of the last process that was started."""
    sessions: set[int] = field(default_factory=set)
    """The processes of sshd that carry a connection, by number."""
    lock: str | None = None
    """The text of the lock."""
    unfinished: tuple[Observation, Step] | None = None
    """A step that goes on although nobody waits for it any more, and the host before it."""
    asked_for: tuple[Resident, ...] = ()
    """What clients ask of a process of Ollama as soon as it takes requests, as it is then loaded."""
    is_up: bool = True
    has_sudo: bool = True
    has_room: bool = True
    answers: bool = True
    """Does what it has loaded say a word when it is asked?"""

    @classmethod
    def as_it_comes(cls, desired: DesiredSpark) -> "SimulatedSpark":
        """Cables in, Ollama installed and running with its own settings, nothing of ours."""
        blank = observed.blank(desired.name)
        made = cls(desired, blank)
        sections: dict[str, Any] = {
            "kernel": Kernel(release="6.17.0-1031-nvidia", page_size_bytes=4096, boot_id=boot_id(1), uptime_seconds=60,
                             command_line=CommandLine(parameters=())),
            "machine": Machine(hostname=desired.name, architecture="aarch64"),
            "memory": memory(),
            "generation": Stamp(generation=None),
            "processes": EngineProcesses(processes=(), others_anonymous_bytes=0),
            "gpu": GpuState(answer=GpuAnswer.SEEN, module="580", gpus=(), apps=()),
            "containers": Containers(),
            "ollama_servers": (),
            "vllm": (),
            "llamacpp": LlamaCpp(),
            "invocation": Running(invocation=None),
            "ollama_program": ollama_host.PROGRAM,
            "port_settings": PortSettings(
                values={port: {"rp_filter": 1, "arp_ignore": 0, "arp_filter": 0} for port in (ALL, *INTERFACES)}
            ),
        }  # fmt: skip
        if desired.ollama is not None:
            unit = ollama_host.service(drop_ins=(), residents=ResidentsUnit(), process_environment={"PATH": "/usr/bin"})
            sections |= {
                "ollama_service": unit,
                "ollama_models": ModelStore(source="api", models=()),
                "ollama_residency": Residency(source="api"),
                "invocation": Running(invocation=made.new_process()),
            }
        made.change(**sections)
        return made

    def change(self, **sections: Any) -> None:
        """Other sections of what looks find."""
        self.seen = self.seen.replaced(**sections)

    def new_process(self) -> Invocation:
        """Ollama, started now."""
        self.processes += 1
        return ollama_host.PROCESS.replaced(unit=UNIT, pid=self.processes, start_ticks=self.processes,
                                            boot_id=boot_id(self.boots))  # fmt: skip

    def finish(self) -> None:
        """What goes on without a run comes to its end."""
        if self.unfinished is not None:
            self.seen, step = self.unfinished
            self.unfinished = None
            for _ in self.stages(step):
                pass

    def fails(self, step: Step) -> str | None:
        """Why a step cannot be carried out, by its own script; None where it can."""
        return None

    def stages(self, step: Step) -> Iterator[None]:
        """Carry a step out; each state that its script leaves behind it on its way is one stop."""
        match step:
            case ConfigureService():
                yield from self._configure(step)
            case Activate(interface=interface):
                link = next(each for each in self.desired.rail_ends if each.interface == interface)
                self.seen = observed.with_link(self.seen, observed.link(interface, link.mtu, [str(link.address)]))
                yield
                self.seen = observed.applied(step, self.desired.rail_ends, self.seen)
            case RetireOllama():
                if step.files:
                    self.seen = ollama_host.retired(step.replaced(restart=False), self.seen)
                    self._unit(need_daemon_reload=False)
                    yield
                if step.restart:
                    self.seen = ollama_host.retired(step.replaced(files=False), self.seen)
                    self._runs(self.new_process())
            case OfferModel():
                pass
            case PullModel() | CopyModel() | LoadResident() | EvictResident():
                self._keep_process(ollama_host.applied(step, self.ollama, self.seen))
            case WriteStamp(generation=generation):
                self.change(generation=Stamp(generation=generation, begun=known(self.seen.generation).begun))
                yield
                self.change(generation=Stamp(generation=generation))
            case _:
                self.seen = observed.applied(step, self.desired.rail_ends, self.seen)
        yield

    @property
    def ollama(self) -> OllamaDeployment:
        """What it serves; only asked for where it serves something."""
        assert self.desired.ollama is not None
        return self.desired.ollama

    def _configure(self, step: ConfigureService) -> Iterator[None]:
        """In the order of `operations.ollama._configure`."""
        nothing = {"write": False, "reload": False, "enable": False, "restart": False, "residents": False}
        if step.write:
            self._apply(step.replaced(**nothing | {"write": True}))
            self._unit(need_daemon_reload=True)
            yield
        if step.residents:
            self._apply(step.replaced(**nothing | {"residents": True}))
            there = self._service.residents.content_digest is not None
            self._unit(residents=self._service.residents.replaced(enabled=False, need_daemon_reload=there))
            yield
        if step.reload or step.residents:
            self._unit(need_daemon_reload=False, residents=self._service.residents.replaced(need_daemon_reload=False))
            yield
        if step.enable:
            self._unit(unit_file_state="enabled")
            yield
        if step.restart:
            self._apply(step.replaced(**nothing | {"restart": True}))
            self._start()
            yield
        if step.residents and step.residents_text is not None:
            self._unit(residents=self._service.residents.replaced(enabled=True))

    def _apply(self, step: ConfigureService) -> None:
        loaded = self._service.need_daemon_reload
        self._keep_process(ollama_host.applied(step, self.ollama, self.seen))
        self._unit(need_daemon_reload=loaded)

    def _keep_process(self, seen: Observation) -> None:
        """What the steps of the model's tests make, but for which process it is and what it has loaded."""
        before = known(self.seen.invocation).invocation
        self.seen = seen
        self._runs(before)

    def _runs(self, process: Invocation | None) -> None:
        models = tuple(each.name for each in known(self.seen.ollama_residency).residents) if process else ()
        self.change(invocation=Running(invocation=process, models=models))

    @property
    def _service(self) -> ServiceState:
        return known(self.seen.ollama_service)

    def _unit(self, **changes: Any) -> None:
        self.change(ollama_service=self._service.replaced(**changes))

    def _start(self) -> None:
        """Ollama's process starts with what is on disk; the residents unit, where it is enabled, loads again."""
        process = self.new_process()
        self._unit(active_state="active", sub_state="running", main_pid=process.pid,
                   process_environment=self._environment())  # fmt: skip
        self.change(ollama_residency=Residency(source="api", residents=self.asked_for))
        if self._service.residents.enabled:
            for pin in self.ollama.residents:
                self._load(pin.model)
        self._runs(process)

    def _environment(self) -> dict[str, str]:
        """What systemd gives a process that starts now."""
        found: dict[str, str] = {}
        fragment = self._service.fragment
        for file in (*([fragment] if fragment else []), *self._service.drop_ins):
            found |= file.environment
        return found

    def _load(self, model: str) -> None:
        pin = next(each for each in self.ollama.residents if each.model == model)
        if known(self.seen.ollama_models).model(model) is None:
            return
        step = LoadResident(subject="", before="", after="", reason="", model=model, context=pin.context,
                            keep_alive=pin.keep.request)  # fmt: skip
        self.seen = ollama_host.applied(step, self.ollama, self.seen)

    def boot(self) -> None:
        """The power is cut and comes back: connections, locks and all of memory are gone."""
        self.boots += 1
        self.lock = self.unfinished = None
        self.sessions.clear()
        before, fresh = self.seen, observed.blank(self.desired.name)
        self.seen = before.replaced(**{name: getattr(fresh, name) for name in IN_MEMORY})
        self.change(kernel=known(before.kernel).replaced(boot_id=boot_id(self.boots)))
        for end in self.desired.rail_ends:
            document = document_for(end)
            if any(each.path == document.path for each in known(before.netplan)):
                self.seen = observed.with_end(self.seen, end)
        if self.desired.ollama is not None:
            self._unit(need_daemon_reload=False, residents=self._service.residents.replaced(need_daemon_reload=False))
            self._boot_ollama()

    def _boot_ollama(self) -> None:
        if self._service.unit_file_state == "enabled":
            self._start()
            return
        self._unit(active_state="inactive", sub_state="dead", main_pid=None, process_environment=None)
        self.change(ollama_residency=Residency(source="stopped"))
        self._runs(None)

    def settled(self) -> dict[str, Any]:
        """What is the same on two hosts that came to the same end: the numbers of processes and boots are not, nor is
        which plans led there."""
        found: dict[str, Any] = self.seen.to_json()
        stamp = known(self.seen.generation)
        running = known(self.seen.invocation).invocation
        found["generation"] = {
            "begun": stamp.begun is not None,
            "stamped": stamp.known is not None,
            "scope": stamp.known and stamp.known.scope,
            "knows what runs": running is not None and origin(running, stamp) in OURS,
        }
        same: dict[str, Any] = _without(found, {"boot_id", "pid", "start_ticks", "main_pid"})
        return same | {"lock": self.lock}


IN_MEMORY = ("links", "connections", "roce_devices", "roce_gids", "guard", "rdma_use", "firewall")
"""Sections that a boot makes anew."""


def memory() -> Memory:
    values = {name: 2**30 for name, field in Memory.model_fields.items() if field.is_required()}
    return Memory(**values)


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


def is_write(step: Step | None) -> bool:
    """Does the step put bytes on the disk?"""
    return isinstance(step, WriteDocument | ConfigureService | PullModel | WriteStamp)
