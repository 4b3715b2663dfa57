"""Does what is resident really answer. It costs the GPU a token, so no plan and no dry run asks."""

from collections.abc import Iterable
from typing import ClassVar

from typing_extensions import override

from facts.look import Look, remote_python
from facts.ollama import ENDPOINT
from fleet.completion import Completion, parse_completions

ANSWER_SECONDS = 120
"""For all residents of a host together. One that is at work on long requests answers late: with OLLAMA_NUM_PARALLEL=1
the token waits behind them."""


class Completions(Look[tuple[Completion, ...]]):
    """
    What each resident answers to a request for one token, or for one embedding where the model makes those; ``None``
    when that was not observed. A model that is not loaded at its context is not asked: it would be loaded for it.

    + residents: names and contexts of the models, as `(("qwen3:0.6b", 8192),)`
    + endpoint: where clients on the host reach them

    .. code:: python

        (Completion(model="qwen3:0.6b", kind="completion", asked=True, count=1, failure=None),)
    """

    timeout_seconds: ClassVar[float] = ANSWER_SECONDS + 30.0

    @override
    def command(self, residents: Iterable[tuple[str, int]] = (), endpoint: str = ENDPOINT) -> str:
        wanted = [{"model": model, "context": context} for model, context in residents]
        return remote_python("ollama_completion", endpoint=endpoint, residents=wanted, seconds=ANSWER_SECONDS)

    @override
    def parse(self, text: str) -> tuple[Completion, ...]:
        return parse_completions(text)
