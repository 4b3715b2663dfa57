"""What a Spark offers to another one that copies a model from it. Pure."""

from fleet.observation import Observation, known
from fleet.ollama.source import Offer, gone
from fleet.ollama.steps import OfferModel
from fleet.refusal import Refusal


def offer_step(offer: Offer, seen: Observation) -> OfferModel | Refusal:
    """The offer, for as long as the model is there."""
    if blind := seen.unobserved("ollama_models"):
        return blind
    store = known(seen.ollama_models)
    found = store.model(offer.model)
    if found is None or found.manifest_digest != offer.manifest_digest or store.directory is None:
        return gone(offer, seen)
    return OfferModel(
        subject=f"{seen.host} ollama model {offer.model} for {offer.to}",
        before="offered to nobody",
        after=f"offered to {offer.client} at {offer.address} until it is copied, for {offer.seconds} s at most",
        reason=f"{offer.to} copies it over rail {offer.rail}",
        model=offer.model,
        manifest_digest=offer.manifest_digest,
        directory=store.directory,
        address=offer.address,
        to=offer.to,
        client=offer.client,
        seconds=offer.seconds,
    )
