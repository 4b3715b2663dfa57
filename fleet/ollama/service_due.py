"""Is the unit as its deployment says: durable, loaded, enabled, and running with that environment."""

from fleet.observation import Observation, known
from fleet.ollama.deployment import DROP_IN, UNIT, OllamaDeployment
from fleet.ollama.program import UNIT_TEXT
from fleet.ollama.program_due import ProgramDue, program_due
from fleet.ollama.residents_unit import CURL, residents_digest, residents_text
from fleet.ollama.service import ResidentsUnit, ServiceState, ollama_settings
from fleet.ollama.steps import ConfigureService
from fleet.refusal import Refusal
from fleet.step import Effect


def service_step(desired: OllamaDeployment, seen: Observation) -> ConfigureService | Refusal | None:
    """What the unit needs, None when it is as desired, or why it must not be touched."""
    if blind := seen.unobserved("ollama_service"):
        return blind
    state, subject = known(seen.ollama_service), f"{seen.host} {UNIT}"
    program = program_due(desired.program, state, seen)
    if isinstance(program, Refusal):
        return program
    refusal = None if program.unit else _unusable(state, subject)
    refusal = refusal or _overridden(desired, state, subject) or _no_curl(desired, state, subject)
    if refusal is not None:
        return refusal
    due = _due(desired, state, program)
    return _step(desired, subject, due, program) if due else None


def _unusable(state: ServiceState, subject: str) -> Refusal | None:
    if state.load_state != "loaded":
        code = {"not-found": "ollama_unit_missing", "masked": "ollama_unit_masked"}.get(
            state.load_state, "ollama_unit_unreadable"
        )
        hint = (
            "install Ollama, or let the roster name a program for it"
            if state.load_state == "not-found"
            else f"systemctl status {UNIT}"
        )
        return Refusal(code=code, subject=subject, expected="a loaded unit", found=state.load_state, hint=hint)
    if state.unit_file_state not in ("enabled", "enabled-runtime", "disabled"):
        return Refusal(
            code="ollama_unit_static",
            subject=subject,
            expected="a unit that can be enabled",
            found=state.unit_file_state or "none on disk",
            hint="give the unit an [Install] section with WantedBy=default.target",
        )
    return None


def _overridden(desired: OllamaDeployment, state: ServiceState, subject: str) -> Refusal | None:
    """A file that systemd reads after ours and that says something else: a restart would not help."""
    own = desired.desired_environment
    effective = state.expected_environment(own)
    for name, value in own.items():
        if state.unsets(name, value):
            return Refusal(
                code="ollama_setting_overridden",
                subject=f"{subject} {name}",
                expected=value,
                found="UnsetEnvironment= of the unit, which takes it away",
                hint=f"take {name} out of UnsetEnvironment= of {UNIT} on the host",
            )
        if effective.get(name) != value:
            file = [each for each in state.settings_files(own) if each.resets or name in each.environment][-1]
            return Refusal(
                code="ollama_setting_overridden",
                subject=f"{subject} {name}",
                expected=value,
                found=f"{effective.get(name, 'it dropped')} by {file.path}",
                hint=f"take {name} out of {file.path} on the host",
            )
    return None


def _no_curl(desired: OllamaDeployment, state: ServiceState, subject: str) -> Refusal | None:
    if state.residents.has_curl or not desired.residents:
        return None
    hint = "apt-get install curl on the host"
    return Refusal(code="curl_missing", subject=subject, expected=f"{CURL} to load residents", found="none", hint=hint)


def _due(desired: OllamaDeployment, state: ServiceState, program: ProgramDue) -> dict[str, tuple[str, str]]:
    """What differs, by part: what was found and what will be."""
    due: dict[str, tuple[str, str]] = {f"program {at}": each for at, each in enumerate(program.found)}
    if state.own_drop_in != desired.drop_in_digest:
        due["write"] = (f"drop-in {state.own_drop_in or 'absent'}", f"drop-in {desired.drop_in_digest}")
    elif state.need_daemon_reload:
        due["reload"] = ("systemd has an older drop-in loaded", "systemd has it loaded")
    due |= _residents_due(desired, state.residents)
    if state.unit_file_state != "enabled":
        due["enable"] = (state.unit_file_state or "not enabled", "enabled")
    running = _running(desired, state)
    if running is not None:
        due["restart"] = (running, "running with this environment")
    elif program.restarts:
        due["restart"] = ("running another program", "running this one")
    return due


def _residents_due(desired: OllamaDeployment, found: ResidentsUnit) -> dict[str, tuple[str, str]]:
    """The unit that loads residents after each start: there as declared, or not there."""
    wanted = residents_digest(desired)
    if found.content_digest != wanted:
        return {
            "residents": (
                f"residents unit {found.content_digest or 'absent'}",
                f"residents unit {wanted or 'absent'}",
            )
        }
    if wanted and not found.enabled:
        return {"residents": ("residents unit not enabled", "residents unit enabled")}
    if wanted and found.need_daemon_reload:
        return {"residents": ("systemd has an older residents unit loaded", "systemd has it loaded")}
    return {}


def _running(desired: OllamaDeployment, state: ServiceState) -> str | None:
    """How the process differs from its unit as it will be; None when it does not."""
    if not state.is_active or state.process_environment is None:
        return f"{state.active_state} ({state.sub_state})"
    found = ollama_settings(state.process_environment)
    expected = ollama_settings(state.expected_environment(desired.desired_environment))
    differing = sorted(name for name in found | expected if found.get(name) != expected.get(name))
    if not differing:
        return None
    return "running with " + ", ".join(f"{name}={found[name]}" if name in found else f"no {name}" for name in differing)


def _step(
    desired: OllamaDeployment, subject: str, due: dict[str, tuple[str, str]], program: ProgramDue
) -> ConfigureService:
    return ConfigureService(
        subject=subject,
        before="; ".join(before for before, _ in due.values()),
        after="; ".join(after for _, after in due.values()),
        reason="its settings must be durable, and its process must run with them",
        effect=Effect.RESTART if "restart" in due else Effect.WRITE,
        path=DROP_IN,
        text=desired.drop_in_text,
        write="write" in due,
        reload="write" in due or "reload" in due or program.unit,
        enable="enable" in due,
        restart="restart" in due,
        residents="residents" in due,
        residents_text=residents_text(desired),
        switch=program.switch,
        kept=program.kept,
        version=desired.program.version if desired.program is not None and desired.program.is_installed else None,
        unit_text=UNIT_TEXT if program.unit else None,
        user=program.user,
        forgets=program.forgets,
    )
