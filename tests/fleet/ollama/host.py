"""A host whose Ollama is as desired but for what a test changes, and what carrying a step out does to it."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from fleet.generation import Begun, Generation, Stamp
from fleet.invocation import Invocation, Running
from fleet.observation import Observation
from fleet.ollama.deployment import DROP_IN, UNIT, OllamaDeployment, OllamaModelPin, OllamaResidentPin
from fleet.ollama.observed import ModelStore, OllamaModel, Residency, Resident, ServiceState
from fleet.ollama.program import ProgramState
from fleet.ollama.residents_unit import residents_digest
from fleet.ollama.service import ResidentsUnit, SettingsFile
from fleet.ollama.steps import ConfigureService, CopyModel, EvictResident, LoadResident, PullModel, RetireOllama
from fleet.record import Unobserved, sha256_digest
from fleet.step import Step
from fleet.target import Scope

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
PIN = OllamaModelPin(name="qwen3:0.6b", manifest_digest=A, size_bytes=10, pull=True)
STAY = OllamaResidentPin(model=PIN.name, context=8192)
DESIRED = OllamaDeployment(
    listen="0.0.0.0:11434",
    environment={"OLLAMA_KEEP_ALIVE": "-1", "OLLAMA_MODELS": "/data/my 100% models"},
    models=(PIN,),
    residents=(STAY,),
    evict_undeclared=True,
)
PROGRAM = ProgramState(
    link=None, executable="/usr/local/bin/ollama", executable_digest=A, runs="/usr/local/bin/ollama",
    version="0.33.1", has_user=True, room_bytes=10**12,
)  # fmt: skip
"""Somebody has installed it."""
UNIT_FILE = SettingsFile(path="/etc/systemd/system/ollama.service", environment={"PATH": "/usr/bin"})


def own_file(desired: OllamaDeployment = DESIRED) -> SettingsFile:
    return SettingsFile(path=DROP_IN, content_digest=desired.drop_in_digest, environment=desired.desired_environment)


def service(**changes: Any) -> ServiceState:
    """The unit as desired, but for `changes`."""
    state: dict[str, Any] = {
        "load_state": "loaded", "active_state": "active", "sub_state": "running",
        "unit_file_state": "enabled", "need_daemon_reload": False, "main_pid": 7, "started_monotonic_us": 1,
        "exec_start": "/usr/local/bin/ollama", "user": "ollama", "fragment": UNIT_FILE,
        "drop_ins": (own_file(),),
        "process_environment": {"PATH": "/usr/bin", **DESIRED.desired_environment},
        "residents": ResidentsUnit(content_digest=residents_digest(DESIRED), enabled=True),
    }  # fmt: skip
    return ServiceState(**(state | changes))


def loaded(**changes: Any) -> Resident:
    state: dict[str, Any] = {
        "name": PIN.name, "manifest_digest": A, "size_bytes": 20, "size_vram_bytes": 20,
        "context_length": 8192, "keep": "forever",
    }  # fmt: skip
    return Resident(**(state | changes))


PROCESS = Invocation(
    unit=UNIT, pid=7, start_ticks=1, boot_id="one", executable_digest=A, argv_digest=B
)  # fmt: skip
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def begun(scope: Scope = Scope.SERVE, plan: str = A) -> Begun:
    return Begun(plan=plan, desired=B, scope=scope, at=NOON)


def stamped(*left: Invocation, **changes: Any) -> Stamp:
    """The stamp of a run that left these running."""
    return Stamp(generation=Generation(**dict(begun()) | changes, invocations=left))


HELD = OllamaModel(name=PIN.name, manifest_digest=A, size_bytes=10)


def seen(
    state: ServiceState | Unobserved | None = None,
    models: tuple[OllamaModel, ...] | Unobserved = (HELD,),
    residents: tuple[Resident, ...] | Unobserved | None = None,
) -> Observation:
    store = models if isinstance(models, Unobserved) else ModelStore(source="api", models=models)
    residents = (loaded(),) if residents is None else residents
    residency = residents if isinstance(residents, Unobserved) else Residency(source="api", residents=residents)
    state = state or service()
    return Observation(
        host="srv5", ollama_service=state, ollama_models=store, ollama_residency=residency,
        invocation=running(state, residency), generation=stamped(PROCESS),
    )  # fmt: skip


def running(
    state: ServiceState | Unobserved, residency: Residency | Unobserved, process: Invocation = PROCESS
) -> Running | Unobserved:
    """The unit's process, and what it has loaded."""
    if isinstance(state, Unobserved) or not state.is_active:
        return state if isinstance(state, Unobserved) else Running(invocation=None)
    if isinstance(residency, Unobserved):
        return Running(invocation=process, models=residency)
    return Running(invocation=process, models=tuple(each.name for each in residency.residents))


