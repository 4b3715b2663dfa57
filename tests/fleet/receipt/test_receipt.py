"""A receipt is read back as it was written, and whatever was done to its file is found and named."""

import json
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fleet.outcome import Outcome
from fleet.receipt.acts import OperationBegun, OperationDone
from fleet.receipt.events import Closed, Note, Opening
from fleet.receipt.fault import Kind
from fleet.receipt.line import EVENTS, Line, sealed
from fleet.receipt.link import State
from fleet.receipt.name import number_of, receipt_name
from fleet.receipt.receipt import Receipt, read_receipt
from lab.command import FAILED, INTERRUPTED, REFUSED
from tests.fleet.receipt.said import AT, closings, lines_of, saying, written

NAME = receipt_name(1, AT, "srv5")
WHOLE = lines_of(
    1,
    [
        OperationBegun(host="srv5", operation="rail documents"),
        OperationDone(host="srv5", operation="rail documents", changed=True),
        Note(text="said"),
        Closed(outcome=Outcome.CONVERGED),
    ],
)


def read(content: bytes | list[Line]) -> Receipt:
    return read_receipt(NAME, content if isinstance(content, bytes) else written(content))


def kinds(receipt: Receipt) -> list[tuple[int | None, Kind]]:
    return [(each.line, each.kind) for each in receipt.faults]


@given(st.lists(saying, max_size=6), closings)
def test_any_sequence_of_events_is_read_as_it_was_said(said: list[object], closing: Closed) -> None:
    lines = lines_of(1, [*said, closing])  # type: ignore[list-item]
    found = read(lines)
    assert found.lines == tuple(lines)
    assert found.state is State.CLOSED
    assert found.outcome is closing.outcome
    assert not found.faults


def test_every_line_is_as_its_schema_says() -> None:
    validator = Draft202012Validator(Line.model_json_schema(mode="serialization"))

    @given(st.lists(saying, min_size=1, max_size=3), closings)
    def law(said: list[object], closing: Closed) -> None:
        for line in lines_of(1, [*said, closing]):  # type: ignore[list-item]
            validator.validate(json.loads(line.text))
            other = line.to_json() | {"event": "note" if line.event != "note" else "closed"}
            assert not validator.is_valid(other)

    law()


@given(st.lists(saying, max_size=3), closings, st.data())
def test_any_changed_byte_is_found(said: list[object], closing: Closed, data: st.DataObject) -> None:
    content = bytearray(written(lines_of(1, [*said, closing])))  # type: ignore[list-item]
    place = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.integers(0, 255))
    assume(content[place] != other)
    content[place] = other
    found = read(bytes(content))
    assert found.faults or found.state is State.UNCLOSED


@given(st.lists(saying, max_size=3), closings, st.data())
def test_any_removed_line_is_found(said: list[object], closing: Closed, data: st.DataObject) -> None:
    lines = lines_of(1, [*said, closing])  # type: ignore[list-item]
    gone = data.draw(st.integers(0, len(lines) - 1))
    found = read(lines[:gone] + lines[gone + 1 :])
    assert found.faults or found.state is State.UNCLOSED


@given(st.integers(0, len(written(WHOLE)) - 1))
def test_a_write_that_was_cut_off_anywhere_is_evidence_and_no_fault(length: int) -> None:
    content = written(WHOLE)[:length]
    found = read(content)
    assert found.state is State.UNCLOSED
    assert not found.faults
    assert found.lines == tuple(WHOLE[: len(found.lines)])
    assert (found.torn is None) == (content == b"" or content.endswith(b"\n"))


def resealed(line: Line, said: object) -> Line:
    return sealed(line.seq, line.at, said, line.prev)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([*WHOLE[:2], *WHOLE[3:]], [(3, Kind.REMOVED)]),
        (WHOLE[1:], [(1, Kind.REMOVED)]),
        ([*WHOLE[:2], WHOLE[3], WHOLE[2], WHOLE[4]], [(3, Kind.REORDERED), (4, Kind.REORDERED), (5, Kind.REORDERED)]),
        ([*WHOLE[:3], WHOLE[1], *WHOLE[3:]], [(4, Kind.INSERTED), (5, Kind.REORDERED)]),
        ([*WHOLE[:3], resealed(WHOLE[3], Note(text="forged")), WHOLE[4]], [(4, Kind.EDITED)]),
        ([*WHOLE, sealed(5, AT, Note(text="more"), WHOLE[4].seal)], [(6, Kind.INSERTED)]),
    ],
    ids=["removed", "first removed", "swapped", "copied", "edited and sealed anew", "after the end"],
)
def test_what_was_done_to_a_file_is_named_with_its_line(lines: list[Line], found: list[tuple[int, Kind]]) -> None:
    assert kinds(read(lines)) == found


def test_an_edited_line_says_which() -> None:
    content = written(WHOLE).replace(b'"said"', b'"sand"')
    (fault,) = read(content).faults
    assert (fault.line, fault.kind) == (4, Kind.EDITED)
    assert str(fault) == f"{NAME}:4: expected a line as it was written, found the seal of another content [edited]"


@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe\n", b"\x00" * 40, b"[]\n", b"{}\n", b'{"event": 5}\n', b"\n", b"[" * 9999 + b"\n"]
)
def test_garbage_is_found_and_never_an_exception(garbage: bytes) -> None:
    found = read(garbage)
    assert found.state is State.UNCLOSED
    assert bool(found.faults) == garbage.endswith(b"\n")
    assert read(written(WHOLE) + garbage).faults


def test_another_name_is_found() -> None:
    assert [each.kind for each in read_receipt(receipt_name(2, AT, "srv5"), written(WHOLE)).faults] == [Kind.RENAMED]


def test_what_a_live_process_is_writing_is_not_torn() -> None:
    found = read_receipt(NAME, written(WHOLE)[:-9], running=True)
    assert (found.state, found.torn, found.faults) == (State.RUNNING, None, ())


def test_every_event_has_a_sentence_of_its_own() -> None:
    assert all("__str__" in {name for base in each.__mro__[:-4] for name in vars(base)} for each in EVENTS.values())
    assert set(get_args(Opening.model_fields["kind"].annotation)) == {"converge", "apply", "drain", "trial"}


@pytest.mark.parametrize("target", ["srv5", "../../etc/passwd", "", "a b/c", "x" * 300])
def test_a_name_has_its_number_and_no_way_out_of_the_folder(target: str) -> None:
    name = receipt_name(42, AT, target)
    assert number_of(name) == 42
    assert "/" not in name
    assert len(name) < 100


@pytest.mark.parametrize("name", ["head.json", "42-x.jsonl", "000001-20261130T013312Z-a.jsonl\n", "000001-x-a.jsonl"])
def test_another_file_is_no_receipt(name: str) -> None:
    assert number_of(name) is None


def test_the_statuses_are_those_of_every_command() -> None:
    status = {each: each.exit_status for each in Outcome}
    assert [each for each in Outcome if status[each] == 0] == [
        Outcome.FOUND_AS_DESIRED,
        Outcome.CONVERGED,
        Outcome.DRAINED,
    ]
    assert status[Outcome.REFUSED] == REFUSED
    assert status[Outcome.DIFFERS] == status[Outcome.FAILED] == FAILED
    assert status[Outcome.INTERRUPTED] == INTERRUPTED
