"""The files that steps write or remove: what they shall say, and what was found there, as far as it left the host."""

from collections.abc import Iterable

from fleet.guard import GuardedChange
from fleet.host.steps import RemoveHostFile, WriteHostFile
from fleet.kernel.steps import SetNextBoot, SetWords
from fleet.netplan.device import NetplanFile
from fleet.netplan.outline import outline, outline_of
from fleet.observation import Observation
from fleet.ollama.deployment import DROP_IN
from fleet.ollama.program import UNIT_PATH as OLLAMA_UNIT_PATH
from fleet.ollama.residents_unit import RESIDENTS_PATH
from fleet.ollama.service import SettingsFile
from fleet.ollama.steps import ConfigureService, RetireOllama
from fleet.ollama.units import quoted_assignment
from fleet.rail_document import WriteDocument
from fleet.record import Record, Unobserved
from fleet.revert import RemoveFile
from fleet.step import Step
from fleet.transit.desired import SYSCTL_PATH, UNIT_PATH
from fleet.transit.steps import RemoveTransit, WriteTransit


class FoundFile(Record):
    """A file as it was found, where a step writes or removes it."""

    content_digest: str | None
    text: str | None
    """What of it may be shown, in the form in which what is wanted is shown beside it; None where it was not read."""


def wanted_files(step: Step) -> dict[str, str | None]:
    """What each file shall say, by path; None for one that goes."""
    match step:
        case WriteDocument(document=document):
            return {document.path: document.text}
        case GuardedChange(documents=documents, removed=removed):
            return {each.path: each.text for each in documents} | dict.fromkeys(removed)
        case ConfigureService():
            found: dict[str, str | None] = {step.path: step.text} if step.write else {}
            found |= {OLLAMA_UNIT_PATH: step.unit_text} if step.unit_text else {}
            return found | ({RESIDENTS_PATH: step.residents_text} if step.residents else {})
        case RetireOllama():
            return dict.fromkeys((DROP_IN, RESIDENTS_PATH) if step.files else ())
        case WriteTransit(transit=transit):
            return {SYSCTL_PATH: transit.sysctl_text, UNIT_PATH: transit.unit_text}
        case RemoveTransit():
            return {SYSCTL_PATH: None, UNIT_PATH: None}
        case SetWords(path=path, text=text):
            return {path: text}
        case SetNextBoot(path=path, text=text) if text is not None:
            return {path: text}
        case WriteHostFile(file=file):
            return {file.path: file.text}
        case RemoveFile(path=path) | RemoveHostFile(path=path):
            return {path: None}
    return {}


def comparable(path: str, text: str) -> str:
    """What a file shall say, in the form in which what was found is told."""
    return outline_of(text) if path.startswith("/etc/netplan/") else text


def found_files(steps: Iterable[Step], seen: Observation) -> dict[str, FoundFile]:
    """Every file that steps write or remove and that is there; one that is not there has no entry."""
    paths = dict.fromkeys(path for step in steps for path in wanted_files(step))
    found = {path: _found(path, seen) for path in paths}
    return {path: each for path, each in found.items() if each is not None}


def _found(path: str, seen: Observation) -> FoundFile | None:
    for netplan in _known(seen.netplan):
        if netplan.path == path:
            return FoundFile(content_digest=netplan.content_digest, text=None if netplan.error else outline(netplan))
    if not isinstance(seen.host_files, Unobserved) and (own := seen.host_files.at(path)) is not None:
        return FoundFile(content_digest=own.content_digest, text=None)
    if not isinstance(seen.boot, Unobserved) and (default := seen.boot.defaults.file(path)) is not None:
        return FoundFile(content_digest=default.content_digest, text=None)
    service, transit = seen.ollama_service, seen.transit
    if not isinstance(service, Unobserved):
        for file in service.drop_ins:
            if file.path == path:
                return FoundFile(content_digest=file.content_digest, text=_drop_in(file))
        if path == RESIDENTS_PATH and service.residents.content_digest is not None:
            return FoundFile(content_digest=service.residents.content_digest, text=None)
    if not isinstance(transit, Unobserved):
        ours = {SYSCTL_PATH: transit.sysctl, UNIT_PATH: transit.unit.file}.get(path)
        return None if ours is None else FoundFile(content_digest=ours.content_digest, text=None)
    return None


def _known(files: tuple[NetplanFile, ...] | Unobserved) -> tuple[NetplanFile, ...]:
    return () if isinstance(files, Unobserved) else files


def _drop_in(file: SettingsFile) -> str:
    lines = (f"Environment={quoted_assignment(*each)}\n" for each in file.environment.items())
    return f"[Service]\n{''.join(lines)}"
