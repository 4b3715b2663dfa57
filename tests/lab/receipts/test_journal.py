"""A receipt is opened before anything is done, says the truth however the run ends, and is nobody else's to read."""

import errno
import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyinfra.api.exceptions import PyinfraError

from fleet.outcome import Outcome
from fleet.receipt.acts import OperationFailed
from fleet.receipt.chain import HEAD, NO_HEAD, ODD_HEAD
from fleet.receipt.events import Closed, Note
from fleet.receipt.link import State
from fleet.refusal import Refusal
from lab.command import Failed, Refused
from lab.interrupt import Interrupted
from lab.private_folder import write_whole
from lab.receipts import folder as folder_module
from lab.receipts import linefile
from lab.receipts.folder import folder
from lab.receipts.journal import opened
from lab.receipts.ledger import read_folder
from tests.fleet.receipt.said import saying
from tests.lab.receipts.writing import ABOUT, BEGUN, DONE, sound, started, write


def modes(place: Path) -> set[int]:
    return {stat.S_IMODE(each.stat().st_mode) for each in place.iterdir()}


def test_it_is_its_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write(tmp_path / "receipts")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "receipts").stat().st_mode) == 0o700
    assert modes(tmp_path / "receipts") == {0o600}


@settings(max_examples=20)
@given(said=st.lists(st.lists(saying, max_size=3), max_size=3))
def test_whatever_is_said_is_read_back(tmp_path_factory: pytest.TempPathFactory, said: list[list[Any]]) -> None:
    place = tmp_path_factory.mktemp("receipts", numbered=True)
    lines = []
    for events in said:
        with opened(place, ABOUT) as journal:
            lines.append([journal.say(each) for each in events])
            journal.close(Outcome.CONVERGED)
    ledger = sound(place)
    assert [list(each.lines[1:-1]) for each in ledger.receipts] == lines
    assert all(each.outcome is Outcome.CONVERGED for each in ledger.receipts)


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (Failed("srv5: no answer"), Outcome.FAILED, "srv5: no answer"),
        (Refused("srv5: must not be"), Outcome.REFUSED, "srv5: must not be"),
        (PyinfraError("Error in operation"), Outcome.FAILED, "Error in operation"),
        (OSError(errno.EIO, "hunter2"), Outcome.FAILED, "OSError: Input/output error"),
        (ValueError("token=hunter2"), Outcome.FAILED, "ValueError"),
        (SystemExit(1), Outcome.FAILED, "SystemExit"),
        (SystemExit(130), Outcome.INTERRUPTED, None),
        (KeyboardInterrupt(), Outcome.INTERRUPTED, None),
        (Interrupted("SIGTERM", at_once=False), Outcome.INTERRUPTED, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_exception_closes_it_and_goes_on(
    error: BaseException, outcome: Outcome, reason: str | None, tmp_path: Path
) -> None:
    with pytest.raises(type(error)) as raised:
        ended_by(error, tmp_path / "r")
    assert raised.value is error
    (receipt,) = sound(tmp_path / "r").receipts
    assert receipt.closed == Closed(outcome=outcome, reason=reason)
    assert [each.data for each in receipt.begun] == [BEGUN]


def ended_by(error: BaseException, place: Path, *outcomes: Outcome) -> None:
    """A receipt that something was begun in, and that is left by an exception, closed before or not."""
    with opened(place, ABOUT) as journal:
        journal.say(BEGUN)
        for each in outcomes:
            assert journal.close(each) is each
        raise error


def test_its_end_is_not_forgotten_and_status_0_needs_an_outcome(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="expected an outcome"), opened(tmp_path / "r", ABOUT):
        pass
    with pytest.raises(RuntimeError, match="expected an outcome"):
        ended_by(SystemExit(0), tmp_path / "r")
    assert [each.outcome for each in sound(tmp_path / "r").receipts] == [Outcome.FAILED] * 2


def test_what_is_closed_stays_so(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="later"):
        ended_by(Failed("later"), tmp_path / "r", Outcome.DIFFERS)
    with pytest.raises(ValueError, match="expected an open receipt"):
        ended_by(Failed("later"), tmp_path / "r", Outcome.DIFFERS, Outcome.CONVERGED)
    assert [each.outcome for each in sound(tmp_path / "r").receipts] == [Outcome.DIFFERS] * 2


def test_nobody_else_opens_or_closes_it(tmp_path: Path) -> None:
    with opened(tmp_path / "r", ABOUT) as journal:
        with pytest.raises(ValueError, match="said by nobody else"):
            journal.say(Closed(outcome=Outcome.CONVERGED))
        journal.close(Outcome.FAILED)
    assert sound(tmp_path / "r").receipts[0].count == 2


def test_what_ended_is_not_open_and_what_did_not_is(tmp_path: Path) -> None:
    refusal = Refusal(code="drifted", subject="srv5", expected="a", found="b")
    failed = OperationFailed(host="srv5", operation="rail documents", reason="refused", refusals=(refusal,))
    with opened(tmp_path / "r", ABOUT) as journal:
        for each in (BEGUN, DONE, BEGUN, failed, BEGUN.model_copy(update={"host": "srv6"})):
            journal.say(each)
        journal.close(Outcome.FAILED, refusals=(refusal,))
    (receipt,) = sound(tmp_path / "r").receipts
    assert [each.data.host for each in receipt.begun] == ["srv6"]  # type: ignore[attr-defined]


def test_one_that_is_being_written_is_running_and_is_linked_again_when_it_ended(tmp_path: Path) -> None:
    place = tmp_path / "r"
    with opened(place, ABOUT) as first:
        write(place)
        assert [each.state for each in sound(place).receipts] == [State.RUNNING, State.CLOSED]
        first.say(BEGUN)
        first.close(Outcome.CONVERGED)
    write(place)
    links = [each.opened.before for each in sound(place).receipts if each.opened]
    assert [[(link.name[:6], link.state) for link in each] for each in links] == [
        [],
        [("000001", State.RUNNING)],
        [("000002", State.CLOSED), ("000001", State.CLOSED)],
    ]


def test_two_at_once_never_fork_the_chain(tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    code = "for _ in range(6):\n    write(folder)"
    writers = [started(place, code) for _ in range(3)]
    for each in writers:
        assert each.communicate(timeout=120)[1] == ""
        assert each.returncode == 0
    ledger = sound(place)
    assert len(ledger.receipts) == 18
    assert all(each.outcome is Outcome.CONVERGED for each in ledger.receipts)


def test_killed_at_any_moment_it_is_evidence_and_the_next_is_chained_to_it(tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    code = """
with opened(folder, ABOUT) as journal:
    print("open", flush=True)
    while True:
        journal.say(BEGUN)
        journal.say(DONE)
"""
    for round in range(5):
        writer = started(place, code)
        assert writer.stdout
        assert writer.stdout.readline() == "open\n"
        for _ in range(round):
            list(place.iterdir())
        writer.kill()
        writer.communicate(timeout=60)
        assert sound(place).receipts[-1].state is State.UNCLOSED
        write(place)
    states = [each.state for each in sound(place).receipts]
    assert states == [State.UNCLOSED, State.CLOSED] * 5


@pytest.mark.parametrize("left", [0, 1, 200])
def test_a_line_that_was_torn_is_evidence_and_part_of_the_chain(left: int, tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    torn = place / write(place)
    content = torn.read_bytes()
    torn.write_bytes(content[:left])
    write(place)
    ledger = read_folder(place)
    assert ledger.receipts[0].state is State.UNCLOSED
    torn.write_bytes(content[:left] + b"x")
    assert [each.receipt for each in read_folder(place).faults] == [torn.name]


def test_a_head_that_is_none_is_told_in_the_next_receipt(tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    write(place)
    (place / HEAD).write_bytes(b"\xff\x00")
    assert [each.kind for each in read_folder(place).faults] == ["not_a_receipt"]
    write(place)
    assert read_folder(place).receipts[1].lines[1].data == Note(text=ODD_HEAD)
    write(place)
    assert [each.receipt for each in read_folder(place).faults] == [HEAD]


def test_a_head_that_was_removed_with_the_newest_receipt_is_told_for_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "receipts"
    write(place)
    newest = write(place)
    (place / newest).unlink()
    (place / HEAD).unlink()
    for _ in range(2):
        write(place)
    assert NO_HEAD in capsys.readouterr().err
    (fault,) = read_folder(place).faults
    assert (fault.receipt, fault.kind) == (HEAD, "removed")


def test_a_head_that_leads_elsewhere_is_none(tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    outside = tmp_path / write(place).replace("000001", "000002")
    os.mkfifo(outside)
    head = (place / HEAD).read_text()
    (place / HEAD).write_text(head.replace('"name":"000001', '"name":"../000002'))
    assert [each.kind for each in read_folder(place).faults] == ["not_a_receipt"]


def refused(place: Path) -> str:
    with pytest.raises(Failed) as raised, opened(place, ABOUT):
        pytest.fail("nothing may be done without a receipt")
    return str(raised.value)


def test_no_receipt_is_opened_where_it_could_not_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    assert "found Not a directory" in refused(tmp_path / "file")
    assert "found No such file or directory" in refused(tmp_path / "no" / "receipts")
    (tmp_path / "wide").mkdir(mode=0o755)
    assert "found bits 055 for others\n  chmod 700" in refused(tmp_path / "wide")
    (tmp_path / "other").mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert "expected a folder of uid 4711" in refused(tmp_path / "other")


def test_a_folder_that_is_locked_for_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "receipts"
    write(place)
    monkeypatch.setattr(folder_module, "LOCK_SECONDS", 0.0)
    with folder(place) as held, held.locked():
        assert "expected to lock the folder" in refused(place)
    assert len(sound(place).receipts) == 1


def test_nothing_is_reached_over_a_symbolic_link(tmp_path: Path) -> None:
    place, outside = tmp_path / "receipts", tmp_path / "outside"
    write(place)
    outside.write_text("not ours")
    (place / f".{HEAD}.new").symlink_to(outside)
    (place / ".room.new").symlink_to(outside)
    (place / HEAD).unlink()
    (place / HEAD).symlink_to(outside)
    name = write(place)
    assert outside.read_text() == "not ours"
    assert not (place / HEAD).is_symlink()
    assert [each.receipt for each in read_folder(place).faults] == [HEAD], "it was no head, and that is kept in mind"
    (place / name.replace("000002", "000003")).symlink_to(outside)
    assert "found a symbolic link" in refused(place)
    assert "a symbolic link" in [each.found for each in read_folder(place).faults]


@pytest.mark.timeout(30)
def test_a_pipe_in_place_of_a_receipt_stops_nobody(tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    os.mkfifo(place / write(place).replace("000001", "000002"))
    assert [each.kind for each in read_folder(place).faults] == ["not_a_receipt"]


def test_a_full_disk_begins_nothing_more_and_still_has_room_for_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Failed, match="nothing more is begun"):
        on_a_disk_that_is_full_soon(tmp_path / "r", monkeypatch)
    (receipt,) = sound(tmp_path / "r").receipts
    assert receipt.outcome is Outcome.FAILED
    assert [each.event for each in receipt.lines] == ["opened", "operation_begun", "operation_done", "closed"]


def on_a_disk_that_is_full_soon(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a line is written where there is no room, until the room that was kept free is given up."""

    def half(descriptor: int, content: bytes) -> None:
        if not journal._file.is_full:
            os.write(descriptor, content[:7])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_whole(descriptor, content)

    with opened(place, ABOUT) as journal:
        journal.say(BEGUN)
        monkeypatch.setattr(linefile, "write_whole", half)
        journal.say(DONE)
        journal.say(BEGUN)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    place = tmp_path / "receipts"
    place.mkdir()
    if os.system(f"mount -t tmpfs -o size=256k,mode=0700 tmpfs {place}"):
        pytest.skip("no tmpfs can be mounted here")
    try:
        with pytest.raises(Failed, match="No space left on device"):
            until_it_is_full(place)
        assert sound(place).receipts[0].outcome is Outcome.FAILED
        fill(place)
        assert "No space left on device; nothing was done" in refused(place)
        assert len(sound(place).receipts) == 1
        (place / FILLER).unlink()
        write(place)
        assert len(sound(place).receipts) == 2
    finally:
        assert os.system(f"umount --lazy {place}") == 0


FILLER = "filler"


def until_it_is_full(place: Path) -> None:
    with opened(place, ABOUT) as journal:
        fill(place)
        for _ in range(100):
            journal.say(BEGUN)


def fill(place: Path) -> None:
    """Leaves no room at all."""
    with suppress(OSError), (place / FILLER).open("ab", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def test_a_folder_that_nothing_may_be_written_into() -> None:
    """Root may write anywhere, so it is somebody else meanwhile."""
    with tempfile.TemporaryDirectory() as made, somebody(Path(made)) as place:
        name = write(place)
        place.chmod(0o500)
        assert "expected a receipt that can be written, found Permission denied; nothing was done" in refused(place)
        assert [each.name for each in sound(place).receipts] == [name]
        place.chmod(0o700)


@contextmanager
def somebody(place: Path) -> Iterator[Path]:
    """A folder of a user who is not root."""
    if os.geteuid() != 0:
        yield place / "receipts"
        return
    os.chown(place, 65534, 65534)
    os.seteuid(65534)
    try:
        yield place / "receipts"
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_closes_it_and_is_no_success(name: str, tmp_path: Path) -> None:
    code = """
import gevent
with opened(folder, ABOUT) as journal:
    journal.say(BEGUN)
    print("open", flush=True)
    gevent.sleep(600)  # as whatever waits in a command of ours: a signal just before time.sleep is not heard
    journal.close(Outcome.CONVERGED)
"""
    writer = started(tmp_path / "r", code)
    assert writer.stdout
    assert writer.stdout.readline() == "open\n"
    writer.send_signal(getattr(signal, name))
    errors = writer.communicate(timeout=60)[1]
    assert (writer.returncode, errors) == (130, "")
    (receipt,) = sound(tmp_path / "r").receipts
    assert receipt.outcome is Outcome.INTERRUPTED
    assert str(receipt.lines[-2].data).startswith(name)
