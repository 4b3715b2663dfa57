"""What a vLLM server counts: requests, KV cache and drafts of each of its engines. Pure.

A server without these series (`--disable-log-stats`) is not idle: nobody counts (cases/093).
"""

import math
from typing import Annotated

from fleet.exposition import Sample, by_label, parse_exposition
from fleet.record import VOLATILE, Record, Unobserved

RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
KV_USE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
"""The new name first: for some releases vLLM has both (vllm-project/vllm#18354, #30041); 0.32 has the new one alone."""
DRAFTED = ("vllm:spec_decode_num_draft_tokens_total", "vllm:spec_decode_num_draft_tokens")
ACCEPTED = ("vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_accepted_tokens")
CACHE = "vllm:cache_config_info"
SLEEP = "vllm:engine_sleep_state"
NAMES = (RUNNING, WAITING, *KV_USE, *DRAFTED, *ACCEPTED, CACHE, SLEEP)
"""Series that may leave a host."""

NOT_COUNTED = Unobserved(reason="nothing is counted (--disable-log-stats, or it is no vLLM)")


class EngineMetrics(Record):
    """One engine of a server; with data parallelism a server has several."""

    engine: str
    """Its number; "" where the server does not tell engines apart (before V1)."""
    running: Annotated[int | None, VOLATILE] = None
    """Requests being worked on; None where it is not counted."""
    waiting: Annotated[int | None, VOLATILE] = None
    kv_use: Annotated[float | None, VOLATILE] = None
    """How much of the KV cache is in use, 0 to 1."""
    kv_capacity_tokens: int | None = None
    """By the engine's own word where it has one (0.32), else blocks times their size: wrong for a hybrid model."""
    drafted_tokens: Annotated[int | None, VOLATILE] = None
    """By a speculative draft since the start; None where there is no draft."""
    accepted_tokens: Annotated[int | None, VOLATILE] = None

    @property
    def acceptance(self) -> float | None:
        """Accepted of drafted tokens; about 0 while answers look fine is a draft that does not belong."""
        if not self.drafted_tokens or self.accepted_tokens is None:
            return None
        return self.accepted_tokens / self.drafted_tokens


class VllmMetrics(Record):
    """What a server counts, by engine."""

    engines: tuple[EngineMetrics, ...]
    sleeping: bool | None = None
    """Does an engine sleep? None where it does not say."""

    @property
    def requests(self) -> int | None:
        """Running and waiting on all engines; None where that of any is not known."""
        counts = [count for engine in self.engines for count in (engine.running, engine.waiting)]
        return None if None in counts else sum(count for count in counts if count is not None)


def parse_metrics(text: str) -> VllmMetrics | Unobserved:
    """From lines of /metrics; raises ValueError where they are none."""
    samples = [sample for sample in parse_exposition(text) if sample.name in NAMES and math.isfinite(sample.value)]
    counted = [sample for sample in samples if sample.name not in (SLEEP, CACHE)]
    if not counted:
        return NOT_COUNTED
    named = by_label((sample for sample in samples if sample.name != SLEEP), "engine")
    engines = tuple(_engine(engine, found) for engine, found in sorted(named.items()))
    return VllmMetrics(engines=engines, sleeping=_sleeping(samples))


def _engine(engine: str, samples: list[Sample]) -> EngineMetrics:
    return EngineMetrics(
        engine=engine,
        running=_count(samples, RUNNING),
        waiting=_count(samples, WAITING),
        kv_use=_value(samples, *KV_USE),
        kv_capacity_tokens=_capacity(samples),
        drafted_tokens=_count(samples, *DRAFTED),
        accepted_tokens=_count(samples, *ACCEPTED),
    )


def _value(samples: list[Sample], *names: str) -> float | None:
    """Of the first of these names that is there, over all its series: a server counts for each served model."""
    for name in names:
        values = [sample.value for sample in samples if sample.name == name]
        if values:
            return max(values) if name in KV_USE else sum(values)
    return None


def _count(samples: list[Sample], *names: str) -> int | None:
    value = _value(samples, *names)
    return None if value is None else int(value)


def _capacity(samples: list[Sample]) -> int | None:
    for sample in samples:
        names = ("kv_cache_size_tokens", "num_gpu_blocks", "block_size")
        tokens, blocks, size = (sample.labels.get(name, "") for name in names)
        if sample.name == CACHE and tokens.isdigit():
            return int(tokens)
        if sample.name == CACHE and blocks.isdigit() and size.isdigit():
            return int(blocks) * int(size)
    return None


def _sleeping(samples: list[Sample]) -> bool | None:
    """By the series of the awake state: 1 is awake, 0 sleeps (cases/096)."""
    awake = [each.value for each in samples if each.name == SLEEP and each.labels.get("sleep_state") == "awake"]
    return min(awake) < 1 if awake else None
