"""The one number that some engines are told: the fraction of a device that they may use, for all ranks the same.

One that was decided by a person is admitted or refused, rank by rank. One that is resolved is the floor over ranks.
"""

from decimal import Decimal

from fleet.fit.instrument import gib
from fleet.fit.memory import MemoryFit, RankFit
from fleet.refusal import Refusal


def decided(fraction: Decimal, fit: MemoryFit) -> tuple[Refusal, ...]:
    """Why a fraction that somebody decided is not admitted, on every rank; empty where it is."""
    policy = fit.policy
    if not policy.floor <= fraction <= policy.ceiling:
        return (_outside(fraction, fit),)
    return tuple(found for each in fit.ranks if (found := _not_admitted(fraction, fit, each)) is not None)


def resolved(fit: MemoryFit) -> Decimal | tuple[Refusal, ...]:
    """The largest fraction that every rank admits, rounded down, or why there is none that holds what must be held."""
    policy = fit.policy
    shares = (Decimal(_free(fit, each)) / each.device.total.amount_bytes for each in fit.ranks)
    fraction = min(policy.rounded(max(min(shares), Decimal(0))), policy.ceiling)
    if fraction < policy.floor:
        return (_outside(fraction, fit),)
    return decided(fraction, fit) or fraction


def _free(fit: MemoryFit, rank: RankFit) -> int:
    return rank.device.free.amount_bytes - fit.policy.reserve_bytes


def _outside(fraction: Decimal, fit: MemoryFit) -> Refusal:
    hosts = ", ".join(each.host for each in fit.ranks)
    expected = f"a fraction from {fit.policy.floor} to {fit.policy.ceiling}"
    return Refusal(code="fraction_out_of_bounds", subject=f"{hosts} memory", expected=expected, found=str(fraction))


def _not_admitted(fraction: Decimal, fit: MemoryFit, rank: RankFit) -> Refusal | None:
    device = rank.device
    taken = fit.policy.share_bytes(fraction, device.total.amount_bytes)
    subject = f"{rank.host} memory at {fraction}"
    if taken > _free(fit, rank):
        expected = f"{gib(taken)} and a reserve of {gib(fit.policy.reserve_bytes)}"
        return Refusal(
            code="fraction_not_admitted", subject=subject, expected=expected, found=f"{device.free} free"
        )  # fmt: skip
    if rank.need_bytes > taken:
        expected = f"at least {gib(rank.need_bytes)}, which it must hold"
        return Refusal(code="fraction_too_small", subject=subject, expected=expected, found=gib(taken))
    return None
