"""The status of a fleet as tables for a terminal: memory by account, and who holds it. Colours only repeat words."""

from collections.abc import Iterator
from io import StringIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fleet.fit.instrument import GIB
from fleet.memory import Memory
from fleet.record import Unobserved, short
from fleet.resident import Owner, Resident
from lab.map.words import fitted, printable, wrapped
from lab.status.document import SparkStatus, StatusDocument

LEAST = 88
"""Columns that the tables need; a narrower terminal wraps them."""
_NAME = 20
_COLOURS = {Owner.OURS: "green", Owner.NEIGHBOUR: "blue", Owner.UNKNOWN: "yellow"}
MEMORY = ("Spark", "total", "available", "engines", "GPU", "others", "unaccounted")
RESIDENTS = ("Spark", "resident", "runtime", "identity", "owner", "engine", "RSS", "GPU")
_WORDS = frozenset({"Spark", "resident", "runtime", "identity", "owner"})
LEGEND = (
    "GiB. engines, RSS: by the kernel; engine: by its own word; GPU: by the driver's compute-apps; "
    "-: no such figure; ?: not observed."
)


def tables(document: StatusDocument, width: int) -> str:
    """All of a status, with colours in it (`click.unstyle` takes them out).

    + width: columns of the terminal
    """
    width = max(width, LEAST)
    memory = _drawn(MEMORY, [_memory(spark) for spark in document.sparks], width)
    rows = [row for spark in document.sparks for row in _residents(spark, _NAME + width - LEAST)]
    residents = _drawn(RESIDENTS, rows, width) if rows else [_nobody(document)]
    notes = [line for spark in document.sparks for note in _notes(spark) for line in wrapped(note, width, 0, 2)]
    return "\n".join([*memory, "", *residents, "", *wrapped(LEGEND, width), *notes, ""])


def _nobody(document: StatusDocument) -> str:
    """Nothing is said of a Spark that did not answer."""
    asked = [each.host for each in document.sparks if each.silent is None]
    if not asked:
        return "no Spark was observed"
    where = "" if len(asked) == len(document.sparks) else f" of {', '.join(map(printable, asked))}"
    return f"no engine, and nobody on the GPU{where}"


def _drawn(columns: tuple[str, ...], rows: list[tuple[str, ...]], width: int) -> list[str]:
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        drawn.add_column(name, justify="left" if name in _WORDS else "right", no_wrap=True)
    for row in rows:
        drawn.add_row(*row)
    out = StringIO()
    Console(file=out, width=width, force_terminal=True, color_system="standard", highlight=False).print(drawn)
    return [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]


def _memory(spark: SparkStatus) -> tuple[str, ...]:
    name, ledger, memory = escape(fitted(spark.host, 20)), spark.ledger, spark.ledger.memory
    if spark.silent is not None:
        return (name, "[red]no answer[/]")
    known = (memory.total_bytes, memory.available_bytes) if isinstance(memory, Memory) else (memory, memory)
    accounts = (ledger.engines_bytes, ledger.compute_apps_bytes, ledger.others_bytes, spark.unaccounted_bytes)
    return (name, *map(_amount, (*known, *accounts)))


def _residents(spark: SparkStatus, room: int) -> Iterator[tuple[str, ...]]:
    name = escape(fitted(spark.host, 12))
    if isinstance(spark.ledger.residents, Unobserved):
        if spark.silent is None:
            yield (name, "[red]not observed[/]")
        return
    for resident in spark.ledger.residents:
        yield (name, *_resident(resident, room))
        name = ""


def _resident(resident: Resident, room: int) -> tuple[str, ...]:
    held, owner = resident.held, resident.owner
    orphan = " [red](orphan)[/]" if resident.orphan else ""
    return (
        escape(fitted(resident.name, room - (9 if orphan else 0))) + orphan,
        resident.runtime or "-",
        _identity(resident),
        f"[{_COLOURS[owner]}]{owner}[/]",
        *map(_amount, (held.engine_bytes, held.rss_bytes, held.compute_apps_bytes)),
    )


def _identity(resident: Resident) -> str:
    """The digest of what is served where that is known, else of what serves: people compare twelve digits by eye."""
    digest = resident.artifact_digest or (resident.identity.content_digest if resident.identity else None)
    return digest.removeprefix("sha256:")[:12] if digest else "-"


def _amount(amount: int | Unobserved | None) -> str:
    if amount is None:
        return "-"
    return "?" if isinstance(amount, Unobserved) else f"{amount / GIB:.1f}"


def _notes(spark: SparkStatus) -> Iterator[str]:
    """Why something is missing, in words."""
    if spark.silent is not None:
        yield printable(f"{spark.host}: {spark.silent}")
        return
    for unseen in spark.ledger.unobserved:
        yield printable(short(f"{spark.host} {unseen.part}: not observed: {unseen.reason}"))
