"""Is the declared build of Ollama there and the one that runs: what is due, or why nothing may be touched. Pure."""

from fleet.observation import Observation, known
from fleet.ollama.program import LINK, TREES, UNIT_DIGEST, UNIT_PATH, OllamaProgram, ProgramState
from fleet.ollama.service import ServiceState
from fleet.ollama.steps import InstallProgram
from fleet.record import Record
from fleet.refusal import Refusal
from fleet.step import Effect

UNPACKED = 3
"""How many times its archive a build takes, with the archive beside it: assumed, not measured, from libraries that gzip
brings to about half."""


DELETED = " (deleted)"
"""What the kernel puts behind the path of an executable whose name is gone or another file's (proc(5))."""


class ProgramDue(Record):
    """What switching to a build takes; nothing of it where it is the one that runs."""

    switch: str | None = None
    """The executable that the link shall lead to."""
    kept: str | None = None
    """The digest of the foreign program that goes for it."""
    unit: bool = False
    """Whether the unit file is to be written."""
    user: bool = False
    """Whether there is no user to run it."""
    forgets: tuple[str, ...] = ()
    """Folders of builds that go once the new one answers."""
    found: tuple[tuple[str, str], ...] = ()
    """What was found and what will be, in words."""
    restarts: bool = False
    """Whether another program than this runs."""


def install_step(program: OllamaProgram | None, seen: Observation) -> InstallProgram | Refusal | None:
    """What brings the declared build onto the host, beside whatever runs; or why it must not come."""
    if program is None:
        return None
    if blind := seen.unobserved("ollama_program"):
        return blind
    state, subject = known(seen.ollama_program), f"{seen.host} ollama program"
    if not program.is_installed:
        return _adopted(program, state, subject)
    if (refusal := _foreign(program, state, subject)) or state.tree(program) is not None:
        return refusal
    return _room(program, state, subject) or _install(program, state, subject)


def _adopted(program: OllamaProgram, state: ProgramState, subject: str) -> Refusal | None:
    if state.executable_digest == program.adopted:
        return None
    found = f"{state.executable_digest or 'none'} at {state.executable}"
    hint = f'somebody has changed it: "adopted": "{state.executable_digest}" in the roster takes it as it is'
    return Refusal(
        code="ollama_program_differs",
        subject=subject,
        expected=str(program.adopted),
        found=found,
        hint=hint if state.executable_digest else "install what was adopted, or let the roster name an archive",
    )


def _foreign(program: OllamaProgram, state: ProgramState, subject: str) -> Refusal | None:
    if state.executable != LINK:
        return Refusal(
            code="ollama_unit_other_program",
            subject=subject,
            expected=f"a unit that runs {LINK}",
            found=state.executable,
            hint=f'let the unit run {LINK}, or declare what is there: "adopted": "{state.executable_digest}"',
        )
    if state.foreign is None or state.foreign == program.replaces:
        return None
    return Refusal(
        code="ollama_program_foreign",
        subject=subject,
        expected=f"nothing of others at {LINK}",
        found=state.foreign,
        hint=f'"adopted": "{state.foreign}" keeps it; "replaces": "{state.foreign}" beside the archive lets it go',
    )


def _room(program: OllamaProgram, state: ProgramState, subject: str) -> Refusal | None:
    needed = UNPACKED * (program.size_bytes or 0)
    if state.room_bytes >= needed:
        return None
    return Refusal(
        code="ollama_program_room",
        subject=subject,
        expected=f"{needed:,} bytes to unpack it",
        found=f"{state.room_bytes:,} bytes free",
    )


def _install(program: OllamaProgram, state: ProgramState, subject: str) -> InstallProgram:
    assert program.archive is not None
    assert program.archive_digest is not None
    assert program.size_bytes is not None
    whence = f"sent from this machine, {program.archive}" if program.is_local else f"from {program.archive}"
    old = [each.folder for each in state.trees]
    return InstallProgram(
        subject=subject,
        before=f"{' and '.join(old)} unpacked" if old else "no build of ours unpacked",
        after=f"{program.folder} unpacked",
        reason=f"declared: {program.size_bytes:,} bytes {whence}",
        effect=Effect.WRITE if program.is_local else Effect.DOWNLOAD,
        version=program.version,
        archive=program.archive,
        archive_digest=program.archive_digest,
        size_bytes=program.size_bytes,
        folder=program.folder,
    )


def program_due(program: OllamaProgram | None, service: ServiceState, seen: Observation) -> ProgramDue | Refusal:
    """What is due so that the declared build is what the unit runs."""
    if program is None or not program.is_installed:
        return ProgramDue()
    if blind := seen.unobserved("ollama_program"):
        return blind
    state = known(seen.ollama_program)
    found: list[tuple[str, str]] = []
    switch = state.link != program.executable
    if switch:
        found.append((f"{LINK} -> {state.link or state.foreign or 'nothing'}", f"{LINK} -> {program.executable}"))
    other = _runs_other(program, state)
    if other is not None and not switch:
        found.append((f"running {other}", f"running {program.version}"))
    unit = _unit(service)
    if unit is not None:
        found.append((unit, f"{UNIT_PATH} of ours"))
    user = not state.has_user and _is_ours(service)
    if user:
        found.append(("no user ollama", "user ollama"))
    forgets = tuple(each.folder for each in state.trees if each.folder != program.folder)
    if forgets:
        found.append((f"{' and '.join(forgets)} unpacked", "gone once the new one answers"))
    return ProgramDue(
        switch=program.executable if switch else None,
        kept=state.foreign if switch else None,
        unit=unit is not None,
        user=user,
        forgets=forgets,
        found=tuple(found),
        restarts=switch or other is not None,
    )


def _unit(service: ServiceState) -> str | None:
    """What is wrong with the unit file; None where it is ours as it should be, or somebody else's, which stays."""
    if service.load_state == "not-found" or service.fragment is None:
        return "no unit file"
    if _is_ours(service) and service.fragment.content_digest != UNIT_DIGEST:
        return f"unit file {service.fragment.content_digest}"
    return None


def _is_ours(service: ServiceState) -> bool:
    """Is the unit file ours, or to be: does it run the program as our user?"""
    found = service.fragment
    return service.load_state == "not-found" or found is None or (found.path == UNIT_PATH and found.managed)


def _runs_other(program: OllamaProgram, state: ProgramState) -> str | None:
    """What runs where it is another build; None where it is this one, none, or nobody can tell."""
    if state.runs is not None and state.runs.startswith(f"{TREES}/"):
        path = state.runs.removesuffix(DELETED)
        if path != program.executable:
            return path
        is_this = path == state.runs and state.tree(program) is not None
        return None if is_this else f"{path} as it was before"
    if not isinstance(state.version, str) or state.version == program.version:
        return None
    return f"version {state.version}"
