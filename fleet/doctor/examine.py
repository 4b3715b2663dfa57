"""All that is to say of a host, of a site and of what a controller keeps. Pure."""

from collections.abc import Iterator

from fleet.doctor.check import Host, HostCheck, Site
from fleet.doctor.checks_bandwidth import BANDWIDTH, Measured
from fleet.doctor.checks_receipts import RECEIPTS, Kept
from fleet.doctor.checks_together import TOGETHER, Together
from fleet.doctor.finding import Finding, in_order
from fleet.doctor.planned import REFUSED, planned
from fleet.doctor.registry import HOST_CHECKS, SITE_CHECKS
from fleet.doctor.unobserved import unobserved
from fleet.record import Unobserved


def examine(asked: Host) -> tuple[Finding, ...]:
    """Everything about one Spark. A check whose sections were not all observed says nothing: the section does."""
    blind = tuple(unobserved(asked))
    if asked.seen.blind:
        return blind
    reasons = {each.found for each in blind}
    found = [*blind, *(each for each in planned(asked) if not _is_told(each, reasons))]
    for check in HOST_CHECKS:
        if _can_be_asked(check, asked):
            found += check.findings(asked, asked.desired.name)
    return in_order(found)


def examine_site(asked: Site) -> tuple[Finding, ...]:
    """Everything about a roster and how its hosts are reached."""
    return in_order(each for check in SITE_CHECKS for each in check.findings(asked))


def examine_kept(asked: Kept) -> tuple[Finding, ...]:
    """Everything about receipts."""
    return in_order(each for check in RECEIPTS for each in check.findings(asked))


def examine_together(asked: Together) -> tuple[Finding, ...]:
    """Everything about Sparks that must be alike."""
    return in_order(each for check in TOGETHER for each in check.findings(asked))


def examine_measured(asked: Measured) -> tuple[Finding, ...]:
    """Everything about measured rails."""
    return in_order(each for check in BANDWIDTH for each in check.findings(asked))


def wanted_sections() -> Iterator[str]:
    """Every section that a check rests on."""
    for check in HOST_CHECKS:
        yield from check.sections


def _can_be_asked(check: HostCheck, asked: Host) -> bool:
    return not any(isinstance(getattr(asked.seen, section), Unobserved) for section in check.sections)


def _is_told(finding: Finding, reasons: set[str]) -> bool:
    """The planner refuses what it could not see; each such section is a finding of its own already."""
    return finding.id == f"{REFUSED}unobserved" and finding.found in reasons
