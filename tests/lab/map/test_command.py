"""`sparks map`: what it asks, what it writes, and what its exit status says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fleet.observation import Observation
from lab.collect import roster_of
from lab.map import command
from tests import forked
from tests.fleet import shapes
from tests.fleet.test_roster import GOOD
from tests.lab.test_site import ROOT, Site, changed

EXAMPLE = ROOT / "docs" / "reference" / "ring.svg"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.map_command, arguments)


def sparks(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return forked.ran(forked.sparks_command, "map", *arguments, environment=environment)


@pytest.fixture(name="inventory")
def _inventory(tmp_path: Path) -> str:
    return str(Site(tmp_path).inventory)


def observed(monkeypatch: pytest.MonkeyPatch, **ways: Any) -> None:
    """Lets each Spark of the site be seen in some way."""

    def collect(inventory: str) -> dict[str, Observation]:
        roster = roster_of(inventory)
        return {name: ways[name](roster, name) for name in roster.enrolled}

    monkeypatch.setattr(command, "collect", collect)


@pytest.mark.parametrize(
    ("one", "other", "state", "status"),
    [
        (shapes.as_desired, shapes.as_desired, "as desired", 0),
        (shapes.as_desired, shapes.blank, "pending", 2),
        (shapes.blank, shapes.pulled, "refused", 3),
        (shapes.blank, shapes.silent, "not observed", 3),
    ],
)
def test_the_status_is_that_of_the_gravest_spark(
    one: Any, other: Any, state: str, status: int, inventory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed(monkeypatch, a=one, b=other)
    for form in ("text", "svg", "json"):
        done = run("-i", inventory, "--format", form)
        assert done.exit_code == status, done.output
    assert json.loads(done.stdout)["state"] == state


def test_desired_only_contacts_no_host(inventory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "collect", None)
    done = run("-i", inventory, "--desired-only", "--format", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["state"] == "declared"


def test_a_host_that_does_not_answer_is_drawn_as_not_observed(inventory: str) -> None:
    done = sparks("-i", inventory)
    assert done.returncode == 3, done.stderr
    assert "not observed: a: no answer over SSH: Could not connect" in " ".join(done.stdout.split())
    assert "\x1b" not in done.stdout
    assert "Traceback" not in done.stderr


def test_the_file_gets_what_would_have_been_printed(inventory: str, tmp_path: Path) -> None:
    for form in ("text", "svg", "json"):
        target = tmp_path / "map"
        done = run("-i", inventory, "--desired-only", "--format", form, "-o", str(target))
        assert done.exit_code == 0
        assert done.stdout == ""
        assert done.stderr == f"{target}: 3 Sparks: 2 declared, 1 only named\n"
        assert target.read_text() == run("-i", inventory, "--desired-only", "--format", form).stdout


@pytest.mark.parametrize(("name", "begin"), [("x.svg", "<svg "), ("x.json", "{\n"), ("x.txt", "elsewhere\n"),
                                             ("x", "elsewhere\n")])  # fmt: skip
def test_the_files_name_says_its_format(name: str, begin: str, inventory: str, tmp_path: Path) -> None:
    run("-i", inventory, "--desired-only", "-o", str(tmp_path / name))
    assert (tmp_path / name).read_text().startswith(begin)


def test_an_output_that_cannot_be_is_said_before_a_host_is_asked(
    inventory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "collect", None)
    done = run("-i", inventory, "-o", str(tmp_path / "nowhere" / "x.svg"))
    assert done.exit_code == 1
    assert done.output.count("\n") == 1
    assert "nowhere/x.svg: expected a file that can be written, found No such file or directory" in done.output


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-i", "nowhere.py"), "nowhere.py: expected an inventory file, found none"),
        (("--format", "png"), "Invalid value for '--format': 'png' is not one of 'text', 'svg', 'json'"),
        (("--sideways",), "No such option '--sideways'"),
    ],
)
def test_wrong_usage_fails_and_does_not_say_that_changes_are_pending(arguments: tuple[str, ...], line: str) -> None:
    done = sparks(*arguments)
    assert done.returncode == 1
    assert line in done.stderr
    assert not done.stdout


def test_a_roster_that_cannot_be_is_named(tmp_path: Path) -> None:
    site = Site(tmp_path, changed(lambda end: end.update(mtu=1500)))
    done = run("-i", str(site.inventory))
    assert done.exit_code == 1
    assert "expected one MTU at every end" in done.output


def test_the_picture_does_not_depend_on_the_process() -> None:
    code = ("from fleet.map import map_of; from lab.map.layout import picture; from lab.map.svg import svg; "
            "from tests.fleet.shapes import sites; "
            "print(*(svg(picture(map_of(name, each, None))) for name, each in sites(4).items()))")  # fmt: skip
    seeds = (os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed} for seed in ("1", "2"))
    shown = [subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=each, check=True, capture_output=True).stdout
             for each in seeds]  # fmt: skip
    assert shown[0] == shown[1]


def test_the_example_in_the_docs_is_current() -> None:
    """`sparks map -i inventories/ring.py --desired-only -o docs/reference/ring.svg` writes it."""
    done = run("-i", str(ROOT / "inventories" / "ring.py"), "--desired-only", "--format", "svg")
    assert done.stdout == EXAMPLE.read_text(encoding="utf-8")


def test_the_page_explains_every_key_of_the_json(inventory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    observed(monkeypatch, a=shapes.blank, b=shapes.pulled)
    page = (ROOT / "docs" / "reference" / "map.md").read_text(encoding="utf-8")
    values = json.loads(run("-i", inventory, "--format", "json").stdout)
    assert GOOD["fabrics"].keys() == {each["name"] for each in values["fabrics"]}
    assert not [key for key in keys(values) if f"`{key}`" not in page]


def keys(value: Any) -> set[str]:
    match value:
        case dict():
            return set(value).union(*(keys(each) for each in value.values()))
        case list():
            return set().union(*(keys(each) for each in value))
    return set()
