"""A site: an inventory file and the group_data beside it, validated before any host is contacted.

pyinfra 3.10 ends with status 0 when `--limit` matches nothing, and goes on without hosts that did not
answer. A site is an exact target: both are errors here.
"""

import re
import runpy
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import pyinfra
from pyinfra import state
from pyinfra.api import State
from pyinfra.api.exceptions import PyinfraError
from pyinfra.api.state import StateStage
from pyinfra.context import ctx_state

from fleet.approval import named
from fleet.fit.admission import NOBODY
from fleet.roster import Roster
from fleet.roster_error import RosterError
from lab.command import is_interrupt, said
from lab.evidence.store import admission_in
from lab.group_data import group_data_of, written_twice
from lab.interrupt import active, interruptible, tell
from lab.place import EVIDENCE, RECEIPTS
from lab.receipts.drained import drained_in
from lab.transport import transport

_PLACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*:[0-9]{1,5}")
"""An IPv4 address or a name, and a port."""

Hosts = list[tuple[str, dict[str, Any]]]

_PATIENCE = {"timeout": 45, "banner_timeout": 45, "auth_timeout": 45}
"""Seconds for each part of a login. pyinfra gives the key exchange 10: a Spark at full load needs more (virtual
ones on a host at load 14 did, 2026-11-29). A port that is closed answers at once all the same."""


def site(inventory: str, hosts: Mapping[str, Mapping[str, Any]], known_hosts: str | Path) -> Hosts:
    """The hosts of an inventory file with their connection data.

    + inventory: the inventory's `__file__`; its stem names the group_data file
    + hosts: connection data (`ssh_hostname`, `ssh_user`, …) by the name of an enrolled Spark; `ssh_also_at` has
      places, as `["192.0.2.7:2205"]`, where it may answer once its management address has changed
    + known_hosts: the file that pins this site's host keys; a key that is not in it is refused

    Raises PyinfraError, one line per complaint, for a roster that cannot be, for hosts that are not
    exactly the enrolled Sparks, for a limit that matches nothing, and for an approval that names no digest.
    """
    roster, source = read_roster(inventory)
    _same_sparks(roster, source, hosts, inventory)
    _places_are_whole(hosts, inventory)
    _limits_match(hosts, inventory)
    _plans_are_digests()
    _stop_on_any_failure()
    _interrupt_is_no_success()
    known = admission_in(EVIDENCE.beside(inventory)) if _declares_memory(roster) else NOBODY
    pinned = {
        "ssh_known_hosts_file": str(Path(known_hosts).resolve()),
        "ssh_strict_host_key_checking": "yes",
        "ssh_paramiko_connect_kwargs": {"transport_factory": transport, **_PATIENCE},
        "drained": sorted(drained_in(RECEIPTS.beside(inventory))),
        "evidenced": known.evidence,
        "refuted": known.refuted,
    }
    return [(name, {**pinned, **data}) for name, data in hosts.items()]


def _declares_memory(roster: Roster) -> bool:
    return any(deployment.ollama.demands for deployment in roster.deployments.values())


def read_roster(inventory: str) -> tuple[Roster, str]:
    """The roster of an inventory and the name of its file; raises PyinfraError with every complaint."""
    path = group_data_of(Path(inventory))
    try:
        values = runpy.run_path(str(path))
        twice = [f"{path}:{line}: expected each key once, found {key} again"
                 for line, key in written_twice(path.read_text(encoding="utf-8"))]  # fmt: skip
    except SyntaxError as error:
        line = f":{error.lineno}" if error.lineno else ""
        raise PyinfraError(f"{path}{line}: expected Python values, found {error.msg}") from error
    except (Exception, SystemExit) as error:
        if is_interrupt(error):
            raise
        raise PyinfraError(f"{path}: expected plain values, found {said(error)}") from error
    if twice:
        raise PyinfraError("\n".join(twice))
    if "roster" not in values:
        raise PyinfraError(f"{path}: roster: expected a value, found none")
    try:
        return Roster.read(values["roster"], str(path)), str(path)
    except RosterError as error:
        raise PyinfraError(str(error)) from error


