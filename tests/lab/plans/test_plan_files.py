"""A plan in a file is read back only as it was written; what is wrong with another is told with its place."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from fleet.plan import Refusals
from fleet.refusal import Refusal
from lab.command import Failed
from lab.plans.documents import PlanDocument
from lab.plans.files import read_plan, write
from lab.plans.text import shown
from tests.fleet.test_plan_document import made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plan.json"


def test_it_is_read_back_as_it_was(file: Path) -> None:
    write(str(file), PlanDocument.of(made()))
    assert read_plan(str(file)) == made()
    assert file.stat().st_mode & 0o777 == 0o600


def changed(**changes: Any) -> Any:
    document: Any = PlanDocument.of(made()).to_json()
    host = document["plan"]["hosts"][0]
    match changes:
        case {"step": field, "value": value}:
            host["operations"][0]["steps"][0][field] = value
        case {"top": field, "value": value}:
            document[field] = value
    return document


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", ":1:2: expected JSON, found"),
        ("[" * 100_000, "plan.json: expected JSON as this program writes it, found"),
        ("9" * 10_000, "plan.json: expected JSON as this program writes it, found"),
        ("{}", ": due: expected a value, found none"),
        (json.dumps(changed(step="path", value="x")), "steps.0.write_document.path: expected no such key, found it"),
        (json.dumps(changed(step="effect", value="none")), "steps.0.write_document.effect: expected"),
        (json.dumps(changed(step="kind", value="rm")), "operations.0.steps.0.kind: expected one of 'remove_file', "),
        (json.dumps(changed(step="after", value="else")), ": plan_digest: expected sha256:"),
        (
            json.dumps(changed(top="due", value="as_desired")),
            "expected what is said of the plan to be so, found due as",
        ),
        (json.dumps(changed(top="plan_digest", value="sha256:" + "0" * 64)), ": plan_digest: expected sha256:"),
    ],
)
def test_another_is_refused_with_the_place_of_what_is_wrong(file: Path, content: str, says: str) -> None:
    file.write_text(content)
    with pytest.raises(Failed) as caught:
        read_plan(str(file))
    assert caught.value.message.startswith(str(file))
    assert says in caught.value.message


def test_what_was_refused_is_no_plan(file: Path) -> None:
    no = Refusal(code="no_carrier", subject="a", expected="x", found="y")
    write(str(file), PlanDocument.of(Refusals(refusals=(no,))))
    with pytest.raises(Failed, match="expected a plan, found that it was refused"):
        read_plan(str(file))
    with pytest.raises(Failed, match="expected a file with JSON, found No such file"):
        read_plan(str(file) + "x")


def test_a_plan_is_shown_with_every_step_and_its_reason() -> None:
    text = shown(made())
    assert all(step.subject in text and step.reason in text for step in made().steps)
    assert "needs nothing: machine" in text
    assert "commands: not known" in shown(made(), commands=True)


def test_nothing_of_a_plan_is_obeyed_by_a_terminal_or_makes_another_line() -> None:
    evil = "root\n\x1b[31mnothing is due\x07\u202e"
    plan = made().made_by(evil, f"now{evil}", {})
    text = shown(plan)
    assert len(text.splitlines()) == len(shown(made().made_by("root", "now", {})).splitlines())
    assert not set("\x1b\x07\u202e") & set(click.unstyle(text))
