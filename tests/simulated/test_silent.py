"""A host that does not answer: a refusal before any effect, with the same words and the same status everywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.outcome import Outcome
from tests.simulated.controller import Ran, run
from tests.simulated.matrix import FAILED, REFUSED
from tests.simulated.site import TARGET, Site
from tests.simulated.world import World

SAYS = f"{TARGET}: expected an observation, found no answer over SSH: Could not connect (timed out) [unobserved]"
NATIVELY = f"[{TARGET}] Could not connect (timed out)"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def silent(site: Site) -> World:
    world = site.world()
    world.sparks[TARGET].is_up = False
    return world


def sparks(site: Site, command: str, *arguments: str) -> Ran:
    return run(silent(site), site.folder, "sparks", command, *arguments, "-i", str(site.inventory))


def document(ran: Ran) -> dict[str, Any]:
    """What stood alone on standard output: here both are one."""
    start = ran.said.index("{\n")
    found: dict[str, Any] = json.JSONDecoder().raw_decode(ran.said[start:])[0]
    return found


@pytest.mark.parametrize("command", ["plan", "converge", "readback"])
def test_it_is_refused_and_told_with_the_same_code(site: Site, command: str) -> None:
    receipts = ("--receipts", str(site.receipts)) if command == "converge" else ()
    told = sparks(site, command, TARGET, *receipts)
    assert (told.status, told.said.count(SAYS), told.world.commands) == (REFUSED, 1, []), told.said
    found = sparks(site, command, TARGET, "--json", *receipts)
    assert found.status == REFUSED, found.said
    assert [each["code"] for each in document(found)["refusals"]] == ["unobserved"]
    receipt = site.last_receipt()
    assert (receipt and receipt.outcome) == (Outcome.REFUSED if command == "converge" else None)


def test_what_was_seen_of_it_is_kept_and_is_no_success(site: Site, tmp_path: Path) -> None:
    kept = str(tmp_path / "seen.json")
    observed = sparks(site, "observe", TARGET, "-o", kept)
    assert (observed.status, SAYS in observed.said) == (REFUSED, True), observed.said
    offline = sparks(site, "plan", TARGET, "--from", kept)
    assert (offline.status, SAYS in offline.said) == (REFUSED, True), offline.said


def test_nothing_else_is_asked_of_it(site: Site) -> None:
    drain = sparks(site, "drain", TARGET, "--receipts", str(site.receipts))
    document_of = document(sparks(site, "drain", TARGET, "--json", "--receipts", str(site.receipts)))
    receipt = site.last_receipt()
    assert receipt is not None
    assert (document_of["outcome"], document_of["receipt"]) == (Outcome.REFUSED, receipt.name)
    unlock = sparks(site, "unlock", TARGET, "--owner", "ada@desk")
    assert [each.status for each in (drain, unlock)] == [REFUSED] * 2
    assert all(SAYS in each.said for each in (drain, unlock)), drain.said


@pytest.mark.parametrize("arguments", [("--dry",), ("-y",)])
def test_natively_pyinfra_says_1_to_every_end_but_a_good_one(site: Site, arguments: tuple[str, ...]) -> None:
    ran = site.pyinfra(silent(site), *arguments)
    assert (ran.status, NATIVELY in ran.said, ran.world.commands) == (FAILED, True, []), ran.said


@pytest.mark.parametrize("command", ["plan", "converge", "readback", "drain"])
def test_what_is_no_target_has_a_document_too(site: Site, command: str) -> None:
    ran = sparks(site, command, "all", "--json")
    assert ran.status == REFUSED, ran.said
    assert [each["code"] for each in document(ran)["refusals"]] == ["target_all"]
    assert site.last_receipt() is None
