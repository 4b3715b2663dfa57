"""Doctor on virtual Sparks: one channel to each, every look answers, and nothing on the host is another afterwards."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fleet.doctor.explain import explained
from tests.e2e.control import INVENTORY, fingerprint, read_trace, sparks

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.nightly, pytest.mark.timeout(1800)]


def test_it_looks_once_at_each_and_changes_nothing(
    fresh_lab: "Lab", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tuple(machine.name for machine in fresh_lab.state.machines)
    trace = tmp_path / "trace.jsonl"
    monkeypatch.setenv("SPARKS_SSH_TRACE", str(trace))
    monkeypatch.setenv("SPARKS_RECEIPTS", str(tmp_path / "receipts"))
    before = fingerprint(fresh_lab, names)
    done = sparks("doctor", "--json", "-i", INVENTORY)
    assert fingerprint(fresh_lab, names) == before
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode in (0, 2, 3), done.stderr
    assert sorted(found["hosts"]) == sorted(names)
    assert all(explained(each["id"]) for each in found["findings"])
    blind = [each for each in found["findings"] if each["id"].startswith("unobserved.") and each["level"] == "ERROR"]
    assert blind == []
    opened = [each["peer"] for each in read_trace(trace) if each["event"] == "open"]
    assert sorted(opened) == sorted(set(opened))
    assert len(opened) == len(names)
