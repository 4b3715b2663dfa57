"""Do the operations of a deploy want to do what the plan says? Both decide by the same functions: else it is a bug."""

from collections.abc import Sequence

from fleet.planned import HostPlan, PlannedCommand
from fleet.record import Record
from fleet.step import Step
from fleet.steps import AnyStep


class Declared(Record):
    """What one operation said it would do, while pyinfra prepared."""

    name: str
    steps: tuple[AnyStep, ...]
    commands: tuple[PlannedCommand, ...]


def disagreements(planned: HostPlan, declared: Sequence[Declared]) -> tuple[str, ...]:
    """What the operations of one host would do otherwise than planned, a line each; empty where all agree.

    + declared: what each of `fleet.decide.OPERATIONS` said; no plan is about the others
    """
    by_name = {each.name: each for each in declared}
    steps = {each.name: each.steps for each in planned.operations}
    lines = [f"{planned.host} {name}: expected one operation, found {count}" for name, count in _several(declared)]
    for name in [*steps, *(name for name in by_name if name not in steps)]:
        expected, found = steps.get(name, ()), by_name.get(name)
        if found is None or found.steps != expected or (found.commands and not expected):
            lines.append(f"{planned.host} {name}: expected {_words(expected)}, found {_found(found)}")
    return tuple(lines)


def _several(declared: Sequence[Declared]) -> list[tuple[str, int]]:
    names = [each.name for each in declared]
    return [(name, names.count(name)) for name in dict.fromkeys(names) if names.count(name) > 1]


def _words(steps: Sequence[Step]) -> str:
    return "; ".join(map(str, steps)) or "nothing"


def _found(declared: Declared | None) -> str:
    if declared is None:
        return "no such operation"
    return _words(declared.steps) if declared.steps else "; ".join(each.does for each in declared.commands) or "nothing"
