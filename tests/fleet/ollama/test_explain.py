"""`sparks fit`: every line of the arithmetic, one answer, and no figure that joins two instruments."""

from typing import Any

import pytest

from fleet.fit.instrument import GIB, Instrument
from fleet.ollama.explain import Answer, HostFit, explained
from fleet.ollama.observed import ModelStore
from fleet.record import Unobserved
from tests.fleet.ollama import fitting, host
from tests.fleet.ollama.fitting import DESIRED, POLICY, seen
from tests.fleet.test_evidence import evidence

HELD = host.loaded(size_bytes=3 * GIB, size_vram_bytes=3 * GIB)


def said(free: float = 100.0, desired: Any = DESIRED, known: Any = (), **changes: Any) -> HostFit:
    return explained("chat", desired, seen(free, **changes), POLICY, known)


def test_each_line_is_told_and_the_need_is_their_sum() -> None:
    found = said()
    assert [(each.what, each.amount_bytes, each.how) for each in found.lines] == [
        ("weights", GIB, "as declared"),
        ("KV cache", 2 * GIB, "8,192 tokens x 2 slots x 131,072 B"),
    ]
    assert (found.answer, found.need_bytes, found.room_bytes) == (Answer.FITS, 3 * GIB, 92 * GIB)


ANSWERS: dict[str, tuple[dict[str, Any], Answer]] = {
    "room for it": ({"free": 11.0}, Answer.FITS),
    "too little room": ({"free": 10.9}, Answer.SHORT),
    "loaded as declared": ({"free": 1.0, "residents": (HELD,)}, Answer.LOADED),
    "loaded otherwise, with room": ({"free": 11.0, "residents": (host.loaded(context_length=1),)}, Answer.FITS),
    "loaded otherwise, without": ({"free": 10.9, "residents": (host.loaded(context_length=1),)}, Answer.NOT_YET_KNOWN),
    "nothing declared": ({"desired": host.DESIRED}, Answer.REFUSED),
    "nothing served": ({"desired": None}, Answer.REFUSED),
    "memory not observed": ({"memory": Unobserved(reason="dark")}, Answer.REFUSED),
    "residency not observed": ({"ollama_residency": Unobserved(reason="dark")}, Answer.REFUSED),
}


@pytest.mark.parametrize(("world", "answer"), ANSWERS.values(), ids=list(ANSWERS))
def test_there_is_one_answer(world: dict[str, Any], answer: Answer) -> None:
    found = said(**world)
    assert found.answer is answer
    assert bool(found.refusals) == (answer in (Answer.SHORT, Answer.REFUSED))
    assert bool(found.ways) == (answer in (Answer.SHORT, Answer.NOT_YET_KNOWN))


def test_what_is_loaded_is_told_by_the_engine_and_added_to_nothing() -> None:
    found = said(free=50.0, residents=(HELD,))
    assert {name: (each.instrument, each.amount_bytes) for name, each in found.loaded.items()} == {
        host.PIN.name: (Instrument.ENGINE, 3 * GIB)
    }
    assert found.room_bytes == 42 * GIB


def test_evidence_of_exactly_this_is_named_and_of_another_with_what_differs() -> None:
    one = evidence()
    assert said(known=(one,)).evidence == one.digest
    other = said(known=(one,), kernel=fitting.KERNEL.replaced(release="7.0.0-1019-nvidia"))
    assert (other.evidence, [(each.evidence, each.differs) for each in other.others]) == (
        None, [(one.digest, ("release of srv5",))],
    )  # fmt: skip
    assert explained("talk", DESIRED, seen(), POLICY, (one,)).evidence == one.digest


@pytest.mark.parametrize("section", ["kernel", "machine", "ollama_program", "ollama_service", "invocation"])
def test_what_exactly_it_is_of_can_be_untold_and_then_no_evidence_is_not_none(section: str) -> None:
    changes: dict[str, Any] = {section: Unobserved(reason="dark")}
    found = said(**changes)
    assert (found.answer, found.evidence, found.subject) == (Answer.FITS, None, None)
    assert found.untold is not None
    assert found.untold.found == "dark"


def test_a_model_that_is_not_pulled_yet_is_part_of_it() -> None:
    absent = DESIRED.replaced(models=(DESIRED.models[0].replaced(pull=False),))
    assert said(desired=absent, ollama_models=ModelStore(source="api")).need_bytes == said().need_bytes
