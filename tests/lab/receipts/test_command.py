"""`sparks receipts`: what it shows, what its status says, and that nothing in a receipt can act on who reads it."""

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from fleet.outcome import Outcome
from fleet.receipt.acts import Health, OperationFailed
from fleet.receipt.chain import HEAD
from fleet.receipt.events import Note
from fleet.refusal import Refusal
from lab.receipts.command import receipts
from lab.receipts.journal import opened
from lab.schemas import schema
from tests import forked
from tests.lab.receipts.writing import ABOUT, BEGUN, write

NASTY = "<script>alert(1)</script>\x1b[2J\u202e\"'&"


def run(place: Path, *arguments: str) -> Result:
    return CliRunner().invoke(receipts, arguments, env={"SPARKS_RECEIPTS": str(place)})


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Path:
    """Three receipts: converged, failed with much to say, unclosed."""
    place = tmp_path / "receipts"
    write(place)
    refusal = Refusal(code="not_active", subject="srv5 enp1s0f0np0", expected="9000", found=NASTY, hint="look there")
    with opened(place, ABOUT.model_copy(update={"target": NASTY})) as journal:
        journal.say(Note(host="srv5", text=NASTY))
        journal.say(OperationFailed(host="srv5", operation="rails", reason="refused", refusals=(refusal,)))
        journal.say(Health(host="srv5", findings=()))
        journal.close(Outcome.FAILED, refusals=(refusal,))
    with opened(place, ABOUT) as journal:
        journal.say(BEGUN)
        head = (place / HEAD).read_bytes()
        journal.close(Outcome.CONVERGED)
    killed = place / journal.name
    killed.write_bytes(b"".join(killed.read_bytes().splitlines(keepends=True)[:2]) + b'{"at')
    (place / HEAD).write_bytes(head)
    write(place)
    return place


def test_the_list_has_a_line_for_each(place: Path) -> None:
    done = run(place, "list")
    assert done.exit_code == 0
    rows = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows[1:]] == ["000001", "000002", "000003", "000004"]
    assert [row[4] for row in rows[1:]] == ["converged", "failed", "unclosed", "converged"]
    assert "\x1b" not in done.stdout


def test_all_is_as_written_and_what_has_no_outcome_is_told(place: Path) -> None:
    done = run(place, "verify")
    assert done.exit_code == 0
    told, last = done.stdout.splitlines()
    assert re.fullmatch(r"000003-\S+\.jsonl: unclosed after 2 lines, the last one torn", told)
    assert re.fullmatch(r"4 receipts as written, last seal sha256:[0-9a-f]{64}", last)
    seal = last.split()[-1]
    assert run(place, "verify", "--expect", seal).exit_code == 0
    missed = run(place, "verify", "--expect", seal[:-1] + ("0" if seal[-1] != "0" else "1"))
    assert missed.exit_code == 1
    assert "[not_found]" in missed.stdout


def test_what_is_wrong_is_told_with_its_place_and_status_1(place: Path) -> None:
    (first,) = place.glob("000001-*")
    content = first.read_bytes()
    first.write_bytes(content.replace(b'"changed":true', b'"changed":tru3'))
    done = run(place, "verify")
    assert done.exit_code == 1
    assert done.stdout.startswith(f"{first.name}:3: expected a line as it was written, found ")
    assert "sparks receipts verify says what" in run(place, "list").stderr
    assert "Not as it was written" in run(place, "show", "1").stdout
    first.unlink()
    gone = run(place, "verify")
    assert gone.exit_code == 1
    assert f"{first.name}: expected this receipt, to which 000002-" in gone.stdout
    assert run(place, "verify", "--since", "2").exit_code == 0
    assert len(json.loads(run(place, "verify", "--json").stdout)["faults"]) == 1


