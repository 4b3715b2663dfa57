"""`sparks fit` of an assembly: the arithmetic of every rank, by each instrument apart."""

from collections.abc import Callable, Iterator, Mapping

import click

from facts.needs import Looks, ledger_looks, memory_looks
from fleet.assembly_fit import AssemblyFit, Holder, Judged, Said, assembly_fit
from fleet.desired import DesiredSpark
from fleet.fit.instrument import Instrument, gib
from fleet.fit.memory import RankFit
from fleet.fit.readings import Readings
from fleet.observation import Observation
from fleet.record import Unobserved, short
from fleet.roster import Roster
from lab.command import REFUSED, Failed
from lab.document import put_document
from lab.fit_table import HEAD, account, row, to_spare
from lab.map.words import printable
from lab.output import STANDARD, put
from lab.plans.files import read_record
from lab.receipts.view import moment
from lab.table import table

See = Callable[[tuple[str, ...], Callable[[DesiredSpark], Looks]], Mapping[str, Observation]]
"""Looks at some Sparks, each through the looks that it is given."""


def fit_assembly(roster: Roster, name: str, see: See, readings: str | None, as_json: bool) -> None:
    """Print the fit of an assembly of the roster; ends with status 3 where it does not fit, or that cannot be said."""
    assembly = roster.assemblies[name]
    cluster = roster.clusters[assembly.cluster]
    every = (*cluster.sparks, *assembly.spares)
    told = None if readings is None else readings_in(readings, every)
    ours = tuple(each for each in every if each in roster.enrolled)
    found = see(ours, lambda desired: ledger_looks(desired) | memory_looks()) if ours else {}
    seen = {host: (roster.desired_for(host), each) for host, each in found.items()}
    fit = assembly_fit(name, assembly, cluster, seen, roster.memory, told)
    if as_json:
        put_document(fit)
    else:
        put(STANDARD, "\n".join(_lines(fit)) + "\n")
    if fit.answer is not Said.FITS:
        raise SystemExit(REFUSED)


def readings_in(path: str, hosts: tuple[str, ...]) -> Readings:
    """What stands in a file of readings; raises Failed for one that is none, or of Sparks that are not asked about."""
    found = read_record(path, Readings)
    other = next((each.host for each in found.readings if each.host not in hosts), None)
    if other is not None:
        raise Failed(f"{path}: expected readings of {', '.join(hosts)}, found one of {other}")
    return found


def _lines(fit: AssemblyFit) -> Iterator[str]:
    yield click.style(f"{fit.name}: {fit.answer}", bold=True)
    yield f"  {fit.assembly.engine}, {fit.split}: {', '.join(fit.hosts)}"
    yield from (f"  {line}" for each in fit.refusals for line in str(each).split("\n"))
    for each in fit.by:
        yield ""
        yield from (f"  {line}" for line in _judged(fit, each))
    if fit.holders:
        yield ""
        yield from (f"  {line}" for line in _holders(fit.holders))


def _judged(fit: AssemblyFit, found: Judged) -> Iterator[str]:
    when = "" if found.read_at is None else f", read {moment(found.read_at)}"
    yield click.style(f"by {found.instrument}{when}: {found.answer}", bold=True)
    yield from (f"  {line}" for each in found.refusals for line in str(each).split("\n"))
    if found.need_bytes is not None and found.margin_bytes is not None:
        rows = [("SPARK", *HEAD), *(line for rank in found.ranks for line in _rank(fit, found, rank))]
        yield from (f"  {line}" for line in table(rows))
        least = f"{gib(abs(found.margin_bytes))} {'to spare' if found.margin_bytes >= 0 else 'missing'}"
        yield f"  together: {gib(found.need_bytes)} on {len(found.ranks)}; on the one with the least {least}"
    yield from (f"  would fit: {each.change}; {gib(each.margin_bytes)} to spare" for each in found.ways)
    if found.ranks and found.refusals and not found.ways:
        yield "  would fit: no change of context, slots, draft or Sparks is enough"


def _rank(fit: AssemblyFit, found: Judged, rank: RankFit) -> Iterator[tuple[str, ...]]:
    policy, device = fit.policy, rank.device
    rows = [*account(rank.lines, rank.need_bytes, device, policy), to_spare(rank.margin_bytes(policy), "room - need")]
    if found.fraction is not None:
        word = "decided" if fit.assembly.fraction is not None else "resolved: the floor over ranks"
        taken = policy.share_bytes(found.fraction, device.total.amount_bytes)
        rows.append(row("", "fraction", taken, f"{found.fraction}, {word}; of {device.total.amount_bytes:,} B"))
    yield (rank.host, *rows[0])
    yield from (("", *each) for each in rows[1:])


def _holders(holders: tuple[Holder, ...]) -> Iterator[str]:
    """What would have to go first, if anything: it is in no row above, for nobody has said what it gives back."""
    yield "held there now; what each would give back, no instrument has told:"
    for each in holders:
        held = each.resident.held
        amounts = {
            Instrument.ENGINE: held.engine_bytes,
            Instrument.RSS: held.rss_bytes,
            Instrument.COMPUTE_APPS: held.compute_apps_bytes,
        }
        told = ", ".join(
            f"{'not observed' if isinstance(amount, Unobserved) else gib(amount)} by {by}"
            for by, amount in amounts.items() if amount is not None
        )  # fmt: skip
        yield short(printable(f"  {each.host} {each.resident.name} ({each.resident.owner}): {told}"))
