"""When Ollama's own words mean that a model did not fit into memory. Pure."""

import re

from fleet.ollama.steps import LoadResident
from fleet.refusal import Refusal
from fleet.step import Step

SHORT = re.compile(
    r"requires more (system|gpu|video)? ?memory|out of memory|insufficient memory|"
    r"unable to allocate|failed to allocate|memory layout cannot be allocated",
    re.IGNORECASE,
)
"""`llm/server.go` of Ollama ("model requires more system memory (44.0 GiB) than is available (7.6 GiB)", "memory layout
cannot be allocated …") and what ggml's CUDA backend says through it. What ends without such words, as a runner that the
kernel has killed, may have ended for any reason, and is evidence of nothing."""


def did_not_fit(step: Step | None, words: str) -> Refusal | None:
    """What it means that a step failed with these words; None where it does not mean that memory was short."""
    if not isinstance(step, LoadResident) or SHORT.search(words) is None:
        return None
    said = re.sub(r"\s+", " ", words).strip()[:200]
    return Refusal(code="did_not_fit", subject=step.subject, expected="it to fit into memory", found=said)
