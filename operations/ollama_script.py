"""What the operations of Ollama send to a host: one script for each step."""

import json
from importlib.resources import files
from shlex import quote
from typing import Any

from fleet.ollama.deployment import UNIT, OllamaDeployment
from fleet.ollama.residents_unit import RESIDENTS, RESIDENTS_PATH
from fleet.ollama.steps import ConfigureService, EvictResident, LoadResident, PullModel
from fleet.step import Step
from operations.acting import write_file


def configure_script(step: ConfigureService) -> str:
    """One script; killed anywhere in it, it leaves a state from which this step or a smaller one is due.

    The residents unit is enabled last: a restart before that would ask for models that are still to be pulled.
    """
    directory = quote(step.path.rpartition("/")[0])
    parts = []
    if step.write:
        parts += [
            f"[ -d {directory} ] || mkdir -m 0755 {directory}",
            f"({write_file(step.path, step.text, 0o644)})",
        ]
    if step.residents:
        parts += [_residents(step.residents_text)]
    if step.reload or step.residents:
        parts += ["timeout 60 systemctl daemon-reload"]
    if step.enable:
        parts += [f"timeout 60 systemctl --quiet enable {UNIT}"]
    if step.restart:
        parts += [
            f"timeout 120 systemctl restart {UNIT} || {{",
            f'  echo "{UNIT}: expected it to restart, found it refused; see journalctl -u {UNIT}" >&2',
            "  exit 69",
            "}",
        ]
    if step.residents and step.residents_text is not None:
        parts += [f"timeout 60 systemctl --quiet enable {RESIDENTS}"]
    return "\n".join(parts)


def _residents(text: str | None) -> str:
    if text is None:
        return f"timeout 60 systemctl --quiet disable {RESIDENTS}\nrm -f {quote(RESIDENTS_PATH)}"
    return f"({write_file(RESIDENTS_PATH, text, 0o644)})"


def ask_script(desired: OllamaDeployment, step: Step) -> str:
    """A script that has Ollama pull, load or unload a model."""
    match step:
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
