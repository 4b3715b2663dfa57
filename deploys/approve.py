"""Approval on pyinfra's own command line: `--data plan=sha256:…[,sha256:…] -y`."""

from collections.abc import Sequence
from typing import Any

import click
from pyinfra.api import State
from pyinfra.api.exceptions import PyinfraError

from deploys.maker import maker
from fleet.approval import Approval, chosen, named, not_approved
from fleet.instant import utc_now
from fleet.plan import Plan
from fleet.refusal import Refusal
from operations.approved import Approved, Watcher, bind

APPROVED_SECONDS = 3600
"""Of an approval that is given where the run is started."""


def approve_named(state: State, plans: Sequence[Plan]) -> None:
    """Bind a run to the plans whose digests were named for it.

    Raises PyinfraError where those are not its plans now, or where it is about to execute and none was named. A run in
    which nothing is due needs no approval.
    """
    digests = _named(state)
    if all(each.is_noop for each in plans):
        return
    if digests:
        found = chosen(digests, plans)
        if isinstance(found, tuple):
            raise _nothing_written(found)
        approve(state, {host: _now(plan) for host, plan in found.items()})
    elif _is_about_to_execute(state):
        hosts = {host for each in plans for host in each.target.hosts}
        raise _nothing_written([not_approved(host) for host in sorted(hosts)])


def approve(state: State, approved: dict[str, Approved], watcher: Watcher | None = None) -> None:
    """Bind a run to approved plans, by host. Raises PyinfraError where an approval is not for its plan, or is over."""
    refusals = [no for each in approved.values() if (no := each.approval.refusal(each.plan, utc_now())) is not None]
    if refusals:
        raise _nothing_written(refusals)
    bind(state, approved, watcher)


def _named(state: State) -> tuple[str, ...]:
    """The digests that were named on the command line; raises PyinfraError for anything else."""
    value: Any = state.inventory.get_override_data().get("plan")
    if value is None:
        return ()
    try:
        return named(str(value))
    except ValueError as error:
        raise PyinfraError(f"--data plan: {error}") from error


def _now(plan: Plan) -> Approved:
    return Approved(plan, Approval.of(plan, maker(), utc_now(), APPROVED_SECONDS))


def _is_about_to_execute(state: State) -> bool:
    """pyinfra detects no changes with `-y`, and then executes, but for `--dry`."""
    context = click.get_current_context(silent=True)
    return not state.should_check_for_changes() and not (context and context.params.get("dry"))


def _nothing_written(refusals: Sequence[Refusal]) -> PyinfraError:
    return PyinfraError("not approved, nothing was written\n" + "\n".join(map(str, dict.fromkeys(refusals))))
