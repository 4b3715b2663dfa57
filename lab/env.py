"""`sparks env`: the transport environment of one Spark, made from what it has now."""

import click

from facts.transport import LOOKS
from fleet.cluster import Cluster, choose_cluster
from fleet.roster import Roster
from fleet.transport import transport_environment
from lab.collect import collect, roster_of
from lab.command import Failed, Refused, inventory_option
from lab.document import put_document


@click.command()
@click.argument("spark")
@click.option("--cluster", metavar="NAME", help="A cluster of the roster, where SPARK is in several.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines NAME=value.")
@inventory_option
def env(spark: str, cluster: str | None, as_json: bool, inventory: str) -> None:
    """Print the NCCL, UCX, Gloo, Ray and vLLM variables of SPARK, for `docker run --env-file` and the like."""
    roster = roster_of(inventory)
    chosen = _chosen(roster, spark, cluster, inventory)
    seen = collect(inventory, [spark], lambda _: LOOKS)[spark]
    management = roster.sparks[spark].management.interface
    outcome = transport_environment(chosen, roster.fabrics, spark, management, seen)
    if isinstance(outcome, tuple):
        raise Refused.of(*outcome)
    if as_json:
        put_document(dict(sorted(outcome.items())))
    else:
        click.echo("\n".join(f"{name}={value}" for name, value in sorted(outcome.items())))


def _chosen(roster: Roster, spark: str, cluster: str | None, inventory: str) -> Cluster:
    if spark not in roster.enrolled:
        known = ", ".join(roster.enrolled) or "none at all"
        raise Failed(f"{spark}: expected an enrolled spark of {inventory}, one of {known}, found none")
    try:
        return choose_cluster(roster.clusters, roster.fabrics, spark, cluster)
    except ValueError as error:
        raise Failed(str(error)) from error
