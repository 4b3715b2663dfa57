"""What the operations of Ollama send to a host: one script for each step."""

import json
from collections.abc import Iterator
from importlib.resources import files
from shlex import quote
from typing import Any

from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.program import TREES, UNIT_PATH
from fleet.ollama.residents_unit import RESIDENTS, RESIDENTS_PATH
from fleet.ollama.steps import ConfigureService, CopyModel, EvictResident, LoadResident, PullModel
from fleet.step import Step
from operations.acting import write_file
from operations.ollama_copy import copy_script
from operations.ollama_switch import RESTART, USER_SCRIPT, switch_script


def configure_script(step: ConfigureService, endpoint: str) -> str:
    """One script; killed anywhere in it, it leaves a state from which this step or a smaller one is due.

    The residents unit is enabled last: a restart before that would ask for models that are still to be pulled.
    """
    return "\n".join([*_files(step), *_started(step, endpoint), *_afterwards(step)])


def _files(step: ConfigureService) -> Iterator[str]:
    """What is durable, and systemd told of it."""
    directory = quote(step.path.rpartition("/")[0])
    if step.user:
        yield USER_SCRIPT
    if step.unit_text is not None:
        yield f"({write_file(UNIT_PATH, step.unit_text, 0o644)})"
    if step.write:
        yield f"[ -d {directory} ] || mkdir -m 0755 {directory}"
        yield f"({write_file(step.path, step.text, 0o644)})"
    if step.residents:
        yield _residents(step.residents_text)
    if step.reload or step.residents:
        yield "timeout 60 systemctl daemon-reload"
    if step.enable:
        yield f"timeout 60 systemctl --quiet enable {UNIT}"


def _started(step: ConfigureService, endpoint: str) -> Iterator[str]:
    """The link, the restart, and the old build back where the new one does not answer."""
    if step.restart and step.version is not None:
        yield switch_script(step, step.version, endpoint)
    elif step.restart:
        yield RESTART


def _afterwards(step: ConfigureService) -> Iterator[str]:
    """What waits for a process that runs."""
    if step.residents and step.residents_text is not None:
        yield f"timeout 60 systemctl --quiet enable {RESIDENTS}"
    if step.forgets:
        yield "rm -rf " + " ".join(quote(f"{TREES}/{each}") for each in step.forgets)


def _residents(text: str | None) -> str:
    if text is None:
        return f"timeout 60 systemctl --quiet disable {RESIDENTS}\nrm -f {quote(RESIDENTS_PATH)}"
    return f"({write_file(RESIDENTS_PATH, text, 0o644)})"


def ask_script(desired: OllamaDeployment, step: Step) -> str:
    """A script that copies a model, or has Ollama pull, load or unload one."""
    match step:
        case CopyModel():
            return copy_script(step, desired.endpoint.url)
        case PullModel():
            asked: dict[str, Any] = {"do": "pull", "digest": step.manifest_digest, "replaces": step.replaces}
        case LoadResident():
            asked = {"do": "load", "context": step.context, "keep_alive": step.keep_alive}
        case EvictResident():
            asked = {"do": "unload"}
        case _:
            raise AssertionError(f"expected a step of a model, found {step.kind}")
    about = {"model": step.model, "endpoint": desired.endpoint.url}
    source = files("operations.remote").joinpath("ollama_ask.py").read_text(encoding="utf-8")
    call = f"{source}\nmain({json.dumps(json.dumps(asked | about))})\n"
    return f"python3 -c {quote(call)}"
