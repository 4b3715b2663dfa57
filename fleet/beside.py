"""What a decision about one Spark needs to know of the others in the same run. Pure."""

from collections.abc import Mapping

from pydantic import Field

from fleet.observation import Observation, known
from fleet.ollama.decide import model_step
from fleet.ollama.source import Offer, Source, held, sources
from fleet.ollama.steps import CopyModel
from fleet.record import Record
from fleet.roster import Roster


class Beside(Record):
    """The other Sparks of a run, as far as they matter to one."""

    hosts: frozenset[str] = frozenset()
    """Their names: what moves away from this one goes to one of these, or not now."""
    sources: dict[str, Source] = Field(default_factory=dict)
    """By model, where one that is not here can be copied from."""
    offers: tuple[Offer, ...] = ()
    """What others copy from here."""


ALONE = Beside()
"""A Spark that is decided about by itself."""


def beside(roster: Roster, name: str, collection: Mapping[str, Observation]) -> Beside:
    """What the others in a collection mean to a Spark."""
    others = [each for each in sorted(collection) if each != name]
    return Beside(
        hosts=frozenset(others),
        sources=_sources(roster, name, collection),
        offers=tuple(offer for each in others for offer in _offers(roster, name, each, collection)),
    )


def _sources(roster: Roster, name: str, collection: Mapping[str, Observation]) -> dict[str, Source]:
    found = [each for each in roster.deployments.values() if each.spark == name]
    if not found:
        return {}
    return sources(name, found[0].ollama, found[0].sources, roster.segments, collection)


def _offers(roster: Roster, name: str, to: str, collection: Mapping[str, Observation]) -> tuple[Offer, ...]:
    """What another one copies from this Spark now."""
    desired = roster.desired_for(to).ollama
    if desired is None or collection[to].unobserved("ollama_models"):
        return ()
    found = _sources(roster, to, collection)
    offers = []
    for pin in desired.models:
        source, here = found.get(pin.name), held(pin, collection[name])
        if source is None or source.spark != name or here is None:
            continue
        if isinstance(model_step(pin, collection[to], source), CopyModel):
            store = known(collection[name].ollama_models)
            size = next(each.size_bytes for each in store.models if each.name == here)
            offers.append(
                Offer(to=to, rail=source.rail, address=source.address, client=source.client, model=here,
                      manifest_digest=pin.manifest_digest, size_bytes=size)
            )  # fmt: skip
    return tuple(offers)
