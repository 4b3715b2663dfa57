"""What each id means, as text: the sections of docs/reference/doctor.md, and `sparks doctor --explain`. Pure."""

from collections.abc import Iterator
from typing import Any

from fleet.doctor.check import Check
from fleet.doctor.planned import refusals, steps
from fleet.doctor.registry import CHECKS, DOMAINS
from fleet.doctor.unobserved import HOST, SECTION

_HEAD = """\
# What doctor finds

Made from `fleet/doctor` by `make reference`; do not edit. How to use it: [doctor.md](../doctor.md).

A finding reads `LEVEL id subject: expected {x}, found {y}`, and where there is one the next line is the command or the
edit that would help; doctor never runs it. `ERROR`: it does not work, a run would be refused, or nobody could look.
`WARN`: not as desired, or about to hurt. `INFO`: worth knowing. Ids are stable.
"""
_UNOBSERVED = {
    HOST: (
        "nothing of the host could be seen: it does not answer over SSH, refuses the key or sudo, or did not answer in "
        "time",
        "see that it is on and reached, and that `sudo -n true` works there; the reason says which it is",
    ),
    SECTION: (
        "one look at the host failed, hung, or gave what cannot be read; no check that rests on it has said anything",
        "take that look alone, as `pyinfra INVENTORY fact facts.gpu.GpuState`; the reason says what went wrong",
    ),
}
_DUE = "the planner found it not as the roster says"


def page() -> str:
    """The text of docs/reference/doctor.md."""
    return "\n".join([_HEAD, *_blind(), *_planner(), *(part for domain in DOMAINS for part in _domain(*domain))])


def explained(id: str) -> str | None:
    """What an id means; None where there is none of that name."""
    if id in CHECKS:
        return _check(CHECKS[id])
    if id in steps():
        means, effect = steps()[id]
        return _words(id, "WARN", f"{_DUE}. The step: {means} Its effect is to {effect}.", "`sparks converge HOST`")
    rows = {**refusals(), **_UNOBSERVED}
    return _words(id, "ERROR", *rows[id]) if id in rows else None


def every_id() -> tuple[str, ...]:
    """All of them, sorted."""
    return tuple(sorted({*CHECKS, *steps(), *refusals(), *_UNOBSERVED}))


def _words(id: str, level: str, means: str, remedy: str) -> str:
    return f"{id} ({level})\n\nIt means: {means}\n\nWhat to do: {remedy}\n"


def _check(check: Check[Any]) -> str:
    return (
        f"{check.id} ({check.level})\n\nWhat it checks: {check.looks_for}\n\nWhy: {check.why}\n\n"
        f"What to do: {check.fix}\n"
    )


def _domain(title: str, intro: str, checks: tuple[Check[Any], ...]) -> Iterator[str]:
    yield f"## {title}\n" + (f"\n{intro}\n" if intro else "")
    for each in checks:
        yield f"### {each.id}\n\n`{each.level}`. {each.looks_for}\n\n*Why.* {each.why}\n\n*What to do.* {each.fix}\n"


def _blind() -> Iterator[str]:
    yield "## What could not be looked at\n"
    for id, (means, remedy) in _UNOBSERVED.items():
        yield f"### {id}\n\n`ERROR`. {_upper(means)}.\n\n*Why.* {_WHY_BLIND}\n\n*What to do.* {_upper(remedy)}.\n"


_WHY_BLIND = "Not observed is never a value: silence would read as health."


def _planner() -> Iterator[str]:
    yield (
        "## The planner\n\nWhat `sparks plan` would say of the host, in every scope: nothing is decided a second time "
        "here. A refusal stands in the way of a run; a step is due.\n"
    )
    yield "### refused\n\n`ERROR`. The refusal's code follows the dot; see also [refusals.md](refusals.md).\n"
    yield _table("it means", "what to do", refusals())
    yield f"### due\n\n`WARN`. The step's kind follows the dot: {_DUE}. `--fix-plan` makes a plan of them.\n"
    yield _table("what the step does", "its effect", steps())


def _table(first: str, second: str, rows: Any) -> str:
    lines = "".join(f"| `{id}` | {one} | {other} |\n" for id, (one, other) in rows.items())
    return f"| id | {first} | {second} |\n|---|---|---|\n{lines}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
