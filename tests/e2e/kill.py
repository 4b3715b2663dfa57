"""Killing a controller at an exact moment, and what it may not leave behind."""

from pathlib import Path
from typing import TYPE_CHECKING

from fleet.hardware import INTERFACES
from fleet.rail_document import document_for
from fleet.roster import Roster
from operations.lock_script import HELD
from tests.e2e.control import SERVE, approval, on, read_trace, start, wait_until

if TYPE_CHECKING:
    from virtual.lab import Lab

MOMENTS = ((1, "begin"), (2, "end"), (3, "begin"))
"""The n-th write of one run on any host, at its begin or its end. Each run goes on from the last: these fall into a
document, after one was written, and into a profile that comes up."""


def writes(trace: Path, event: str) -> int:
    """How many changes have begun, or have ended, on whichever host: looks and the lock are none."""
    count, running = 0, {}
    for each in read_trace(trace):
        if each["event"] == "begin":
            running[each["peer"]] = HELD in each["command"]
            count += event == "begin" and running[each["peer"]]
        elif each["event"] == "end":
            count += event == "end" and running.get(each["peer"], False)
    return count


def kill_at(trace: Path, number: int, event: str) -> None:
    """Start a run and kill it with SIGKILL at that write."""
    run = start(trace, *SERVE, *approval(trace, *SERVE))
    try:
        wait_until(lambda: writes(trace, event) >= number or run.poll() is not None, 900, "that write")
        assert run.poll() is None, f"the run ended before write {number} at its {event}"
    finally:
        run.kill()
        run.wait()


def half_written(lab: "Lab", roster: Roster) -> list[str]:
    """Every file with one of our names that is neither whole nor absent, and every complaint of netplan."""
    found = []
    for name in roster.enrolled:
        desired = roster.desired_for(name)
        ends = [end for interface in INTERFACES if (end := desired.end_on(interface))]
        whole = {document_for(end).path: document_for(end).text for end in ends}
        assert desired.ollama is not None
        whole["/etc/systemd/system/ollama.service.d/sparks.conf"] = desired.ollama.drop_in_text
        for path, text in whole.items():
            if on(lab, name, f"[ ! -e {path} ] || cat {path}") not in ("", text):
                found.append(f"{name} {path}")
        complaint = on(lab, name, "netplan generate --root-dir $(mktemp -d /run/test.XXXXXX) 2>&1")
        found += [f"{name} {complaint}"] if complaint else []
    return found


def left_behind(lab: "Lab", roster: Roster) -> list[str]:
    """Temporary files of ours that a finished run did not remove."""
    look = "find /etc/netplan /etc/systemd/system /run -maxdepth 2 -name '*.new' -o -name 'sparks-netplan.*'"
    return [f"{name} {line}" for name in roster.enrolled for line in on(lab, name, look).splitlines()]
