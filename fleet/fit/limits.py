"""What an engine is told about memory beside what it serves: how much it may take, and how much its KV cache is."""

from decimal import Decimal

from fleet.fit.fraction import decided, resolved
from fleet.fit.memory import MemoryFit, kv_pinned
from fleet.fit.needs import Count
from fleet.fit.policy import Fraction
from fleet.record import Record
from fleet.refusal import Refusal


class Limits(Record):
    """The limits of one engine, the same on all ranks."""

    takes_fraction: bool = False
    """Is it told a fraction of each device, as vLLM is?"""
    fraction: Fraction | None = None
    """The one that somebody decided; None where it is resolved, or where it takes none."""
    kv_cache_bytes: Count | None = None
    """The size of its KV cache on each rank, where it is pinned."""

    def told(self, fit: MemoryFit) -> Decimal | None:
        """The fraction that it is told; None where it takes none, or where none can be resolved."""
        if not self.takes_fraction or self.fraction is not None:
            return self.fraction
        found = resolved(fit)
        return found if isinstance(found, Decimal) else None

    def refusals(self, fit: MemoryFit) -> tuple[Refusal, ...]:
        """Every reason why it cannot be served like that: the memory's, the fraction's and the pinned KV cache's."""
        short = fit.refusals()
        pinned = kv_pinned(self.kv_cache_bytes, fit) if self.kv_cache_bytes else ()
        return tuple(dict.fromkeys((*short, *self._of_fraction(fit, bool(short)), *pinned)))

    def _of_fraction(self, fit: MemoryFit, is_short: bool) -> tuple[Refusal, ...]:
        """What is too little for what must be held is so for every fraction: only a decided one has more to say."""
        if self.fraction is not None:
            return decided(self.fraction, fit)
        found = resolved(fit) if self.takes_fraction and not is_short else ()
        return found if isinstance(found, tuple) else ()

    def margin_bytes(self, fit: MemoryFit) -> int:
        """What is left on the rank with the least, within all limits."""
        margins = [fit.margin_bytes]
        if (fraction := self.told(fit)) is not None:
            taken = (fit.policy.share_bytes(fraction, each.device.total.amount_bytes) for each in fit.ranks)
            margins += [part - each.need_bytes for part, each in zip(taken, fit.ranks, strict=True)]
        if self.kv_cache_bytes is not None:
            margins += [self.kv_cache_bytes - each.kv_bytes for each in fit.ranks]
        return min(margins)


NO_LIMITS = Limits()
