"""A plan as text: per host what is done, with the files that change, and what needs nothing."""

import difflib
from collections import Counter
from collections.abc import Iterator

import click

from fleet.files import FoundFile, comparable, wanted_files
from fleet.ollama.steps import InstallProgram, PullModel
from fleet.plan import Plan
from fleet.planned import HostPlan, PlannedOperation
from fleet.step import Effect, Step
from lab.map.words import printable

_COSTLY = frozenset({Effect.RESTART, Effect.EVICT, Effect.REMOVE, Effect.GUARDED, Effect.DOWNLOAD})


def shown(plan: Plan, commands: bool = False) -> str:
    """All of a plan. It may come from anybody: nothing of it is obeyed by a terminal, and a line is one line.

    + commands: with what crosses SSH, byte for byte
    """
    lines = [click.style(f"plan {plan.digest}", bold=True), f"for {plan.target.kind} {plan.target}: {plan.scope}"]
    made = [each for each in (plan.made.observed_at and f"observed {plan.made.observed_at}", plan.made.by) if each]
    lines += [printable(", by ".join(made))] if made else []
    for host in plan.hosts:
        lines += ["", *_host(host, commands)]
    return "\n".join([*lines, "", _summary(plan), ""])


def _host(host: HostPlan, commands: bool) -> Iterator[str]:
    yield click.style(host.host, bold=True) + ("" if host.operations else " is as desired")
    for operation in host.operations:
        yield printable(f"  {operation.name}")
        for step in operation.steps:
            yield from _step(step, host)
        yield from _commands(operation) if commands else ()
    if host.considered:
        yield printable(f"  needs nothing: {', '.join(host.considered)}")
    yield from (printable(f"  not observed: {each.section.replace('_', ' ')}: {each.reason}") for each in host.unseen)
    if host.memory_fit is not None:
        yield printable(f"  {host.memory_fit}")
    yield from (printable(f"  note: {each}") for each in host.notes)


def _step(step: Step, host: HostPlan) -> Iterator[str]:
    color = "red" if step.effect in _COSTLY else "yellow"
    yield f"    {click.style(step.effect, fg=color)} {printable(step.subject)}"
    yield printable(f"      {step.before} -> {step.after}")
    yield printable(f"      {step.reason}")
    for path, wanted in wanted_files(step).items():
        yield from (f"      {line}" for line in _diff(path, host.found.get(path), wanted))


def _diff(path: str, found: FoundFile | None, wanted: str | None) -> Iterator[str]:
    """The lines that go and come; where what is there was not read, what comes is shown whole."""
    if found is not None and found.text is None:
        yield printable(f"{path}: what is there now was not read ({found.content_digest or 'no digest'})")
        before = []
    else:
        before = [] if found is None or found.text is None else found.text.splitlines()
    is_told = found is not None and found.text is not None
    after = [] if wanted is None else (comparable(path, wanted) if is_told else wanted).splitlines()
    names = ("/dev/null" if found is None else path, "/dev/null" if wanted is None else path)
    for line in difflib.unified_diff(before, after, *names, n=2, lineterm=""):
        color = {"+": "green", "-": "red"}.get(line[:1])
        text = printable(line.expandtabs())
        yield click.style(text, fg=color) if color else text


def _commands(operation: PlannedOperation) -> Iterator[str]:
    if operation.commands is None:
        yield "    commands: not known, since no host was asked"
    for command in operation.commands or ():
        yield printable(f"    {command.does}" + (":" if command.sends else ""))
        for sent in command.sends:
            yield from (f"      | {printable(line.expandtabs())}" for line in sent.splitlines())


def _summary(plan: Plan) -> str:
    if plan.is_noop:
        return "nothing is due"
    counts = Counter(step.effect for step in plan.steps)
    parts = [f"{count} {effect}" for effect, count in sorted(counts.items())]
    size = sum(step.size_bytes for step in plan.steps if isinstance(step, PullModel | InstallProgram))
    return f"{len(plan.steps)} steps: {', '.join(parts)}" + (
        f"; up to {size:,} bytes come to the hosts" if size else ""
    )
