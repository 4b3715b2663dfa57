"""`sparks adopt`: the roster rows that declare what is there already, of a host or of another tool's map."""

from pathlib import Path
from pprint import pformat
from typing import Any

import click
import yaml

from facts.needs import document_looks
from fleet.adoption.node_map import read_node_map
from fleet.adoption.rows import Rows, adoption
from fleet.refusal import Refusal
from fleet.roster_error import RosterError
from lab.collect import collect, roster_of
from lab.command import Failed, Refused, inventory_option, said
from lab.document import put_document

_CONSTRUCTORS = (ValueError, AttributeError, TypeError, RecursionError)
"""What PyYAML lets through (6.0): a date that is none, a number of too many digits, a list a thousand deep."""


@click.command()
@click.argument("what", metavar="HOST | fabric")
@click.option("--from", "source", metavar="FILE", help="With `fabric`: a node map of spark-ds41f or sparknet.")
@click.option("--pool", metavar="NETWORK", help="With a node map that has no subnets: where to take them from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of Python for the group_data file.")
@inventory_option
def adopt(what: str, source: str | None, pool: str | None, as_json: bool, inventory: str) -> None:
    """Print the roster rows that declare what HOST has on its fabric ports, exactly as it is; nothing is changed.

    The other enrolled hosts are looked at too, for the far ends. What no row can say is told, and the exit status
    is then 3. `sparks adopt fabric --from FILE` prints a whole roster from another tool's map.
    """
    if source is not None:
        if what != "fabric":
            raise click.UsageError(f"--from: expected it with `sparks adopt fabric`, found it with {what}")
        _of_map(source, pool, as_json)
        return
    if pool is not None:
        raise click.UsageError("--pool: expected it with --from, found it alone")
    _of_host(what, as_json, inventory)


def _of_host(host: str, as_json: bool, inventory: str) -> None:
    roster = roster_of(inventory)
    if host not in roster.enrolled:
        known = ", ".join(roster.enrolled) or "none at all"
        raise Failed(f"{host}: expected an enrolled spark of {inventory}, one of {known}, found none")
    rows = adoption(roster, host, collect(inventory, looks=lambda _: document_looks()))
    if isinstance(rows, Refusal):
        raise Refused.of(rows)
    if as_json:
        put_document(rows.values)
    else:
        click.echo(rows.text)
    _tell(rows)


def _tell(rows: Rows) -> None:
    for note in rows.notes:
        click.echo(note, err=True)
    if rows.problems:
        raise Refused("\n".join(["what no row can say:", *(f"  {each}" for each in rows.problems)]))


def _of_map(source: str, pool: str | None, as_json: bool) -> None:
    try:
        roster = read_node_map(_read(Path(source)), source, pool)
    except RosterError as error:
        raise Failed(str(error)) from error
    if as_json:
        put_document(roster)
    else:
        click.echo(f"roster = {pformat(roster, width=118, sort_dicts=False)}".replace("'", '"'))


def _read(path: Path) -> Any:
    """JSON, or YAML, of which JSON is a part; raises Failed with the place where it is neither."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "other bytes"
        raise Failed(f"{path}: expected a node map in JSON or YAML, found {reason}") from error
    except _CONSTRUCTORS as error:
        raise Failed(f"{path}: expected a node map in JSON or YAML, found {said(error)}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise Failed(f"{path}{place}: expected JSON or YAML, found a syntax error") from error
