"""What values the settings of Ollama have. One that it cannot read is no error to it: it takes a default. Pure.

Sources: Ollama's envconfig and Go's strconv.ParseBool (v0.33); cache types: `llm/server.go`.
"""

import re

from fleet.ollama import grammar

FLAGS = frozenset({
    "OLLAMA_DEBUG_LOG_REQUESTS", "OLLAMA_FLASH_ATTENTION", "OLLAMA_INTEL_GPU", "OLLAMA_MULTIUSER_CACHE",
    "OLLAMA_NEW_ENGINE", "OLLAMA_NOHISTORY", "OLLAMA_NOPRUNE", "OLLAMA_NO_CLOUD", "OLLAMA_SCHED_SPREAD",
    "OLLAMA_VULKAN",
})  # fmt: skip
"""Whatever is no word of Go's for false is true: `no` and `off` too."""
COUNTS = frozenset({
    "OLLAMA_CONTEXT_LENGTH", "OLLAMA_GPU_OVERHEAD", "OLLAMA_MAX_LOADED_MODELS", "OLLAMA_MAX_QUEUE",
    "OLLAMA_MAX_TRANSFER_STREAMS", "OLLAMA_NUM_PARALLEL",
})  # fmt: skip
"""`8k` is the default, without a word."""
TIMES = frozenset({"OLLAMA_KEEP_ALIVE", "OLLAMA_LOAD_TIMEOUT"})
"""A bare number is seconds; what cannot be read is five minutes."""
PLACES = frozenset({"OLLAMA_MODELS", "OLLAMA_TMPDIR"})
CACHES = ("f16", "q8_0", "q4_0")

TRUE, FALSE = frozenset({"1", "t", "T", "TRUE", "true", "True"}), frozenset({"0", "f", "F", "FALSE", "false", "False"})


def expected_value(name: str, value: str) -> str | None:
    """What a setting's value should be, in words; None where it is one that Ollama reads."""
    if name in FLAGS and value not in TRUE | FALSE:
        return "1 or 0"
    if name in COUNTS and not re.fullmatch(r"[0-9]{1,18}", value):
        return "a whole number"
    if name in TIMES and not _is_time(value):
        return "seconds, or a duration as 24h; below 0 is for ever"
    if name in PLACES and not (value.startswith("/") and value == grammar.unquoted(value)):
        return "an absolute path with no space and no quote at its end, which Ollama would take away"
    if name == "OLLAMA_KV_CACHE_TYPE" and value not in CACHES:
        return f"one of {', '.join(CACHES)}"
    if name == "OLLAMA_DEBUG" and value not in TRUE | FALSE | {"2"}:
        return "1 or 0, or 2 for more"
    return None


def lost_cache(environment: dict[str, str]) -> str | None:
    """A type of the KV cache that Ollama silently does not use, since flash attention is off; None where it does."""
    cache = environment.get("OLLAMA_KV_CACHE_TYPE", CACHES[0])
    return cache if cache != CACHES[0] and environment.get("OLLAMA_FLASH_ATTENTION") in FALSE else None


def _is_time(value: str) -> bool:
    try:
        grammar.parse_setting_duration(value)
    except ValueError:
        return False
    return True
