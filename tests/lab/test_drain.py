"""`sparks drain`: how it ends, what it prints, and that only a drain is written down as one."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from pyinfra.api.exceptions import ConnectError

import lab.collect
import lab.drain
from fleet.drain import Drain, End, Waiting
from fleet.outcome import Outcome
from fleet.receipt.receipt import Receipt
from fleet.refusal import Refusal
from lab.drain_document import Drains
from lab.interrupt import Interrupted
from lab.receipts.drained import FRESH_SECONDS, drained_in
from lab.receipts.ledger import read_folder
from lab.site import site as make_site
from tests.fleet.ollama.host import PROCESS
from tests.fleet.test_roster import GOOD

VALUES = GOOD | {"deployments": {"chat": {"spark": "a", "ollama": {"listen": "127.0.0.1:11434"}}}}
QUIET = Drain(host="a", end=End.QUIET, invocation=PROCESS, quiet_seconds=30, models=("m:1",))
BUSY = Drain(host="a", end=End.TIMEOUT, invocation=PROCESS, activity=("1 may run, from 10.0.0.9",))
LOCKED = Refusal(code="locked", subject="a lock", expected="no other run", found="one")
BLIND = Refusal(code="drain_failed", subject="a ollama.service", expected="to see", found="no answer to its end")


class Site:
    """A site of which one Spark serves, and what its drain finds."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "group_data").mkdir()
        (root / "group_data" / "site.py").write_text(f"roster = {VALUES!r}\n")
        (root / "site.py").write_text("")
        self.inventory, self.receipts = str(root / "site.py"), root / "receipts"
        self.found: Any = QUIET
        self.wishes: list[Any] = []
        self.answers = True
        self.host: Any = SimpleNamespace(name="a", connect=self.connect, disconnect=lambda: None)
        monkeypatch.setattr(lab.collect, "hosts_of", lambda *_: {"a": self.host})
        monkeypatch.setattr(lab.drain, "drained", self.drained)
        self.monkeypatch = monkeypatch

    def connect(self, **_: Any) -> None:
        if not self.answers:
            raise ConnectError("it is away")

    def drained(self, host: Any, wish: Any, tell: Any) -> Any:
        self.wishes.append(wish)
        for activity in (("1 may run, from 10.0.0.9",), ("1 may run, from 10.0.0.9",), ()):
            tell(Waiting(quiet_seconds=0, activity=activity))
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found

    def run(self, *arguments: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["sparks", "drain", *arguments])
        done = CliRunner().invoke(lab.drain.drain, [*arguments, "-i", self.inventory])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    @property
    def receipt(self) -> Receipt:
        ledger = read_folder(self.receipts)
        assert ledger.faults == ()
        return ledger.receipts[-1]

    @property
    def events(self) -> list[str]:
        return [line.event for line in self.receipt.lines]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.delenv("SPARKS_RECEIPTS", raising=False)
    return Site(tmp_path, monkeypatch)


@pytest.mark.parametrize("target", ["a", "chat"])
def test_drained_is_written_down_for_one_exact_process(site: Site, target: str) -> None:
    status, out, err = site.run(target)
    assert status == 0, err
    assert out.splitlines() == [
        "a: pid 7 of ollama.service: no request ran for 30 s",
        lab.drain.ADMITS,
        f"{target}: drained (receipt {site.receipt.name})",
    ]
    assert err.splitlines() == ["a: 1 may run, from 10.0.0.9", "a: quiet; 30 s of it are wanted"]
    assert site.events == ["opened", "host_connected", "drained", "closed"]
    assert site.receipt.outcome is Outcome.DRAINED
    assert drained_in(site.receipts) == {PROCESS.digest}
    assert site.receipt.opened is not None
    assert site.receipt.opened.command == ("sparks", "drain", target)


def test_what_is_asked_is_what_is_waited_for(site: Site) -> None:
    site.found = QUIET.replaced(unloaded=("m:1",))
    status, out, _ = site.run("a", "--quiet-seconds", "5", "--timeout", "60", "--unload")
    assert status == 0
    assert (site.wishes[0].seconds, site.wishes[0].timeout, site.wishes[0].unload) == (5, 60, True)
    assert "; unloaded m:1" in out
    assert site.events == ["opened", "host_connected", "drained", "note", "closed"]


