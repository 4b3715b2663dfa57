"""Does an assembly fit: every rank and the whole set, by each instrument that was asked, and what would help. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum

from fleet.assembly import Assembly
from fleet.candidate.incompatible import unreachable
from fleet.candidate.legs import Transport
from fleet.cluster import Cluster
from fleet.desired import DesiredSpark
from fleet.fit.advice import Asked, Way, ways
from fleet.fit.demand import Split
from fleet.fit.instrument import Device, Instrument
from fleet.fit.memory import MemoryFit, RankFit, memory_fit
from fleet.fit.observed import device
from fleet.fit.policy import Policy
from fleet.fit.readings import Readings
from fleet.instant import Instant
from fleet.ledger import residency
from fleet.observation import Observation
from fleet.record import Record, Unobserved
from fleet.refusal import Refusal
from fleet.resident import Resident

Seen = Mapping[str, tuple[DesiredSpark, Observation]]
"""Each Spark that may be looked at, by name."""


class Said(StrEnum):
    """Does it fit?"""

    FITS = "fits"
    SHORT = "does not fit"
    BLIND = "cannot be said"
    """Something could not be read."""

    @classmethod
    def of(cls, refusals: tuple[Refusal, ...]) -> "Said":
        """The answer that these reasons against it give."""
        if any(each.code == "unobserved" for each in refusals):
            return cls.BLIND
        return cls.SHORT if refusals else cls.FITS


class Judged(Record):
    """The whole assembly by one instrument: nothing in it is of another."""

    instrument: Instrument
    answer: Said
    ranks: tuple[RankFit, ...] = ()
    """Empty where a Spark could not be read, or the model cannot be split like that."""
    need_bytes: int | None = None
    """Of all ranks together."""
    margin_bytes: int | None = None
    """What is left on the rank with the least, within all that the engine is told."""
    fraction: Decimal | None = None
    """What the engine is told to take of each device: as decided, or as this instrument resolves it."""
    read_at: Instant | None = None
    """When the oldest of its readings was taken; None for what we have read ourselves, just now."""
    refusals: tuple[Refusal, ...] = ()
    ways: tuple[Way, ...] = ()
    """What would make it fit."""


class Holder(Record):
    """Who holds memory on a Spark of it now. What that gives back, no instrument has told."""

    host: str
    resident: Resident


class AssemblyFit(Record):
    """All that can be said of an assembly."""

    name: str
    answer: Said
    """By all of them, and all else that is known."""
    assembly: Assembly
    hosts: tuple[str, ...]
    """In the order of their ranks."""
    split: Split
    policy: Policy
    by: tuple[Judged, ...]
    """What each instrument says; it fits where all of them say so."""
    refusals: tuple[Refusal, ...] = ()
    """Why it cannot be served there, whatever is free."""
    holders: tuple[Holder, ...] = ()


def assembly_fit(
    name: str, assembly: Assembly, cluster: Cluster, seen: Seen, policy: Policy, readings: Readings | None = None
) -> AssemblyFit:
    """The fit of an assembly.

    + seen: a Spark that is not in it is one that may not be looked at
    + readings: what other instruments than the hosts' kernels have said
    """
    hosts, spares = cluster.sparks, assembly.spares
    found = {each: device(seen[each][1]) if each in seen else _ONLY_NAMED for each in (*hosts, *spares)}
    split = assembly.split(len(hosts))
    by = [_judged(Instrument.MEM_AVAILABLE, found, assembly, split, policy)]
    if readings is not None:
        for instrument in readings.instruments:
            told = {each: readings.device(each, instrument) for each in found}
            judged = _judged(instrument, told, assembly, split, policy)
            by.append(judged.replaced(read_at=readings.read_at(instrument)))
    against = tuple(each for host in hosts if host in seen for each in _against(assembly, seen[host][1]))
    return AssemblyFit(
        name=name,
        answer=Said.of((*against, *(refusal for each in by for refusal in each.refusals))),
        assembly=assembly,
        hosts=hosts,
        split=split,
        policy=policy,
        by=tuple(by),
        refusals=against,
        holders=tuple(each for host in hosts if host in seen for each in _holders(host, *seen[host])),
    )


_ONLY_NAMED = Unobserved(reason="it is only named in the roster, and so never looked at")


def _judged(
    instrument: Instrument, found: Mapping[str, Device | Unobserved], assembly: Assembly, split: Split, policy: Policy
) -> Judged:
    devices = tuple(found.items())
    asked = Asked(
        (assembly.demand,), split, devices[: split.ranks], policy, devices[split.ranks :], assembly.limits
    )  # fmt: skip
    fit = memory_fit(asked.demands, split, asked.devices, policy)
    if not isinstance(fit, MemoryFit):
        answer = Said.of(fit)
        return Judged(
            instrument=instrument, answer=answer, refusals=fit, ways=() if answer is Said.BLIND else ways(asked)
        )  # fmt: skip
    refusals = assembly.limits.refusals(fit)
    return Judged(
        instrument=instrument,
        answer=Said.of(refusals),
        ranks=fit.ranks,
        need_bytes=sum(each.need_bytes for each in fit.ranks),
        margin_bytes=assembly.limits.margin_bytes(fit),
        fraction=assembly.limits.told(fit),
        refusals=refusals,
        ways=ways(asked) if refusals else (),
    )


def _against(assembly: Assembly, seen: Observation) -> list[Refusal]:
    """What is known against how the ranks reach each other, under the kernel that runs."""
    if assembly.transport is None:
        return []
    kernel = seen.kernel
    if isinstance(kernel, Unobserved):
        unseen = None if seen.blind else seen.unobserved("kernel")
        return [unseen] if unseen else []
    words = {str(each) for each in kernel.command_line.parameters}
    subject = f"{seen.host} {assembly.transport} under {kernel.release}"
    return [
        Refusal(code="transport_unavailable", subject=subject, expected=each.remedy, found=each.told)
        for each in unreachable(Transport(assembly.transport), kernel.release, words)
    ]


def _holders(host: str, desired: DesiredSpark, seen: Observation) -> list[Holder]:
    residents = residency(desired, seen).residents
    return [] if isinstance(residents, Unobserved) else [Holder(host=host, resident=each) for each in residents]
