"""`sparks fit`: does a deployment fit, by which arithmetic, and what would make it fit."""

from collections.abc import Callable, Iterator, Mapping

import click

from facts.needs import Looks, memory_looks, ollama_looks
from fleet.desired import DesiredSpark
from fleet.fit.instrument import gib
from fleet.observation import Observation
from fleet.ollama.explain import Answer, HostFit, explained
from fleet.record import Record, short
from fleet.roster import Roster
from fleet.target import Target
from lab.collect import collect, roster_of
from lab.command import REFUSED, Failed, inventory_option, timeout_option
from lab.converge import target_in
from lab.document import put_document
from lab.evidence.after import served_on, serving
from lab.evidence.store import Store, read_store, tell_broken
from lab.fit_assembly import fit_assembly
from lab.fit_table import HEAD, account, to_spare
from lab.map.words import printable
from lab.output import STANDARD, put
from lab.place import EVIDENCE
from lab.plans.seen import kept
from lab.receipts.command import json_option
from lab.table import table

_GOOD = (Answer.FITS, Answer.LOADED)


class FitDocument(Record):
    """`sparks fit --json`."""

    target: Target
    hosts: tuple[HostFit, ...]


@click.command()
@click.argument("target")
@json_option
@click.option("--from", "sources", multiple=True, metavar="FILE",
              help="Go by what `sparks observe` has kept, and contact no host; once for each file.")  # fmt: skip
@click.option("--readings", metavar="FILE", help="Of an assembly: what other instruments have said is free, as JSON.")
@timeout_option
@EVIDENCE.option
@inventory_option
def fit(
    target: str,
    as_json: bool,
    sources: tuple[str, ...],
    readings: str | None,
    seconds: float,
    evidence: str | None,
    inventory: str,
) -> None:
    """Say whether TARGET, a deployment, a Spark or an assembly, fits now, by which arithmetic, and what would help.

    Hosts are only looked at. Exit status 0: it fits, or is loaded; 3: it does not, or that cannot be said; 1: failed.
    """
    roster = roster_of(inventory)

    def see(hosts: tuple[str, ...], looks: Callable[[DesiredSpark], Looks]) -> Mapping[str, Observation]:
        return kept(roster, hosts, sources) if sources else collect(inventory, hosts, looks, seconds)

    if target in roster.assemblies:
        fit_assembly(roster, target, see, readings, as_json)
        return
    if readings is not None:
        known = ", ".join(sorted(roster.assemblies)) or "none"
        raise Failed(printable(f"--readings: expected an assembly of the roster ({known}), found {target}"))
    found = target_in(roster, target)
    store = read_store(EVIDENCE.folder(evidence, inventory))
    asked = serving(roster, found)
    seen = see(asked, _looks)
    hosts = tuple(_explained(roster, host, seen[host], store) for host in asked)
    document = FitDocument(target=found, hosts=hosts)
    if as_json:
        put_document(document)
    else:
        put(STANDARD, _text(document))
    tell_broken(EVIDENCE.folder(evidence, inventory), store)
    if not all(each.answer in _GOOD for each in hosts):
        raise SystemExit(REFUSED)


def _looks(desired: DesiredSpark) -> Looks:
    return memory_looks() | ({} if desired.ollama is None else ollama_looks(desired.ollama))


def _explained(roster: Roster, host: str, seen: Observation, store: Store) -> HostFit:
    desired = roster.desired_for(host)
    name = host if desired.ollama is None else served_on(roster, host)
    return explained(name, desired.ollama, seen, desired.memory_policy, store.evidence)


def _text(document: FitDocument) -> str:
    return "\n".join(line for each in document.hosts for line in (*_host(each), "")).rstrip() + "\n"


def _host(fit: HostFit) -> Iterator[str]:
    yield click.style(f"{fit.host}: {fit.answer}", bold=True)
    yield from (f"  {line}" for each in fit.refusals for line in str(each).split("\n"))
    if fit.device is None or fit.room_bytes is None:
        return
    yield from (f"  {line}" for line in table(list(_rows(fit, fit.room_bytes))))
    yield from _beside(fit)
    yield from (f"  would fit: {each.change}; {gib(each.margin_bytes)} to spare" for each in fit.ways)
    if fit.answer is Answer.SHORT and not fit.ways:
        yield "  would fit: no change of context, slots or draft is enough"
    yield from _evidence(fit)


def _rows(fit: HostFit, room: int) -> Iterator[tuple[str, ...]]:
    assert fit.device is not None, "expected a device that was read"
    yield HEAD
    yield from account(fit.lines, fit.need_bytes, fit.device, fit.policy)
    if fit.answer is not Answer.LOADED:
        yield to_spare(room - fit.need_bytes, "room - need")


def _beside(fit: HostFit) -> Iterator[str]:
    """What is loaded, by another instrument than what is free, and so in no row of the table."""
    if fit.loaded:
        held = ", ".join(f"{printable(name)} {reading}" for name, reading in fit.loaded.items())
        yield f"  loaded now: {held}"
    said = sum(reading.amount_bytes for reading in fit.loaded.values())
    if fit.answer is Answer.LOADED and said > fit.need_bytes:
        yield f"  the engine's word is {gib(said - fit.need_bytes)} more than the roster declares"
    if fit.answer is Answer.NOT_YET_KNOWN:
        yield "  what goes gives back what nobody has measured; to see it first: sparks drain " + fit.host + " --unload"


def _evidence(fit: HostFit) -> Iterator[str]:
    if fit.evidence is not None:
        yield short(f"  evidence: {fit.evidence}, of exactly this")
    elif fit.refuted is not None:
        yield short(f"  evidence: {fit.refuted}, exactly this did not fit: {printable(fit.said or '')}")
    elif fit.untold is not None:
        yield f"  evidence: not known: {printable(str(fit.untold))}"
    elif fit.answer is Answer.LOADED:
        yield f"  evidence: none of exactly this; sparks evidence record {fit.host} keeps some"
    else:
        yield f"  evidence: none of exactly this; sparks converge {fit.host} --admit-first tries it for the first time"
    for each in fit.others:
        differs = ", ".join(each.differs)
        yield short(f"    {each.evidence} of {each.measured_at:%F %T} UTC is of another: {differs}")
