"""What a run tells of its plans, as pyinfra tells things."""

from collections.abc import Iterable, Sequence

from pyinfra import logger

from fleet.plan import Plan
from fleet.record import short


def show_steps(plans: Iterable[Plan]) -> None:
    """Every step on every host, and what is left alone there."""
    for each in (host for found in plans for host in found.hosts):
        if not each.steps:
            logger.info(f"--> {each.host} is as desired")
        for step in each.steps:
            logger.info("--> " + short(str(step)))
        if each.memory_fit is not None:
            logger.info("--> " + short(f"{each.host} {each.memory_fit}"))
        for note in each.notes:
            logger.info(f"--> {note}")


def show_digests(plans: Sequence[Plan]) -> None:
    """The digest by which each plan is approved, where anything is due in the run at all."""
    if not all(each.is_noop for each in plans):
        for each in plans:
            where = "" if each.target.kind == "spark" else f", on {', '.join(each.target.hosts)}"
            logger.info(f"--> plan {each.digest} for {each.target}{where}")
