"""A controller that is killed at any moment leaves a host from which the next run converges."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fleet.hardware import INTERFACES
from fleet.rail_document import document_for
from fleet.roster import Roster
from lab.site import read_roster
from tests.e2e.control import ROOT, SERVE, on, pyinfra, read_trace, start, wait_until

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(1500)]

LOOKS = "b85decode"
"""Only looks are packed: a command without it writes."""

MOMENTS = ((1, "begin"), (2, "end"), (2, "begin"), (3, "begin"))
"""The n-th write of one run on any host, at its begin or its end. Each run goes on from the last: these fall into
the first document, after a document, a profile coming up, and Ollama's settings or models."""


def writes(trace: Path, event: str) -> int:
    """How many writing commands have begun, or have ended, on whichever host."""
    count, running = 0, {}
    for each in read_trace(trace):
        if each["event"] == "begin":
            running[each["peer"]] = LOOKS not in each["command"]
            count += event == "begin" and running[each["peer"]]
        elif each["event"] == "end":
            count += event == "end" and running.get(each["peer"], False)
    return count


@pytest.fixture(scope="module")
def roster() -> Roster:
    values, _ = read_roster(str(ROOT / "inventories" / "virtual.py"))
    return values


def no_half_written_file(lab: "Lab", roster: Roster) -> None:
    """Whatever carries one of our names is whole: exactly its text, or not there."""
    for name in roster.enrolled:
        desired = roster.desired_for(name)
        ends = [end for interface in INTERFACES if (end := desired.end_on(interface))]
        whole = {document_for(end).path: document_for(end).text for end in ends}
        assert desired.ollama is not None
        whole["/etc/systemd/system/ollama.service.d/sparks.conf"] = desired.ollama.drop_in_text
        for path, text in whole.items():
            found = on(lab, name, f"[ ! -e {path} ] || cat {path}")
            assert found in ("", text), f"{name} {path}"
        assert on(lab, name, "netplan generate --root-dir $(mktemp -d /run/test.XXXXXX) 2>&1") == ""


def kill_at(trace: Path, number: int, event: str) -> None:
    """Start a run and kill it with SIGKILL at that write."""
    run = start(trace, *SERVE, "-y")
    try:
        wait_until(lambda: writes(trace, event) >= number or run.poll() is not None, 300, "that write")
        assert run.poll() is None, f"the run ended before write {number} at its {event}"
    finally:
        run.kill()
        run.wait()


def test_a_killed_run_is_finished_by_the_next(lab: "Lab", roster: Roster, tmp_path: Path) -> None:
    lab.reset()
    trace = tmp_path / "trace.jsonl"
    for number, event in MOMENTS:
        kill_at(trace, number, event)
        no_half_written_file(lab, roster)
    finished = pyinfra(trace, *SERVE, "-y")
    assert finished.status == 0, finished.said
    again = pyinfra(trace, *SERVE, "--dry")
    assert again.status == 0
    assert all(f"{name} is as desired" in again.err for name in roster.enrolled), again.said
    for name in roster.enrolled:
        left = on(
            lab,
            name,
            "find /etc/netplan /etc/systemd/system /run -maxdepth 2 -name '*.new' -o -name 'sparks-netplan.*'",
        )
        assert left == "", f"{name} was left with {left}"