def retired(step: RetireOllama, found: Observation) -> Observation:
    """The observation once nothing of a deployment is left."""
    state = found.ollama_service
    assert isinstance(state, ServiceState)
    drop_ins = tuple(each for each in state.drop_ins if each.path != DROP_IN)
    changes: dict[str, Any] = {"drop_ins": drop_ins, "residents": ResidentsUnit()} if step.files else {}
    if step.restart:
        changes["process_environment"] = state.expected_environment({})
    state = state.replaced(**changes)
    residency = Residency(source="api") if step.restart else found.ollama_residency
    process = PROCESS.replaced(pid=8, start_ticks=2) if step.restart else PROCESS
    sections: dict[str, ServiceState | Residency | Running | Unobserved]
    sections = {"ollama_service": state, "ollama_residency": residency}
    if isinstance(residency, Residency):
        sections["invocation"] = running(state, residency, process)
    return found.replaced(**sections)


def applied(step: Step, desired: OllamaDeployment, found: Observation) -> Observation:
    """The observation after a step, as a host would then be."""
    state, store, residency, process = found.ollama_service, found.ollama_models, found.ollama_residency, PROCESS
    assert isinstance(state, ServiceState)
    assert isinstance(store, ModelStore)
    assert isinstance(residency, Residency)
    residents = {each.name: each for each in residency.residents}
    match step:
        case ConfigureService():
            changes: dict[str, Any] = {"need_daemon_reload": False}
            if step.write:
                kept = [file for file in state.drop_ins if file.path != DROP_IN]
                changes["drop_ins"] = (*kept, own_file(desired))
            if step.residents:
                text = step.residents_text
                digest = None if text is None else sha256_digest(text.encode())
                changes["residents"] = ResidentsUnit(content_digest=digest, enabled=text is not None)
            if step.enable:
                changes["unit_file_state"] = "enabled"
            if step.restart:
                changes |= {"active_state": "active", "sub_state": "running", "main_pid": 8}
                changes["process_environment"] = state.expected_environment(desired.desired_environment)
                residents, process = {}, PROCESS.replaced(pid=8, start_ticks=2)
            state = state.model_copy(update=changes)
        case PullModel() | CopyModel():
            held = OllamaModel(name=step.model, manifest_digest=step.manifest_digest, size_bytes=step.size_bytes)
            others = [each for each in store.models if each.name != step.model]
            store = store.replaced(source="api", models=(*others, held))
            residents = {name: each for name, each in residents.items() if step.replaces is None or name != step.model}
        case LoadResident():
            residents[step.model] = loaded(name=step.model, context_length=step.context)
        case EvictResident():
            residents.pop(step.model, None)
        case _:
            raise AssertionError(f"expected a step of Ollama, found {step.kind}")
    residency = Residency(source="api", residents=tuple(residents.values()))
    sections = {"ollama_service": state, "ollama_models": store, "ollama_residency": residency}
    return found.model_copy(update=sections | {"invocation": running(state, residency, process)})


files = st.sampled_from(
    [None, own_file(), SettingsFile(path=DROP_IN, content_digest=B, environment={"OLLAMA_DEBUG": "1"})]
)
WISHED = DESIRED.desired_environment
processes = st.sampled_from([None, {}, {"OLLAMA_HOST": "1"}, WISHED | {"OLLAMA_DEBUG": "1"}, WISHED])


@st.composite
def states(draw: st.DrawFn) -> Observation:
    process, file = draw(processes), draw(files)
    state = service(
        active_state="active" if process is not None else draw(st.sampled_from(["inactive", "failed", "activating"])),
        unit_file_state=draw(st.sampled_from(["enabled", "disabled", "enabled-runtime"])),
        residents=ResidentsUnit(
            content_digest=draw(st.sampled_from([None, A, residents_digest(DESIRED)])),
            enabled=draw(st.booleans()),
            need_daemon_reload=draw(st.booleans()),
        ),
        need_daemon_reload=draw(st.booleans()),
        drop_ins=() if file is None else (file,),
        process_environment=process,
    )
    resident = loaded(
        context_length=draw(st.sampled_from([4096, 8192])),
        keep=draw(st.sampled_from(["forever", "unset"])),
    )
    stranger = loaded(name="stranger:1")
    present = st.sampled_from([(), (resident,), (stranger,), (resident, stranger)])
    return seen(state, draw(st.sampled_from([(), (HELD,)])), draw(present))
