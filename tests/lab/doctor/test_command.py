"""The command: what it asks, what it prints, and how it ends; hosts are only observations here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from facts.needs_doctor import doctor_looks
from fleet.doctor.finding import Finding, Level
from fleet.generation import Stamp
from fleet.observation import Observation, known
from fleet.ollama.service import ResidentsUnit
from fleet.record import Unobserved
from fleet.target import Scope
from lab.doctor import command, visit
from lab.doctor.fixing import concerned
from lab.schemas import schema
from tests.fleet import observed
from tests.fleet.doctor.hosts import host, well
from tests.fleet.ollama import host as ollama_host
from tests.fleet.test_ledger import apps
from tests.lab.test_site import Site

Ran = Callable[..., Result]
VALUES = {"sparks": {"a": {"enrolled": True}, "b": {"enrolled": True}}}
UNTOUCHED = ollama_host.service(drop_ins=(), residents=ResidentsUnit(), process_environment={})
QUIET = {
    "ollama_service": UNTOUCHED,
    "ollama_servers": (),
    "processes": known(host().seen.processes).replaced(processes=()),
}
EMPTY = ("netplan", "links", "connections", "roce_devices", "roce_gids")


def seen(name: str, **sections: Any) -> Observation:
    """A Spark without rails and without anything served, on which all is well."""
    network = {each: getattr(observed.blank(name), each) for each in EMPTY}
    return well().replaced(**{"host": name, "generation": Stamp(generation=None)} | network | QUIET | sections)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Runs the command on a site of two Sparks, a and b, that are these observations."""
    site = Site(tmp_path, VALUES)
    monkeypatch.setattr(visit, "reached", lambda hosts: ())

    def ran(*arguments: str, **seen_of: Observation) -> Result:
        def collect(inventory: str, names: tuple[str, ...], looks: Any, seconds: float) -> dict[str, Observation]:
            assert (looks, seconds) == (doctor_looks, 7.0 if "--timeout" in arguments else 150)
            return {name: seen_of.get(name, seen(name)) for name in names}

        monkeypatch.setattr(visit, "collect", collect)
        return CliRunner().invoke(command.doctor, [*arguments, "-i", str(site.inventory)])

    return ran


def document(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    Draft202012Validator(schema("doctor")).validate(found)
    return found


def test_it_ends_with_the_gravest(run: Ran) -> None:
    well_said = run()
    assert (well_said.exit_code, well_said.stdout.splitlines()[-1]) == (0, "2 INFO; asked: 2 Sparks"), well_said.output
    warned = run("a", a=seen("a", gpu=apps(pid99=1 << 30)))
    assert warned.exit_code == 2
    assert "WARN residency.stranger a python3: expected a resident of ours, or a declared neighbour" in warned.stdout
    assert warned.stdout.splitlines()[1] == "  name it under neighbours of a in the roster"
    lost = run("--json", b=seen("b", memory=Unobserved(reason="no answer in 5 s")))
    assert lost.exit_code == 3
    found = document(lost)
    assert (found["level"], found["hosts"]) == ("ERROR", ["a", "b"])
    assert any(each["id"] == "unobserved.section" and each["subject"] == "b memory" for each in found["findings"])


def test_a_target_is_asked_for_itself_alone(run: Ran) -> None:
    assert document(run("b", "a", "b", "--json", "--timeout", "7"))["hosts"] == ["b", "a"]
    wrong = run("zed")
    assert (wrong.exit_code, wrong.stdout) == (3, "")
    assert "zed: expected one spark or one deployment of the roster" in wrong.stderr


def test_static_asks_nobody(run: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "visit", lambda *_: pytest.fail("a host was asked"))
    found = run("--static")
    assert (found.exit_code, found.stdout) == (0, "nothing found; asked: the roster alone, no host\n")
    for beside in (("a",), ("--fix-plan", "x")):
        assert "--static: expected neither" in run("--static", *beside).stderr


def test_explain_needs_no_site(run: Ran) -> None:
    told = CliRunner().invoke(command.doctor, ["--explain", "kernel.kho", "-i", "nowhere.py"])
    assert (told.exit_code, told.stdout.splitlines()[0]) == (0, "kernel.kho (ERROR)")
    unknown = run("--explain", "kernel.ko")
    assert unknown.exit_code == 1
    assert "kernel.ko: expected one of" in unknown.stderr
    assert "as kernel.kho" in unknown.stderr


def test_what_a_host_says_cannot_move_the_cursor(run: Ran) -> None:
    found = run("a", a=seen("a", memory=Unobserved(reason="\x1b[2J\nERROR")))
    assert "\x1b" not in found.stdout
    assert "found �[2J ERROR" in found.stdout


def test_a_folder_for_plans_that_cannot_be_is_refused_before_any_host_is_asked(
    run: Ran, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "visit", lambda *_: pytest.fail("a host was asked"))
    (tmp_path / "file").write_text("")
    result = run("--fix-plan", str(tmp_path / "file"))
    assert (result.exit_code, "expected a folder for plans, found File exists" in result.stderr) == (1, True)


def fixable(host: str, scope: Scope | None) -> Finding:
    return Finding(level=Level.WARN, id="due.x", host=host, subject=host, expected="x", found="y", scope=scope)


def test_a_scope_that_another_includes_is_no_plan_of_its_own() -> None:
    found = [fixable("b", Scope.FABRIC), fixable("a", Scope.FABRIC), fixable("a", Scope.SERVE),
             fixable("a", Scope.HOST), fixable("a", Scope.HOST), fixable("c", None)]  # fmt: skip
    assert concerned(found) == (("a", Scope.HOST), ("a", Scope.SERVE), ("b", Scope.FABRIC))


def test_what_was_measured_is_read_and_judged(run: Ran, tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    for text, words in (
        ("[]", "nothing found"),
        ("[1", "measured.json:1: expected JSON, found"),
        ('[{"gbps": 1}]', "measured.json: 0.direction: expected what sparks bandwidth --json says, found"),
    ):
        file.write_text(text)
        assert words in run("--static", "--bandwidth", str(file)).output
    assert "expected what sparks bandwidth --json says, found No such file" in run("--bandwidth", "nowhere").output
