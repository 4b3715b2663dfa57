"""Observing the hosts of a site from a command of ours: pyinfra's API in this process, read-only.

A process that calls this patches the standard library for gevent first (`lab.cli` does), else hosts answer one
after the other.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import gevent
from pyinfra import logger
from pyinfra.api import Config, Host, Inventory, State
from pyinfra.api.exceptions import ConnectError, PyinfraError
from pyinfra.context import ctx_host, ctx_inventory, ctx_state
from pyinfra_cli.inventory import make_inventory_from_files  # type: ignore[import-untyped]
from pyinfra_cli.log import setup_logging  # type: ignore[import-untyped]

from facts.needs import Looks, looks_for, observation
from fleet.desired import DesiredSpark
from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.roster import Roster
from lab.command import Failed, Refused, is_interrupt, said
from lab.site import read_roster


def roster_of(inventory: str) -> Roster:
    """The roster of an inventory; raises Failed with every complaint. No host is contacted."""
    if not Path(inventory).is_file():
        wrong = f"{inventory or '--inventory'}: expected an inventory file, found {_other_than_file(inventory)}"
        raise Failed(f"{wrong}; name one with -i or SPARKS_INVENTORY")
    try:
        return read_roster(inventory)[0]
    except PyinfraError as error:
        raise Failed(str(error)) from error


def _other_than_file(path: str) -> str:
    if not path or not Path(path).exists():
        return "none"
    return "a folder" if Path(path).is_dir() else "no plain file"


def collect(
    inventory: str,
    names: Iterable[str] | None = None,
    looks: Callable[[DesiredSpark], Looks] = looks_for,
    seconds: float | None = None,
) -> dict[str, Observation]:
    """Each named host, observed at the same time as the others, in one exec channel each.

    + inventory: the inventory file; all of `lab.site`'s checks apply
    + names: enrolled Sparks; all of them where none are given
    + looks: what to ask a Spark, by section of its observation
    + seconds: how long each has for its connection and its answer together; None where without end

    A host that does not answer has an observation whose every section says why. Raises Failed, before any
    host is contacted, for a site that cannot be and for a name that the roster does not enrol.
    """
    roster = roster_of(inventory)
    wanted = tuple(dict.fromkeys(roster.enrolled if names is None else names))
    _are_enrolled(wanted, roster, inventory)
    hosts = hosts_of(inventory, wanted)
    asked = {name: gevent.spawn(_asked, hosts[name], looks(roster.desired_for(name)), seconds) for name in wanted}
    try:
        gevent.joinall(list(asked.values()), raise_error=True)
    finally:
        for name in wanted:
            with suppress(Exception):
                hosts[name].disconnect()
    return {name: greenlet.get() for name, greenlet in asked.items()}


@contextmanager
def connected(inventory: str, *names: str) -> Iterator[list[Host]]:
    """Enrolled Sparks, each connected; raises Failed where one is none, and Refused where one does not answer."""
    _are_enrolled(names, roster_of(inventory), inventory)
    hosts = list(hosts_of(inventory, names).values())
    try:
        silent = [unseen(host.name, why).blind for host in hosts if (why := connect(host)) is not None]
        if silent:
            raise Refused.of(*filter(None, silent))
        yield hosts
    finally:
        for host in hosts:
            with suppress(Exception):
                host.disconnect()


def _are_enrolled(names: Iterable[str], roster: Roster, inventory: str) -> None:
    for name in names:
        if name not in roster.enrolled:
            enrolled = ", ".join(roster.enrolled) or "none at all"
            raise Failed(f"{name}: expected an enrolled spark of {inventory}, one of {enrolled}, found none")


def hosts_of(inventory: str, names: Iterable[str]) -> dict[str, Host]:
    """These hosts of an inventory file, read as pyinfra's own command reads it; none is connected yet."""
    wanted = tuple(names)
    found = state_of(inventory, wanted).inventory
    return {name: found.get_host(name) for name in wanted}


def state_of(inventory: str, names: Iterable[str], override_data: Mapping[str, str] | None = None) -> State:
    """pyinfra's state of a run on these hosts of an inventory file; none is connected yet.

    + override_data: what `--data` is on pyinfra's own command line

    Raises Failed for an inventory that cannot be read, and for one without a host for each name: `lab.site` says that
    too, but nothing makes an inventory call it.
    """
    _log_once()
    state = State()
    ctx_state.set(state)
    try:
        made = make_inventory_from_files(inventory, override_data=dict(override_data or {}), cwd=str(Path.cwd()))
    except PyinfraError as error:
        raise Failed(str(error)) from error
    except SyntaxError as error:
        raise Failed(f"{inventory}:{error.lineno}: expected Python, found {error.msg}") from error
    except (click.ClickException, OSError, ValueError, SystemExit) as error:
        if is_interrupt(error):
            raise
        raise Failed(f"{inventory}: expected hosts, found {said(getattr(error, 'exception', error))}") from error
    ctx_inventory.set(made)
    state.init(made, Config(FAIL_PERCENT=0), initial_limit=_named(made, names, inventory))
    return state


def _named(made: Inventory, names: Iterable[str], inventory: str) -> list[Host]:
    known = {host.name: host for host in made}
    wanted = tuple(names)
    if missing := [f"{inventory}: expected a host for {name}, found none" for name in wanted if name not in known]:
        raise Failed("\n".join(missing))
    return [known[name] for name in wanted]


def _log_once() -> None:
    """pyinfra's warnings go to stderr, once each: `setup_logging` adds one more handler every time."""
    if not logger.handlers:
        setup_logging(logging.WARNING)


def connect(host: Host) -> Unobserved | None:
    """Connect to a host; None, or why it cannot be observed."""
    try:
        host.connect(show_errors=False, raise_exceptions=True)
    except ConnectError as error:
        return Unobserved(reason=f"no answer over SSH: {error.args[0]}")
    return None


def observed(host: Host, looks: Looks, silent: Unobserved | None = None) -> Observation:
    """A host through these looks.

    + silent: why it cannot be observed; None where it is connected
    """
    if silent is not None:
        return unseen(host.name, silent, looks)
    with ctx_host.use(host):
        return observation(host, host.name, looks)


def unseen(name: str, silent: Unobserved, looks: Iterable[str] = ("machine",)) -> Observation:
    """What is known of a host that cannot be observed: why not, in each of these sections."""
    return Observation(host=name, **dict.fromkeys(looks, silent))


def _asked(host: Host, looks: Looks, seconds: float | None) -> Observation:
    def ask() -> Observation:
        return observed(host, looks, connect(host))

    over = unseen(host.name, Unobserved(reason=f"no answer in {seconds or 0:g} s"), looks)
    found: Observation = gevent.with_timeout(seconds, ask, timeout_value=over)
    return found
