"""What would make it fit: each way is computed, and then held against the same memory by the same function."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fleet.fit.demand import Demand, Split, slots_in_words
from fleet.fit.limits import NO_LIMITS, Limits
from fleet.fit.memory import Devices, MemoryFit, memory_fit
from fleet.fit.policy import Policy
from fleet.record import Record

CONTEXT_STEP = 256
"""llama.cpp, and so Ollama, rounds a context up to a multiple of this (`llama_context`, GGML_PAD of n_ctx_seq)."""


class Way(Record):
    """One way to make it fit."""

    change: str
    """In the operator's words."""
    margin_bytes: int
    """What is then left of what may be taken, on the rank with the least."""


class Asked(NamedTuple):
    """What does not fit, and where it shall."""

    demands: tuple[Demand, ...]
    split: Split
    devices: Devices
    policy: Policy
    spares: Devices = ()
    """Sparks that could join, in the order in which they would, by the same instrument."""
    limits: Limits = NO_LIMITS

    def fit(self) -> MemoryFit | None:
        """The fit, where there is one to be had."""
        found = memory_fit(self.demands, self.split, self.devices, self.policy)
        return found if isinstance(found, MemoryFit) else None

    def holds(self) -> bool:
        """Does it fit?"""
        found = self.fit()
        return found is not None and not self.limits.refusals(found)


def ways(asked: Asked) -> tuple[Way, ...]:
    """Every single change that makes it fit, least first of each kind; without one, all changes of settings at once.

    Where a decided fraction lets none do that, what would without it.
    """
    found = tuple(_single(asked)) or tuple(_all_at_once(asked))
    if found or asked.limits.fraction is None:
        return found
    free = ways(asked._replace(limits=asked.limits.replaced(fraction=None)))
    return tuple(each.replaced(change=f"no fraction decided; {each.change}") for each in free)


def _single(asked: Asked) -> Iterator[Way]:
    for at, demand in enumerate(asked.demands):
        yield from _checked(*_less_context(asked, at))
        yield from _checked(*_fewer_slots(asked, at))
        if demand.needs.draft is not None:
            yield from _checked(f"{demand.model}: draft off", _with(asked, at, _draft_off(demand)))
    yield from _another_fraction(asked)
    yield from _larger_kv(asked)
    yield from _one_more(asked)


def _less_context(asked: Asked, at: int) -> tuple[str, Asked]:
    demand = asked.demands[at]
    steps = (demand.context - 1) // CONTEXT_STEP

    def at_step(count: int) -> Asked:
        return _with(asked, at, demand.replaced(context=count * CONTEXT_STEP))

    count = _largest(steps, at_step)
    change = f"{demand.model}: context {count * CONTEXT_STEP:,} instead of {demand.context:,}"
    return change, at_step(count) if count else asked


def _fewer_slots(asked: Asked, at: int) -> tuple[str, Asked]:
    demand = asked.demands[at]

    def at_count(count: int) -> Asked:
        return _with(asked, at, demand.replaced(slots=count))

    count = _largest(demand.slots - 1, at_count)
    change = f"{demand.model}: {slots_in_words(count)} instead of {demand.slots}"
    return change, at_count(count) if count else asked


def _draft_off(demand: Demand) -> Demand:
    return demand.replaced(needs=demand.needs.replaced(draft=None))


def _another_fraction(asked: Asked) -> Iterator[Way]:
    """The largest that every rank admits, in place of the one that was decided."""
    was, fit = asked.limits.fraction, asked.fit()
    found = None if was is None or fit is None else asked.limits.replaced(fraction=None).told(fit)
    if found is not None:
        limits = asked.limits.replaced(fraction=found)
        yield from _checked(f"fraction {found} instead of {was}", asked._replace(limits=limits))


def _larger_kv(asked: Asked) -> Iterator[Way]:
    """Exactly what all slots at their context need, in place of a pinned KV cache that is too small."""
    was, fit = asked.limits.kv_cache_bytes, asked.fit()
    if was is None or fit is None:
        return
    needed = max(each.kv_bytes for each in fit.ranks)
    demands = tuple(each.replaced(kv_cache_bytes=needed) for each in asked.demands)
    if needed > was:
        limits = asked.limits.replaced(kv_cache_bytes=needed)
        change = f"KV cache pinned to {needed:,} B instead of {was:,}"
        yield from _checked(change, asked._replace(demands=demands, limits=limits))


def _one_more(asked: Asked) -> Iterator[Way]:
    """The least number of spare Sparks with which it can be split and fits."""
    if asked.split.kind == "whole":
        return
    for count in range(1, len(asked.spares) + 1):
        joining = tuple(asked.spares[:count])
        larger = asked._replace(
            split=asked.split.replaced(ranks=asked.split.ranks + count), devices=(*asked.devices, *joining)
        )
        if larger.holds():
            yield from _checked(f"with {', '.join(host for host, _ in joining)} as well", larger)
            return


def _all_at_once(asked: Asked) -> Iterator[Way]:
    """One slot, no draft, and as much context as then fits: where one change is not enough."""
    least = asked._replace(demands=tuple(_draft_off(each).replaced(slots=1) for each in asked.demands))
    words = [
        f"{each.model}: 1 slot, draft off" if each.needs.draft else f"{each.model}: 1 slot" for each in asked.demands
    ]
    if least.holds():
        yield from _checked("; ".join(words), least)
        return
    for at in range(len(least.demands)):
        change, smaller = _less_context(least, at)
        yield from _checked("; ".join([*words, change]), smaller)


def _with(asked: Asked, at: int, demand: Demand) -> Asked:
    return asked._replace(demands=(*asked.demands[:at], demand, *asked.demands[at + 1 :]))


def _largest(most: int, made: Callable[[int], Asked]) -> int:
    """The largest count up to `most` with which it fits, or 0. Where less does not fit, more does not either."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if made(middle).holds() else (low, middle - 1)
    return low


def _checked(change: str, asked: Asked) -> Iterator[Way]:
    fit = asked.fit()
    if fit is not None and not asked.limits.refusals(fit):
        yield Way(change=change, margin_bytes=asked.limits.margin_bytes(fit))
