"""Ctrl-C in the middle: a document and a receipt that say so, and status 130."""

import json
from pathlib import Path

from fleet.outcome import Outcome
from tests.simulated.site import TARGET, Site
from tests.simulated.transcripts import Signalled

INTERRUPTED = 130


def test_it_is_told_in_the_document_too(tmp_path: Path) -> None:
    site = Site(tmp_path)
    plan = str(site.sparks(site.world()).said.partition("--plan ")[2].split()[0])
    ran = site.sparks(Signalled(site.world().sparks, at=3), "--yes", "--plan", plan, "--json")
    assert ran.status == INTERRUPTED, ran.said
    document = json.JSONDecoder().raw_decode(ran.said[ran.said.index("{\n") :])[0]
    receipt = site.last_receipt()
    assert receipt is not None
    assert (document["outcome"], document["reason"], document["receipt"]) == ("interrupted", "SIGINT", receipt.name)
    assert receipt.outcome is Outcome.INTERRUPTED
    assert ran.world.sparks[TARGET].lock is None
