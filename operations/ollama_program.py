"""Bring the declared build of Ollama onto a host, beside whatever runs there."""

import hashlib
from collections.abc import Generator, Iterator
from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import Any

import gevent
from paramiko import SSHException
from pyinfra import host
from pyinfra.api import Host, State, operation

from facts.bundle import packed
from facts.look import called
from facts.needs import observation, ollama_looks
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.program import TREES
from fleet.ollama.program_due import install_step
from fleet.ollama.steps import InstallProgram
from fleet.refusal import Refusal
from operations.acting import Call, Script, read_back, refuse, say
from operations.answer import ask
from operations.approved import begins, carried_out, going_on, not_approved
from operations.lock import under_lock
from operations.stream import Broken, lines, send

SHOWS_WITHIN_SECONDS = 30.0
ASK_SECONDS = 60.0
PIECE_BYTES = 2**22


@operation()
def installed(desired: OllamaDeployment | None) -> Generator[Any, None, None]:
    """
    Unpack the declared build of Ollama into a folder of its own; nothing that runs is touched. An archive whose digest
    is another is refused before anything of it is unpacked. A build that was adopted is only looked at.

    + desired: the deployment, or None where this host serves nothing

    .. code:: python

        ollama_program.installed(name="ollama program", desired=OllamaDeployment(program=OllamaProgram(…)))
    """
    if desired is None or desired.program is None:
        host.noop("no build of ollama is declared")
        return
    match (yield from under_lock(host, lambda: _outcome(desired))):
        case None:
            host.noop(f"ollama {desired.program.version} is there")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case InstallProgram() as step:
            yield from _install(step)
            yield from read_back(lambda _: _difference(desired), SHOWS_WITHIN_SECONDS)


def missing(step: InstallProgram) -> Refusal | None:
    """Why an archive of this machine cannot be sent; None where it is there. Its digest is taken when it is sent."""
    found = _size(step.archive) if step.archive.startswith("/") else step.size_bytes
    if found == step.size_bytes:
        return None
    return Refusal(
        code="archive_missing",
        subject=step.subject,
        expected=f"{step.archive} of {step.size_bytes:,} bytes on this machine",
        found="no such file" if found is None else f"one of {found:,}",
    )


def _outcome(desired: OllamaDeployment) -> InstallProgram | Refusal | None:
    return install_step(desired.program, observation(host, host.name, ollama_looks(desired)))


def _difference(desired: OllamaDeployment) -> Refusal | None:
    outcome = _outcome(desired)
    if not isinstance(outcome, InstallProgram):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)


def _install(step: InstallProgram) -> Iterator[Call]:
    if refusals := not_approved(host, [step]):
        yield from refuse(*refusals)
        return
    scripts = [*([] if _url(step) else [Script(_take(step), step)]), Script(_unpack(step), step)]
    sends = tuple(each for script in scripts for each in script.planned.sends)
    begins(host, step)
    yield Call(step.kind, _carry_out, step, scripts, step=step, sends=sends)
    carried_out(host, step)


def _carry_out(state: State, host: Host, step: InstallProgram, scripts: list[Script]) -> bool:
    *sending, unpacking = scripts
    try:
        for script in sending:
            if (refusal := missing(step) or _other(step)) is not None:
                return say(state, host, (refusal,))
            _send(host, step, script)
        for line in lines(host, unpacking):
            going_on(host, line)
    except (Broken, OSError, EOFError, SSHException) as error:
        failed = Refusal(code="not_installed", subject=step.subject, expected=step.after, found=str(error))
        return say(state, host, (failed,))
    return True


def _send(host: Host, step: InstallProgram, script: Script) -> None:
    """From where an earlier run stopped."""
    answer = ask(host, f"stat -c %s {quote(_part(step))} 2>/dev/null || echo 0", ASK_SECONDS)
    there = int(answer.out[-1]) if answer is not None and answer.is_ok and answer.out[-1:] else 0
    offset = there if there <= step.size_bytes else 0
    shown: list[int] = []

    def tell(sent: int) -> None:
        tenth = 10 * sent // step.size_bytes
        if shown[-1:] != [tenth]:
            shown.append(tenth)
            going_on(host, f"sent {tenth}0% of {step.size_bytes:,} bytes")

    if offset < step.size_bytes:
        send(host, script, step.archive, offset, tell)


def _other(step: InstallProgram) -> Refusal | None:
    """A file of this machine that is another than was declared: it is not sent."""
    found = hashlib.sha256()
    with open(step.archive, "rb", buffering=0) as file:
        while piece := file.read(PIECE_BYTES):
            found.update(piece)
            gevent.sleep(0)
    digest = f"sha256:{found.hexdigest()}"
    if digest == step.archive_digest:
        return None
    return Refusal(code="archive_differs", subject=step.subject, expected=step.archive_digest, found=digest)


def _size(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except OSError:
        return None


def _url(step: InstallProgram) -> str | None:
    return None if step.archive.startswith("/") else step.archive


def _part(step: InstallProgram) -> str:
    return f"{TREES}/.{step.archive_digest.removeprefix('sha256:')}.part"


def _take(step: InstallProgram) -> str:
    """Takes the archive on its input, behind what is there of it. It is root's: nobody changes it unseen."""
    part = quote(_part(step))
    return f"""
umask 022
mkdir -p {quote(TREES)}
[ "$(stat -c %s {part} 2>/dev/null || echo 0)" -le {step.size_bytes} ] || rm -f {part}
cat >> {part}
"""


def _unpack(step: InstallProgram) -> str:
    asked = {
        "url": _url(step),
        "part": _part(step),
        "digest": step.archive_digest,
        "size": step.size_bytes,
        "version": step.version,
        "home": TREES,
        "folder": step.folder,
    }
    source = files("operations.remote").joinpath("ollama_install.py").read_text(encoding="utf-8")
    return packed(called(source, asked))
