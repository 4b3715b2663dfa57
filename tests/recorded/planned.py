"""What `sparks plan --from` says of a recorded observation, and what it is expected to say."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from lab.plans.command import plan_command
from lab.plans.documents import PlanDocument
from lab.plans.files import read_collection

HERE = Path(__file__).parent
SITE = HERE / "site.py"
OBSERVATION, EXPECTED = "observation.json", "expected.json"


def recorded() -> dict[str, Path]:
    """The folder of each case that was recorded, by name."""
    return {path.parent.name: path.parent for path in sorted(HERE.glob(f"*/{OBSERVATION}"))}


def planned(observation: Path, inventory: Path = SITE) -> dict[str, Any]:
    """What a plan from an observation says, as plain JSON types: all of it but who made it, when and with what."""
    target = read_collection(str(observation)).target.name
    done = CliRunner().invoke(plan_command, [target, "--from", str(observation), "--json", "-i", str(inventory)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    document = PlanDocument.from_canonical(done.stdout)
    hosts = () if document.plan is None else document.plan.hosts
    return {
        "status": done.exit_code,
        "steps": [f"{step.kind}: {step}" for host in hosts for step in host.steps],
        "refusals": [str(each) for each in document.refusals],
        "needs nothing": [each for host in hosts for each in host.considered],
        "not observed": [f"{each.section}: {each.reason}" for host in hosts for each in host.unseen],
        "notes": [each for host in hosts for each in host.notes],
    }


def expect(folder: Path) -> None:
    """Take what a plan says now for what is expected: whoever commits it has read it."""
    text = json.dumps(planned(folder / OBSERVATION), indent=2, ensure_ascii=False)
    (folder / EXPECTED).write_text(text + "\n", encoding="utf-8")
