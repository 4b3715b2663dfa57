"""The proof from a command: each end of it, its status, and its receipt, which says the same."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fleet.outcome import Outcome
from tests.deploys.site import Site
from tests.fleet import observed

PLAN = re.compile(r"^plan (sha256:[0-9a-f]{64})$", re.MULTILINE)
STOPS = """
import os, signal
run = World.run
def stopped(self, host, command):
    if sum(self.commands.values()) == {after}:
        os.kill(os.getpid(), signal.{signal})
    return run(self, host, command)
World.run = stopped
"""
"""A signal comes when so many commands have ended, and one more is at work."""
LOSES = """
after = World._after
World._after = lambda self, host, step: self[host.name] if step.kind == {kind!r} else after(self, host, step)
import operations.netplan, operations.ollama
operations.netplan.ACTIVE_WITHIN_SECONDS = operations.ollama.SHOWS_WITHIN_SECONDS = 0
operations.netplan.DURABLE_WITHIN_SECONDS = operations.ollama.ANSWERS_WITHIN_SECONDS = 0
"""
"""The host says that a command ended well, and nothing has come of it."""


class Done(NamedTuple):
    """A command of ours that ended, and its receipt's events."""

    status: int
    out: str
    err: str
    events: list[dict[str, Any]]

    @property
    def outcome(self) -> str | None:
        """As the receipt says; None where it was not closed."""
        last = self.events[-1]
        return str(last["data"]["outcome"]) if last["event"] == "closed" else None

    @property
    def digest(self) -> str:
        """Of the plan that was shown."""
        return str(PLAN.findall(self.err)[-1])


class Lab:
    """A played site, and `sparks` on it."""

    def __init__(self, folder: Path) -> None:
        self.site = Site(folder)
        self.receipts = folder / "receipts"
        self.written = 0
        """How many commands the last run has carried out."""

    def sparks(self, *arguments: str, patch: str = "") -> Done:
        (self.site.world / "patch.py").write_text(patch)
        receipts = () if "readback" in arguments else ("--receipts", str(self.receipts))
        done = self.site.sparks(*arguments, *receipts)
        self.written = len(done.commands)
        newest = max(self.receipts.glob("*.jsonl"), default=None)
        lines = newest.read_text().splitlines() if newest else []
        assert "Traceback" not in done.err, done.err
        return Done(done.status, done.out, done.err, [json.loads(line) for line in lines])

    def approved(self, target: str, patch: str = "") -> Done:
        """Look at the plan, and carry it out."""
        return self.sparks("converge", target, "--yes", "--plan", self.sparks("converge", target).digest, patch=patch)

    @property
    def end(self) -> dict[str, Any]:
        """How the Spark `a` is, without the stamp: it says when."""
        return {name: value for name, value in self.site["a"].to_json().items() if name != "generation"}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    if lab.receipts.exists():
        verified = lab.sparks("receipts", "verify")
        assert verified.status == 0, verified.out + verified.err


def test_converged_and_then_found_as_desired_with_nothing_written(lab: Lab) -> None:
    done = lab.approved("chat")
    assert (done.status, done.outcome) == (0, Outcome.CONVERGED), done.err
    begun = [each["data"]["subject"] for each in done.events if each["event"] == "step_begun"]
    assert begun == [each["data"]["subject"] for each in done.events if each["event"] == "step_done"]
    assert len(begun) == len(set(begun)) > 0
    again = lab.sparks("converge", "chat", "--json")
    assert (again.status, again.outcome, lab.written) == (0, Outcome.FOUND_AS_DESIRED, 0), again.err
    document = json.loads(again.out)
    assert (document["outcome"], document["refusals"]) == (again.outcome, [])
    assert {each["verdict"] for each in document["findings"]} == {"ok"}
    assert lab.sparks("readback", "chat").status == 0


def test_nobody_there_to_be_asked_is_no_yes(lab: Lab) -> None:
    done = lab.sparks("converge", "chat")
    assert (done.status, done.outcome, lab.written) == (3, Outcome.REFUSED, 0)
    assert f"--yes --plan {done.digest}" in done.out
    assert lab.sparks("readback", "chat").status == 2


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["converge", "all"], 3, "[target_all]"),
        (["converge", ""], 3, "[target_empty]"),
        (["converge", "nobody"], 3, "[target_unknown]"),
        (["converge", "chat", "--yes"], 1, "--yes: expected it together with --plan"),
        (["converge", "chat", "--yes", "--plan", "sha256:" + 64 * "0"], 3, "[plan_moved]"),
        *(
            (["converge", "chat", "--yes", "--plan", wrong], 1, "expected sha256: and 64 hex digits, found")
            for wrong in ("", "sha256:1234", 64 * "0", "sha256:" + 64 * "A", "sha256:0123…")
        ),
    ],
)
def test_what_is_no_exact_target_and_no_exact_plan_writes_nothing(
    lab: Lab, arguments: list[str], status: int, says: str
) -> None:
    done = lab.sparks(*arguments)
    assert done.status == status
    assert says in done.out + done.err
    assert lab.written == 0


def test_a_host_that_moved_since_the_plan_was_looked_at_is_refused(lab: Lab) -> None:
    looked = lab.sparks("converge", "chat")
    lab.site["a"] = observed.with_link(lab.site["a"], observed.link("enp1s0f0np0", mtu=4000))
    done = lab.sparks("converge", "chat", "--yes", "--plan", looked.digest)
    assert (done.status, done.outcome, lab.written) == (3, Outcome.REFUSED, 0)
    assert "[plan_moved]" in done.out


@pytest.mark.parametrize("kind", ["write_document", "activate", "ollama_load"])
def test_what_the_host_lost_silently_differs(lab: Lab, kind: str) -> None:
    done = lab.approved("chat", patch=LOSES.format(kind=kind))
    assert (done.status, done.outcome) == (1, Outcome.DIFFERS), done.err
    assert lab.approved("chat").outcome == Outcome.CONVERGED


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How the Spark is where nothing stops a run."""
    lab = Lab(tmp_path_factory.mktemp("undisturbed"))
    assert lab.approved("chat").outcome == Outcome.CONVERGED
    return lab.end


@pytest.mark.parametrize("after", [0, 2, 5])
@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_what_is_stopped_anywhere_is_told_and_finished_by_the_next(
    lab: Lab, undisturbed: dict[str, Any], signal: str, after: int
) -> None:
    done = lab.approved("chat", patch=STOPS.format(signal=signal, after=after))
    if signal == "SIGKILL":
        assert (done.status, done.outcome) == (-9, None)
    else:
        assert (done.status, done.outcome) == (130, Outcome.INTERRUPTED), done.err
    assert lab.end != undisturbed
    assert lab.approved("chat").outcome == Outcome.CONVERGED
    assert lab.end == undisturbed
