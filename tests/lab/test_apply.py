"""A plan from a file is carried out as it is there, or refused with what moved."""

import json
from pathlib import Path

import pytest

from tests.deploys.site import Site
from tests.fleet import observed


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def file(site: Site, tmp_path: Path) -> str:
    path = str(tmp_path / "plan.json")
    assert site.sparks("plan", "b", "-o", path).status == 2
    return path


def test_it_is_carried_out_once_and_then_nothing_is_due(site: Site, file: str) -> None:
    done = site.sparks("apply", file, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["outcome"] == "converged"
    assert done.err.index("b: looking again before the first step") < done.err.index("begin: b ")
    again = site.sparks("apply", file, "--json")
    assert again.status == 0, again.err
    assert (json.loads(again.out)["outcome"], again.commands) == ("found_as_desired", [])


def test_what_moved_since_is_told_and_nothing_written(site: Site, file: str) -> None:
    site["b"] = observed.with_link(site["b"], observed.link("enp1s0f0np0", mtu=1400))
    done = site.sparks("apply", file)
    assert done.status == 3, done.err
    assert done.commands == []
    assert "b links: expected it as it was looked at, found it moved" in done.out + done.err
    assert "[plan_moved]" in done.out + done.err


def test_a_plan_that_is_too_old_or_was_made_without_its_hosts_is_refused(site: Site, tmp_path: Path, file: str) -> None:
    document = json.loads(Path(file).read_text())
    document["plan"]["made"]["observed_at"] = "2026-01-01T00:00:00Z"
    Path(file).write_text(json.dumps(document))
    old = site.sparks("apply", file)
    assert old.status == 3
    assert "[approval_expired]" in old.out + old.err
    kept, offline = str(tmp_path / "seen.json"), str(tmp_path / "offline.json")
    assert site.sparks("observe", "b", "-o", kept).status == 0
    assert site.sparks("plan", "b", "--from", kept, "-o", offline).status == 2
    done = site.sparks("apply", offline, "--json")
    assert done.status == 1
    assert "found one made from an observation" in done.err
    ended = json.loads(done.out)
    assert (ended["outcome"], ended["reason"]) == ("failed", done.err.strip())


@pytest.mark.parametrize("when", ["", "yesterday", "2026-11-30T11:00:00", "2999-01-01T00:00:00Z"])
def test_a_plan_that_was_made_at_no_time_is_none(site: Site, file: str, when: str) -> None:
    document = json.loads(Path(file).read_text())
    document["plan"]["made"]["observed_at"] = when
    Path(file).write_text(json.dumps(document))
    done = site.sparks("apply", file)
    assert (done.status, done.commands) == (1, [])
    assert "plan.json: plan.made.observed_at: expected a time" in done.err
    assert "Traceback" not in done.err
