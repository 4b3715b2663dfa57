"""Sparks that are only observations (see `tests.deploys.played`), on which what is declared resident answers."""

from typing import Any

from facts.bundle import Wanted
from facts.completion import Completions
from facts.desired import roster_for
from fleet.completion import Completion
from tests.deploys.played import World


class Answering(World):
    """A world whose residents answer."""

    def look(self, host: Any, wanted: tuple[Wanted, ...]) -> dict[Wanted, Any]:
        found = super().look(host, wanted)
        for each in (look for look in wanted if look.fact is Completions):
            desired = roster_for(host).desired_for(host.name).ollama
            assert desired is not None
            found[each] = tuple(
                Completion(model=pin.model, kind="completion", asked=True, count=1, failure=None)
                for pin in desired.residents
            )
        return found
