"""With --json exactly one document stands on standard output: of every command of the tree, and in every end."""

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from fleet.outcome import Outcome
from fleet.refusal import Refusal
from lab import cli
from lab.command import Failed, Refused
from lab.document import put_document
from lab.interrupt import Interrupted
from lab.schemas import schema
from tests.lab.test_site import ROOT, Site

VALID = Draft202012Validator(schema("ended"))
REFUSAL = Refusal(code="target_unknown", subject="x", expected="a target", found="none")
ENDS: tuple[tuple[BaseException, Outcome], ...] = (
    (Refused.of(REFUSAL), Outcome.REFUSED),
    (Refused("x: expected it well, found it ill"), Outcome.REFUSED),
    (Failed("x: expected a file, found none"), Outcome.FAILED),
    (click.UsageError("--yes: expected it with --plan"), Outcome.FAILED),
    (KeyboardInterrupt(), Outcome.INTERRUPTED),
    (click.Abort(), Outcome.INTERRUPTED),
    (Interrupted("SIGTERM", at_once=True), Outcome.INTERRUPTED),
    (SystemExit(1), Outcome.FAILED),
    (SystemExit(3), Outcome.REFUSED),
    (RuntimeError("a bug"), Outcome.FAILED),
    (OSError(13, "Permission denied"), Outcome.FAILED),
)


def leaves(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from leaves(each, *path, name)
    elif any("--json" in each.opts for each in command.params):
        yield path, command


def every() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, place in cli._COMMANDS.items():
        module, _, attribute = place.partition(":")
        yield from leaves(getattr(import_module(module), attribute), name)


COMMANDS = dict(every())


@pytest.fixture(autouse=True)
def _this_process_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_patch_for_gevent", "_end_by_signals"):
        monkeypatch.setattr(cli, name, lambda: None)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, [*arguments, "--json"])


def needed(command: click.Command, argument: str = "nobody") -> list[str]:
    """A value for each argument that it cannot do without."""
    return [argument for each in command.params if isinstance(each, click.Argument) and each.required]


def ended(result: Result, outcome: Outcome) -> dict[str, Any]:
    """The one document of a command that came to no document of its own."""
    document: dict[str, Any] = json.loads(result.stdout)
    VALID.validate(document)
    assert (document["outcome"], result.exit_code) == (outcome, outcome.exit_status)
    return document


def ends_by(monkeypatch: pytest.MonkeyPatch, command: click.Command, callback: Callable[[], Any]) -> None:
    monkeypatch.setattr(command, "callback", lambda **_: callback())


def test_the_tree_has_them() -> None:
    assert {("apply",), ("drain",), ("kernel", "trial"), ("receipts", "verify"), ("pings",)} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("error", "outcome"), ENDS, ids=lambda each: type(each).__name__)
def test_an_end_before_its_own_document_is_one(
    monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], error: BaseException, outcome: Outcome
) -> None:
    def end() -> None:
        raise error

    ends_by(monkeypatch, COMMANDS[path], end)
    document = ended(run(*path, *needed(COMMANDS[path])), outcome)
    if isinstance(error, Refused) and error.refusals:
        assert [Refusal(**each) for each in document["refusals"]] == [REFUSAL]
    elif isinstance(error, click.ClickException):
        assert document["reason"] == error.message


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_after_its_own_document_there_is_no_other(monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]) -> None:
    def end() -> None:
        put_document({"its": "own"})
        raise Refused.of(REFUSAL)

    ends_by(monkeypatch, COMMANDS[path], end)
    result = run(*path, *needed(COMMANDS[path]))
    assert (json.loads(result.stdout), result.exit_code) == ({"its": "own"}, 3)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_wrong_usage_is_one(path: tuple[str, ...]) -> None:
    assert ended(run(*path, "--no-such-option"), Outcome.FAILED)["reason"]
    if needed(COMMANDS[path]):
        assert "argument" in ended(run(*path), Outcome.FAILED)["reason"].lower()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_bad_input_is_one(path: tuple[str, ...], tmp_path: Path) -> None:
    """No such inventory, and no file and no target of that name."""
    result = run(*path, *needed(COMMANDS[path], str(tmp_path / "nobody")), "-i", str(tmp_path / "none.py"))
    assert result.exit_code in (0, 1, 3), result.stderr
    assert json.loads(result.stdout)
    if result.exit_code == 0:
        assert path in {("receipts", "list"), ("evidence", "list"), ("evidence", "verify")}, "these need only a folder"


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_what_is_named_and_is_not_there_is_one(path: tuple[str, ...], tmp_path: Path) -> None:
    """A site whose hosts do not answer; a target that it does not have."""
    result = run(*path, *needed(COMMANDS[path]), "-i", str(Site(tmp_path).inventory))
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert json.loads(result.stdout)


def test_no_command_prints_one_by_another_way() -> None:
    """What is not printed by `put_document` is not known to have been."""
    others = {"document.py", "reference.py", "transport.py", "files.py", "map/command.py"}
    """The way itself; files, a log line, and a map, which has `--format json`."""
    for path in (ROOT / "lab").rglob("*.py"):
        if "json.dumps(" in path.read_text():
            assert any(str(path).endswith(f"/{each}") for each in others), f"{path}: print it by put_document"


@pytest.mark.parametrize("words", [("--json",), ("receipts", "--json"), ("--no-such", "--json"), ("nothing", "--json")])
def test_wrong_usage_of_a_group_is_one(words: tuple[str, ...]) -> None:
    ended(run(*words[:-1]), Outcome.FAILED)


def test_help_is_no_run() -> None:
    result = run("plan", "--help")
    assert (result.exit_code, result.stdout.startswith("Usage:")) == (0, True)


def test_without_json_nothing_of_it_is_said() -> None:
    result = CliRunner().invoke(cli.main, ["apply", "/nonexistent"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert CliRunner().invoke(cli.main, ["apply", "--", "--json"]).stdout == ""
