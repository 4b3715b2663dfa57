"""The planner's own word as findings: what it refuses is an ERROR, what is due is a WARN. Nothing is decided here."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from fleet.codes import SECTIONS
from fleet.decide import considered
from fleet.doctor.check import Host
from fleet.doctor.finding import Finding, Level
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.steps import AnyStep
from fleet.target import Scope

REFUSED, DUE = "refused.", "due."
"""What their ids begin with: then the refusal's code, or the step's kind."""
_NOT_OF_HOSTS = frozenset({
    "Before any host is contacted", "What a command is about", "What goes together", "Approval", "After acting",
    "Health at the end of a run",
})  # fmt: skip
"""Sections of codes that no look at a host comes to."""


def planned(asked: Host) -> Iterator[Finding]:
    """What every scope's plan would refuse or do, each once, under the narrowest scope that has it."""
    told: dict[str, tuple[Step | Refusal, Scope]] = {}
    for scope in Scope:
        for each in considered(asked.desired, asked.seen, scope, asked.drained, asked.admission):
            if each.outcome is not None:
                told.setdefault(each.outcome.canonical, (each.outcome, scope))
    for outcome, scope in told.values():
        yield _refused(outcome, asked) if isinstance(outcome, Refusal) else _due(outcome, scope, asked)


def _refused(refusal: Refusal, asked: Host) -> Finding:
    return Finding(
        level=Level.ERROR, id=f"{REFUSED}{refusal.code}", host=asked.desired.name, subject=refusal.subject,
        expected=refusal.expected, found=refusal.found, fix=refusal.hint,
    )  # fmt: skip


def _due(step: Step, scope: Scope, asked: Host) -> Finding:
    return Finding(
        level=Level.WARN, id=f"{DUE}{step.kind}", host=asked.desired.name, subject=step.subject, expected=step.after,
        found=f"{step.before} ({step.reason})", fix=converge(asked.desired.name, scope), scope=scope,
    )  # fmt: skip


def converge(host: str, scope: Scope) -> str:
    """The command that carries a scope out."""
    return f"sparks converge {host}" + ("" if scope is Scope.SERVE else f" --scope {scope}")


@cache
def refusals() -> Mapping[str, tuple[str, str]]:
    """By id, what a refusal that a look can come to means, and what to do."""
    return {
        f"{REFUSED}{code}": words
        for section in SECTIONS
        if section.title not in _NOT_OF_HOSTS
        for code, words in section.codes.items()
    }


@cache
def steps() -> Mapping[str, tuple[str, str]]:
    """By id, what a step does, and its effect on the host."""
    kinds: tuple[Any, ...] = get_args(get_args(AnyStep)[0])
    return {f"{DUE}{kind.model_fields['kind'].default}": (_sentence(kind), _effect(kind)) for kind in kinds}


def _effect(kind: type[Step]) -> str:
    """Of a step that has one of several, the plan says which."""
    field = kind.model_fields["effect"]
    return "what its plan says" if field.is_required() else str(field.default)


def _sentence(kind: type[Step]) -> str:
    """The first paragraph of its docstring."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())
