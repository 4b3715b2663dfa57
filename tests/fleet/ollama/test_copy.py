"""A model comes from another Spark of the run that has it, over a rail, before it comes from anywhere else."""

from collections.abc import Mapping
from typing import Any

import pytest

from fleet.beside import ALONE, Beside, beside
from fleet.decide import OLLAMA_MODELS, OLLAMA_OFFERS
from fleet.observation import Observation, known
from fleet.ollama.decide import model_step
from fleet.ollama.disrupt import disrupts
from fleet.ollama.offer import offer_step
from fleet.ollama.source import LEAST_SECONDS, Source
from fleet.ollama.steps import CopyModel, OfferModel, PullModel
from fleet.plan import Plan, Refusals, plan
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.roster_error import RosterError
from fleet.target import Target, target_of
from tests.deploys.site import VALUES
from tests.fleet import observed
from tests.fleet.ollama.host import DESIRED, HELD, PIN, A, B, applied, loaded, seen, service

HOME = "/usr/share/ollama/.ollama/models"
SOURCE = Source(spark="a", rail=1, address="10.0.1.1", client="10.0.1.2")
SERVED = ("ollama_service", "ollama_models", "ollama_residency", "invocation", "generation")
CHAT: dict[str, Any] = VALUES["deployments"]["chat"]


def stored(found: Observation, directory: str | None = HOME) -> Observation:
    return found.replaced(ollama_models=known(found.ollama_models).replaced(directory=directory))


def test_it_is_copied_where_somebody_has_it_and_that_is_better_than_a_download() -> None:
    step = model_step(PIN, stored(seen(models=())), SOURCE)
    assert isinstance(step, CopyModel)
    assert (step.source, step.address, step.client, step.directory) == ("a", "10.0.1.1", "10.0.1.2", HOME)
    assert step.reason == "declared; a has it: up to 10 bytes over rail 1"
    assert isinstance(model_step(PIN.replaced(pull=False), stored(seen(models=())), SOURCE), CopyModel)
    assert isinstance(model_step(PIN, stored(seen(models=()))), PullModel)
    assert isinstance(model_step(PIN, stored(seen(models=()), None), SOURCE), PullModel), (
        "nobody knows where its store is"
    )
    assert model_step(PIN, stored(seen()), SOURCE) is None


def test_a_tag_moves_by_a_copy_too() -> None:
    moved = HELD.model_copy(update={"manifest_digest": B})
    found = stored(seen(models=(moved,), residents=(loaded(manifest_digest=B),)))
    step = model_step(PIN.replaced(replaces=B), found, SOURCE)
    assert isinstance(step, CopyModel)
    assert (step.before, step.replaces) == (B, B)
    assert disrupts(step, DESIRED.replaced(models=(PIN.replaced(replaces=B),)), found)
    assert isinstance(model_step(PIN, found, SOURCE), Refusal)


def rail(*sparks: str) -> Roster:
    """b serves, and may copy from these."""
    chat = CHAT | {"spark": "b", "copy_from": list(sparks)}
    return Roster.read(VALUES | {"deployments": {"chat": chat, "old": CHAT | {"spark": "a"}}}, "test")


def sparks(**changes: Observation) -> dict[str, Observation]:
    """a has the model and serves it, b has none."""
    found = {"a": stored(seen()), "b": stored(seen(service(), models=(), residents=()))} | changes
    return {
        name: observed.blank(name).replaced(**{section: getattr(each, section) for section in SERVED})
        for name, each in found.items()
    }


def planned(roster: Roster, collection: Mapping[str, Observation]) -> Plan | Refusals:
    return plan(roster, Target(name="x", kind="deployment", hosts=tuple(sorted(collection))), collection)


def of(outcome: Plan | Refusals, name: str, operation: str) -> list[Any]:
    assert isinstance(outcome, Plan), outcome
    return [step for each in outcome.host(name).operations if each.name == operation for step in each.steps]


def test_one_plan_has_the_offer_and_the_copy() -> None:
    roster, collection = rail("a"), sparks()
    target = target_of(roster, "chat")
    assert isinstance(target, Target)
    assert target.hosts == ("b", "a")
    outcome = planned(roster, collection)
    (offer,) = of(outcome, "a", OLLAMA_OFFERS)
    (copy,) = of(outcome, "b", OLLAMA_MODELS)
    assert isinstance(offer, OfferModel)
    assert isinstance(copy, CopyModel)
    assert (offer.address, offer.client, offer.to) == (copy.address, copy.client, "b")
    ends = {end.spark: str(end.address.ip) for end in roster.segments[0].ends}
    assert (offer.address, offer.client) == (ends["a"], ends["b"])
    assert offer.seconds == LEAST_SECONDS
    after = dict(collection)
    desired = roster.desired_for("b").ollama
    assert desired is not None
    after["b"] = applied(copy, desired, after["b"])
    assert of(planned(roster, after), "a", OLLAMA_OFFERS) == [], "what was copied is offered no more"


@pytest.mark.parametrize(
    "changes",
    [
        {"a": seen(models=())},
        {"a": stored(seen(), None)},
        {"a": stored(seen(models=(HELD.model_copy(update={"manifest_digest": B}),)))},
        {"a": seen(models=Unobserved(reason="no answer in 5 s"))},
    ],
)
def test_it_is_pulled_where_nobody_has_it(changes: dict[str, Observation]) -> None:
    collection = sparks(**changes)
    roster = rail("a")
    assert beside(roster, "b", collection).sources == {}
    assert beside(roster, "a", collection).offers == ()
    assert isinstance(model_step(PIN, collection["b"], None), PullModel)


def test_it_is_copied_from_no_spark_that_the_roster_does_not_name() -> None:
    roster = rail()
    assert beside(roster, "b", sparks()) == Beside(hosts=frozenset({"a"}))
    assert beside(roster, "b", {"b": sparks()["b"]}) == ALONE


def test_any_name_will_do_where_the_digest_is_the_same() -> None:
    other = HELD.model_copy(update={"name": "mine:1"})
    (offer,) = beside(rail("a"), "a", sparks(a=stored(seen(models=(other,))))).offers
    assert (offer.model, offer.manifest_digest) == ("mine:1", A)


def test_what_has_moved_is_copied_from_where_it_was() -> None:
    roster = Roster.read(VALUES | {"deployments": {"chat": CHAT | {"spark": "b", "moved_from": "a"}}}, "test")
    collection = sparks()
    assert [each.to for each in beside(roster, "a", collection).offers] == ["b"]
    outcome = planned(roster, collection)
    assert [step.kind for step in of(outcome, "a", OLLAMA_OFFERS)] == ["ollama_offer"]


def test_an_offer_of_what_has_gone_since_is_refused() -> None:
    (offer,) = beside(rail("a"), "a", sparks()).offers
    refusal = offer_step(offer, seen(models=()))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "offer_gone"
    blind = offer_step(offer, seen(models=Unobserved(reason="x")))
    assert isinstance(blind, Refusal)
    assert blind.code == "unobserved"


def test_a_large_one_is_offered_for_longer() -> None:
    (offer,) = beside(rail("a"), "a", sparks()).offers
    assert offer.replaced(size_bytes=2 * 10**12).seconds > 24 * 3600


@pytest.mark.parametrize(
    ("copy_from", "code"),
    [
        (["b"], "copied_nowhere"),
        (["a", "a"], "copied_nowhere"),
        (["c"], "deployment_not_enrolled"),
        (["z"], "unknown_spark"),
    ],
)
def test_what_cannot_be_copied_from(copy_from: list[str], code: str) -> None:
    with pytest.raises(RosterError, match=code):
        rail(*copy_from)
