"""Whole runs on a simulated Spark whose deployment says what it needs: nothing is loaded that has not fitted before,
unless somebody says that it shall be tried; once it is well, that it fitted is kept."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.evidence import FitEvidence
from fleet.observation import known
from fleet.ollama.measured import Occasion, fit_evidence
from fleet.ollama.observed import Residency
from fleet.ollama.steps import LoadResident, PullModel
from fleet.roster import Roster
from fleet.step import Step
from lab.evidence.store import put, read_store
from tests.deploys.site import VALUES
from tests.fleet.ollama import fitting, host
from tests.fleet.spelled import spelled
from tests.simulated import site as simulated
from tests.simulated.controller import Ran, run
from tests.simulated.spark import SimulatedSpark
from tests.simulated.world import World

DECLARED: dict[str, Any] = VALUES | {"deployments": {"chat": {"spark": "a", "ollama": spelled(fitting.DESIRED)}}}
ROSTER = Roster.read(DECLARED, "site")
NONE = (
    "a memory: expected evidence that exactly this has fitted, found none [fit_not_evidenced]\n"
    "  to try it for the first time: sparks converge a --admit-first; with pyinfra: --data admit=a"
)
REFUSED = 3


class Lab:
    """A site, and its Sparks between two runs."""

    def __init__(self, folder: Path) -> None:
        self.site, self.evidence = simulated.Site(folder), folder / "evidence"
        (folder / "inventories" / "group_data" / "elsewhere.py").write_text(f"roster = {DECLARED!r}\n")
        sparks = {name: SimulatedSpark.as_it_comes(ROSTER.desired_for(name)) for name in ROSTER.enrolled}
        self.world = World(sparks)
        self.has(memory=fitting.memory(100.0))

    def has(self, **sections: Any) -> None:
        """The Spark that serves is otherwise from now on."""
        self.world.sparks["a"].change(**sections)

    def forgets(self) -> None:
        """What it had loaded is gone."""
        self.has(ollama_residency=Residency(source="api"))

    def sparks(self, *command: str) -> Ran:
        folders = ("--receipts", str(self.site.receipts), "--evidence", str(self.evidence))
        given = folders if command[0] in ("converge", "apply") else folders[2:]
        ran = run(self.world, self.site.folder, "sparks", *command, "-i", str(self.site.inventory), *given)
        self.world = ran.world.next_run()
        assert "Traceback" not in ran.said, ran.said
        return ran

    def converge(self, *options: str) -> Ran:
        """Look at the plan, and carry out what was shown."""
        plan = re.findall(r"plan (sha256:[0-9a-f]{64})", self.sparks("converge", "chat", *options).said)[0]
        return self.sparks("converge", "chat", *options, "--yes", "--plan", plan)

    def events(self, name: str) -> list[dict[str, Any]]:
        """What the last receipt says under a name."""
        receipt = self.site.last_receipt()
        assert receipt is not None
        return [line.data.to_json() for line in receipt.lines if line.event == name]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_first_time_is_asked_for_and_from_then_on_its_evidence_admits_it(lab: Lab) -> None:
    refused = lab.sparks("converge", "chat")
    assert (refused.status, NONE in refused.said) == (REFUSED, True)
    assert not lab.world.parts, "nothing was written"
    first = lab.converge("--admit-first")
    assert first.status == 0, first.said
    (one,) = read_store(lab.evidence).evidence
    subject = one.subject.digest
    assert lab.events("admitted") == [{"host": "a", "subject": subject, "evidence": None}]
    assert lab.events("evidenced") == [{"host": "a", "subject": subject, "evidence": one.digest}]
    receipt = lab.site.last_receipt()
    assert receipt is not None
    assert (one.deployment, one.receipt) == ("chat", receipt.name)
    lab.forgets()
    again = lab.converge()
    assert again.status == 0, again.said
    assert f"memory fit: admitted by evidence {one.digest}" in again.said
    assert lab.events("admitted") == [{"host": "a", "subject": subject, "evidence": one.digest}]
    assert (lab.events("evidenced"), read_store(lab.evidence).evidence) == ([], (one,))
    measured = lab.sparks("evidence", "record", "chat")
    assert (measured.status, len(read_store(lab.evidence).evidence)) == (0, 2), measured.said


def test_evidence_of_another_kernel_or_that_was_changed_admits_nothing(lab: Lab) -> None:
    desired, seen = ROSTER.desired_for("a").ollama, lab.world.sparks["a"].seen
    assert desired is not None
    occasion = Occasion(deployment="chat", at=host.NOON, by="ann@desk")
    one = fit_evidence(desired, None, seen, occasion)
    assert isinstance(one, FitEvidence)
    put(lab.evidence, one)
    kernel = known(seen.kernel)
    lab.has(kernel=kernel.replaced(release="7.0.0-1019-nvidia"))
    told = lab.sparks("fit", "chat")
    assert told.status == 0
    assert "is of another: release of a" in told.said
    assert NONE in lab.sparks("plan", "chat").said
    lab.has(kernel=kernel)
    (file,) = lab.evidence.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    changed = lab.sparks("plan", "chat")
    assert (changed.status, NONE in changed.said) == (REFUSED, True)
    assert f"{file}: expected the content that its name is the digest of" in changed.said


def test_what_does_not_fit_is_refused_and_what_would_fit_is_told(lab: Lab) -> None:
    lab.has(memory=fitting.memory(10.0))
    refused = lab.sparks("plan", "chat", "--admit-first")
    assert refused.status == REFUSED
    assert "1.00 GiB less than that [memory_short]\n  sparks fit a" in refused.said
    told = lab.sparks("fit", "chat")
    assert told.status == REFUSED
    assert "would fit: qwen3:0.6b: context 4,096 instead of 8,192; 0 B to spare" in told.said
    assert "would fit: qwen3:0.6b: 1 slot instead of 2; 0 B to spare" in told.said


class Crowded(SimulatedSpark):
    """Somebody takes its memory while a model is being pulled."""

    def stages(self, step: Step) -> Iterator[None]:
        yield from super().stages(step)
        if isinstance(step, PullModel):
            self.change(memory=fitting.memory(10.0))


def test_what_becomes_short_while_a_run_executes_is_not_loaded(lab: Lab) -> None:
    lab.world.sparks["a"] = Crowded.as_it_comes(ROSTER.desired_for("a"))
    lab.has(memory=fitting.memory(100.0))
    ran = lab.converge("--admit-first")
    assert ran.status == 1
    assert "[memory_short]" in ran.said
    assert known(lab.world.sparks["a"].seen.ollama_residency).residents == ()
    assert read_store(lab.evidence).evidence == ()


class Short(SimulatedSpark):
    """Its engine finds less memory than the kernel calls available."""

    has_enough = False

    def fails(self, step: Step) -> str | None:
        if self.has_enough or not isinstance(step, LoadResident):
            return None
        return f"load {step.model}: /api/generate: status 500: model requires more system memory (9.0 GiB)"


def test_what_its_engine_would_not_load_is_kept_and_not_tried_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.world.sparks["a"] = Short.as_it_comes(ROSTER.desired_for("a"))
    lab.has(memory=fitting.memory(100.0))
    ran = lab.converge("--admit-first")
    assert ran.status == 1, ran.said
    assert "model requires more system memory (9.0 GiB) [did_not_fit]" in ran.said
    (one,) = read_store(lab.evidence).evidence
    assert (one.kind, "9.0 GiB" in str(one.said)) == ("no fit", True)
    assert lab.events("refuted") == [{"host": "a", "subject": one.subject.digest, "evidence": one.digest}]
    monkeypatch.setattr(Short, "has_enough", True)
    again = lab.sparks("converge", "chat", "--admit-first")
    assert again.status == REFUSED
    assert f"found {one.digest} [known_not_to_fit]" in again.said
    told = lab.sparks("fit", "chat")
    assert (told.status, "did not fit when it was tried" in told.said) == (REFUSED, True)
    (file,) = lab.evidence.iterdir()
    file.unlink()
    assert lab.converge("--admit-first").status == 0
    assert [each.kind for each in read_store(lab.evidence).evidence] == ["fit"]


def test_with_pyinfras_own_command_a_first_time_is_named(lab: Lab) -> None:
    nobody = lab.site.pyinfra(lab.world, "--dry", "--data", "admit=nobody")
    assert nobody.status == 1
    assert "--data admit: nobody: expected one spark or one deployment of the roster, found none" in nobody.said
    dry = lab.site.pyinfra(nobody.world.next_run(), "--dry", "--data", "admit=chat")
    assert dry.status == 0
    assert "memory fit: admitted for the first time" in dry.said


def test_a_kept_plan_of_a_first_time_is_applied_as_that_also_where_no_evidence_can_be_kept(lab: Lab) -> None:
    file = str(lab.site.folder / "plan.json")
    assert lab.sparks("plan", "chat", "--admit-first", "-o", file).status == 2
    lab.evidence.mkdir(mode=0o755)
    applied = lab.sparks("apply", file)
    assert applied.status == 0, applied.said
    assert "no evidence of its fit was kept" in applied.said
    assert [each["host"] for each in lab.events("note")] == ["a"]


def test_a_spark_that_a_deployment_is_copied_from_is_not_asked_for_its_memory(lab: Lab) -> None:
    """It serves nothing, so nothing shall fit there; nor does a Spark of no deployment serve anything."""
    copied = json.loads(json.dumps(DECLARED))
    copied["deployments"]["chat"]["copy_from"] = ["b"]
    (lab.site.inventory.parent / "group_data" / "elsewhere.py").write_text(f"roster = {copied!r}\n")
    told = lab.sparks("fit", "chat")
    assert (told.status, "a: fits" in told.said, "b:" in told.said) == (0, True, False), told.said
    alone = lab.sparks("fit", "b")
    assert (alone.status, "found no deployment on it [memory_not_declared]" in alone.said) == (REFUSED, True)


def test_only_what_is_as_desired_and_well_is_evidence(lab: Lab) -> None:
    refused = lab.sparks("evidence", "record", "chat")
    assert (refused.status, NONE in refused.said) == (REFUSED, True)
    assert not lab.evidence.exists()