def _same_sparks(roster: Roster, source: str, hosts: Mapping[str, Any], inventory: str) -> None:
    enrolled = set(roster.enrolled)
    lines = [
        f"{inventory}: {name}: expected a spark that {source} enrols, found it "
        + ("only named there" if name in roster.sparks else "unknown there")
        for name in sorted(set(hosts) - enrolled)
    ]
    lines += [
        f"{inventory}: expected a host for {name}, which {source} enrols, found none"
        for name in sorted(enrolled - set(hosts))
    ]
    if lines:
        raise PyinfraError("\n".join(lines))


def _places_are_whole(hosts: Mapping[str, Mapping[str, Any]], inventory: str) -> None:
    lines = [
        f"{inventory}: {name}: ssh_also_at: expected a list of addresses with their ports, as 192.0.2.7:2205, "
        f"found {places!r}"
        for name, data in hosts.items()
        if (places := data.get("ssh_also_at")) is not None
        and not (isinstance(places, list | tuple) and all(_PLACE.fullmatch(str(place)) for place in places))
    ]
    if lines:
        raise PyinfraError("\n".join(lines))


def _limits_match(hosts: Mapping[str, Any], inventory: str) -> None:
    """Refuses `--limit` and `--exclude` that leave no host: pyinfra would do nothing and call it success."""
    context = click.get_current_context(silent=True)
    params = context.params if context else {}
    group = Path(inventory).stem

    def matches(pattern: str) -> set[str]:
        return set(hosts) if pattern in (group, "all") else {name for name in hosts if fnmatch(name, pattern)}

    left = set(hosts)
    if params.get("limit"):
        for pattern in params["limit"]:
            if not matches(pattern):
                raise PyinfraError(f"--limit {pattern}: expected one of {', '.join(sorted(hosts))}, found no match")
        left = set().union(*(matches(pattern) for pattern in params["limit"]))
    for pattern in params.get("exclude") or ():
        if not matches(pattern):
            raise PyinfraError(f"--exclude {pattern}: expected one of {', '.join(sorted(hosts))}, found no match")
        left -= matches(pattern)
    if not left:
        raise PyinfraError(f"{inventory}: expected at least one host, found none left by --limit and --exclude")


def _plans_are_digests() -> None:
    """Refuses a `--data plan=…` that can be no digest. Whether it is a plan's, only looking at the hosts tells."""
    context = click.get_current_context(silent=True)
    for each in (context.params.get("data") if context else None) or ():
        name, _, text = each.partition("=")
        if name == "plan":
            try:
                named(text)
            except ValueError as error:
                raise PyinfraError(f"--data plan: {error}; no host was asked") from error


def _stop_on_any_failure() -> None:
    """Makes a host that fails stop the run at once: no prompt, no half of a target.

    A question (`fact`, `exec`, `debug-inventory`) goes on with the hosts that answer and still exits 1.
    """
    context = click.get_current_context(silent=True)
    asked = (context.params.get("operations") or ("",))[0] if context else ""

    def should_raise(state: State) -> bool:
        if asked in ("fact", "exec", "debug-inventory"):
            return False
        names = ", ".join(sorted(host.name for host in state.failed_hosts))
        if state.current_stage == StateStage.Connect:
            raise PyinfraError(f"{names}: expected an answer over SSH, found none; nothing was written")
        return True

    if ctx_state.isset():
        state.should_raise_failed_hosts = should_raise


def _interrupt_is_no_success() -> None:
    """Ends an interrupted run with status 130: pyinfra's own handler says 0 (3.10.0). `sparks` has its own way."""
    context = click.get_current_context(silent=True)
    if pyinfra.is_cli and context and active() is None:
        # What is left of the process after this run must not end with pyinfra's status either.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        context.with_resource(_told())


@contextmanager
def _told() -> Iterator[None]:
    """Stops at a signal as `sparks` does, and says what becomes of the hosts."""
    with interruptible() as stop:
        try:
            yield
        finally:
            if stop.received:
                tell("interrupted; what a host was doing goes on to its end, and the next run goes on from there")