def test_one_is_found_by_its_number_its_name_or_as_the_newest(place: Path) -> None:
    names = sorted(path.name for path in place.glob("*.jsonl"))
    for wanted, name in (("2", names[1]), (names[1], names[1]), ("000003", names[2]), ("000003-", names[2])):
        done = run(place, "show", wanted)
        assert done.exit_code == 0
        assert done.stdout.splitlines()[0].split() == ["receipt", name]
    assert names[-1] in run(place, "show").stdout
    for wanted in ("9", "0000", "x"):
        done = run(place, "show", wanted)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "expected the number or the name of one receipt" in done.stderr


def test_an_unclosed_one_says_what_may_have_been_done(place: Path) -> None:
    done = run(place, "show", "3")
    assert "outcome         unclosed: its process is gone and said no outcome\n" in done.stdout
    assert "it may have been done, in part or whole:\n  srv5 rail documents: begun\n" in done.stdout


def test_a_refusal_stands_with_its_hint(place: Path) -> None:
    lines = run(place, "show", "2").stdout.splitlines()
    (at,) = [number for number, line in enumerate(lines) if "operation failed" in line]
    assert "expected 9000, found <script>" in lines[at + 1]
    assert lines[at + 2].strip() == "look there"
    assert "\x1b" not in "".join(lines)
    assert "\u202e" not in "".join(lines)


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_needs_nothing_else_and_runs_nothing(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert run(place, "show", "2", "--html", "-o", str(file)).stdout == ""
    text = file.read_text(encoding="utf-8")
    page = Page(text)
    assert not page.tags & {"script", "link", "img", "iframe", "object", "a", "form"}
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert "<script>alert(1)</script>" in page.words
    assert "&lt;script&gt;" in text
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert run(place, "show", "3", "--html").stdout.count("<li>") == 1


@pytest.mark.parametrize("command", ["list", "show", "verify"])
def test_json_is_as_its_schema_says(command: str, place: Path) -> None:
    document = json.loads(run(place, command, "--json").stdout)
    Draft202012Validator(schema(f"receipts-{command}")).validate(document)


def test_json_is_one_document(place: Path) -> None:
    assert [each["outcome"] for each in json.loads(run(place, "list", "--json").stdout)["receipts"]] == [
        "converged", "failed", None, "converged",
    ]  # fmt: skip
    shown = json.loads(run(place, "show", "3", "--json").stdout)
    assert (shown["state"], [each["event"] for each in shown["lines"]]) == ("unclosed", ["opened", "operation_begun"])
    verdict = json.loads(run(place, "verify", "--json").stdout)
    assert [name[:6] for name in verdict["unclosed"]] == ["000003"]
    assert verdict["faults"] == []


def test_one_that_is_being_written_is_running(place: Path) -> None:
    with opened(place, ABOUT) as journal:
        journal.say(BEGUN)
        assert "running: its process is still at work" in run(place, "show").stdout
        assert json.loads(run(place, "verify", "--json").stdout)["running"] == [journal.name]
        journal.close(Outcome.FAILED)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "none"
    assert run(gone, "list").exit_code == 0
    assert json.loads(run(gone, "list", "--json").stdout)["receipts"] == []
    for command in ("show", "verify"):
        done = run(gone, command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert f"{gone}: expected a folder for receipts, found No such file or directory" in done.stderr
    assert not gone.exists()


def test_the_folder_is_the_sites_own(tmp_path: Path) -> None:
    (tmp_path / "group_data").mkdir()
    (tmp_path / "group_data" / "home.py").write_text("roster = {}")
    write(tmp_path / "receipts")
    done = sparks("verify", "-i", str(tmp_path / "home.py"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 receipt as written")
    done = sparks("verify", "-i", str(tmp_path / "other.py"))
    assert done.returncode == 1
    assert "name a folder with --receipts or SPARKS_RECEIPTS" in done.stderr
    assert "Traceback" not in done.stderr
    assert sparks("verify", "--no-such-option").returncode == 1


def sparks(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return forked.ran(forked.sparks_command, "receipts", *arguments)