@pytest.mark.parametrize(
    ("found", "status", "outcome", "said"),
    [
        (BUSY, 1, Outcome.FAILED, "found 1 may run, from 10.0.0.9"),
        (QUIET.replaced(end=End.GONE), 1, Outcome.FAILED, "found it ended"),
        (Drain(host="a", end=End.NOTHING), 0, Outcome.FOUND_AS_DESIRED, "nothing is served"),
        (LOCKED, 3, Outcome.REFUSED, "[locked]"),
        (BLIND, 1, Outcome.FAILED, "found no answer to its end [drain_failed]"),
    ],
)
def test_what_was_not_drained_is_no_drain(site: Site, found: Any, status: int, outcome: Outcome, said: str) -> None:
    site.found = found
    ended, out, err = site.run("a")
    assert ended == status
    assert said in (out if status == 0 else err)
    assert "drained" not in site.events
    assert site.receipt.outcome is outcome
    assert drained_in(site.receipts) == frozenset()


@pytest.mark.parametrize("found", [QUIET, BUSY, LOCKED])
def test_the_document_says_the_same(site: Site, found: Any) -> None:
    site.found = found
    status, out, _ = site.run("a", "--json")
    document = Drains.model_validate(json.loads(out))
    assert document.outcome.exit_status == status
    assert (document.outcome is Outcome.DRAINED) is (found == QUIET)
    assert (*document.drains, *document.refusals) == (found,)
    assert document.receipt == site.receipt.name


@pytest.mark.parametrize(
    ("target", "code"), [("b", "nothing_to_drain"), ("nobody", "target_unknown"), ("all", "target_all")]
)
def test_a_target_that_cannot_be_drained_is_refused_before_anything(site: Site, target: str, code: str) -> None:
    status, out, err = site.run(target)
    assert (status, out) == (3, "")
    assert f"[{code}]" in err
    assert not site.receipts.exists()


def test_a_host_that_does_not_answer_is_refused_with_a_receipt(site: Site) -> None:
    site.answers = False
    status, _, err = site.run("a")
    assert (status, "a: expected an observation, found no answer over SSH: it is away [unobserved]" in err) == (3, True)
    assert site.receipt.outcome is Outcome.REFUSED


def test_an_interrupted_one_is_none(site: Site) -> None:
    site.found = Interrupted("SIGTERM", at_once=True)
    assert site.run("a")[0] == 130
    assert site.receipt.outcome is Outcome.INTERRUPTED
    assert drained_in(site.receipts) == frozenset()


@pytest.mark.parametrize(("seconds", "counts"), [(-FRESH_SECONDS + 60, True), (FRESH_SECONDS + 60, False)])
def test_an_old_drain_says_nothing_of_now(
    site: Site, monkeypatch: pytest.MonkeyPatch, seconds: int, counts: bool
) -> None:
    site.run("a")
    written = site.receipt.lines[-1].at.timestamp()
    monkeypatch.setattr("lab.receipts.drained.time", SimpleNamespace(time=lambda: written + seconds))
    assert bool(drained_in(site.receipts)) is counts


def test_a_site_finds_a_drain_where_the_receipts_are(site: Site, tmp_path: Path) -> None:
    known_hosts, elsewhere = tmp_path / "known_hosts", str(tmp_path / "elsewhere")
    known_hosts.write_text("")

    def drained_there(*_: Any) -> dict[str, Any]:
        """Loads the inventory as the command does, before the drain."""
        hosts = make_site(site.inventory, {name: {"ssh_hostname": "x"} for name in ("a", "b")}, known_hosts)
        found.append([data["drained"] for _, data in hosts])
        return {"a": site.host}

    found: list[Any] = []
    site.monkeypatch.setattr(lab.collect, "hosts_of", drained_there)
    for options in ((), (), ("--receipts", elsewhere), ("--receipts", elsewhere), ()):
        assert site.run("a", *options)[0] == 0
    none: list[list[str]] = [[], []]
    drained = [[PROCESS.digest]] * 2
    assert found == [none, drained, none, drained, drained]
    assert "SPARKS_RECEIPTS" not in os.environ


def test_a_receipt_that_was_edited_drains_nothing(site: Site) -> None:
    site.run("a")
    (path,) = site.receipts.glob("*.jsonl")
    path.write_text(path.read_text().replace('"idle_seconds":30.0', '"idle_seconds":31.0'))
    assert drained_in(site.receipts) == frozenset()
    assert drained_in(site.receipts / "none") == frozenset()
