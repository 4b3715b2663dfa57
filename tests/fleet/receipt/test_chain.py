"""The receipts of a folder hold each other: what is gone, new, cut or written anew is found and named."""

from hypothesis import given
from hypothesis import strategies as st

from fleet.outcome import Outcome
from fleet.receipt.chain import HEAD, chain_faults, seal_fault
from fleet.receipt.events import Closed, Event, Note
from fleet.receipt.fault import Fault, Kind
from fleet.receipt.link import Head, Link, State
from fleet.receipt.name import receipt_name
from fleet.receipt.receipt import Receipt, read_receipt
from tests.fleet.receipt.said import AT, lines_of, written

END = Closed(outcome=Outcome.CONVERGED)
KILLED = Note(text="then killed")
TORN = b'{"at":'


def receipt(
    number: int, *said: Event, before: tuple[Link, ...] = (), torn: bytes = b"", running: bool = False
) -> Receipt:
    content = written(lines_of(number, list(said), before)) + torn
    return read_receipt(receipt_name(number, AT, "srv5"), content, running)


def chain() -> list[Receipt]:
    """Three of them; the second was killed while it wrote."""
    return [read_receipt(name, content) for name, content in contents().items()]


def contents() -> dict[str, bytes]:
    """Their files, by name."""
    one = receipt(1, END)
    two = receipt(2, KILLED, before=(one.link,), torn=TORN)
    files = [
        written(lines_of(1, [END])),
        written(lines_of(2, [KILLED], (one.link,))) + TORN,
        written(lines_of(3, [Note(text="last"), END], (two.link,))),
    ]
    return {receipt_name(number, AT, "srv5"): content for number, content in enumerate(files, 1)}


def named(faults: tuple[Fault, ...]) -> list[tuple[str, Kind]]:
    return [(each.receipt[:6], each.kind) for each in faults]


def test_a_chain_holds() -> None:
    receipts = chain()
    assert chain_faults(receipts, Head(links=(receipts[-1].link,))) == ()
    assert not [fault for each in receipts for fault in each.faults]


def faults_of(files: dict[str, bytes]) -> tuple[Fault, ...]:
    receipts = [read_receipt(name, content) for name, content in files.items()]
    own = tuple(fault for each in receipts for fault in each.faults)
    return (*own, *chain_faults(receipts, Head(links=(chain()[-1].link,))))


@given(st.data())
def test_any_changed_byte_and_any_removed_line_of_any_file_is_found(data: st.DataObject) -> None:
    files = contents()
    assert not faults_of(files)
    name = data.draw(st.sampled_from(sorted(files)))
    content, lines = bytearray(files[name]), files[name].splitlines(keepends=True)
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    assert {each.receipt for each in faults_of(files | {name: bytes(content)})} >= {name}
    gone = data.draw(st.integers(0, len(lines) - 1))
    left = b"".join(lines[:gone] + lines[gone + 1 :])
    assert {each.receipt for each in faults_of(files | {name: left})} >= {name}


def test_a_removed_file_is_named_wherever_it_was() -> None:
    receipts = chain()
    head = Head(links=(receipts[-1].link,))
    for gone in receipts:
        left = [each for each in receipts if each is not gone]
        assert named(chain_faults(left, head)) == [(gone.name[:6], Kind.REMOVED)]
    assert len(chain_faults([], head)) == 1


def test_files_that_were_moved_elsewhere_may_be_missing() -> None:
    receipts = chain()
    assert chain_faults(receipts[1:], Head(links=(receipts[-1].link,)), since=2) == ()


def test_the_first_that_should_be_there_is_looked_for() -> None:
    receipts = chain()
    head = Head(links=(receipts[-1].link,))
    assert chain_faults(receipts, head, since=3) == ()
    for found, newest in ((receipts, receipts[-1].name), ([], "none")):
        faults = chain_faults(found, head if found else None, since=4)
        assert [(each.kind, each.found) for each in faults] == [(Kind.NOT_FOUND, newest)]


def test_a_removed_head_is_named() -> None:
    assert named(chain_faults(chain(), None)) == [(HEAD[:6], Kind.REMOVED)]
    assert chain_faults([], None) == ()


def test_a_cut_end_is_named_also_at_the_newest() -> None:
    one, two, three = chain()
    head = Head(links=(three.link,))
    cut = receipt(3, Note(text="last"), before=(two.link,))
    assert named(chain_faults([one, two, cut], head)) == [("000003", Kind.CUT)]
    assert named(chain_faults([one, receipt(2, before=(one.link,)), three], head)) == [("000002", Kind.CUT)]


def test_what_was_written_anew_as_a_whole_is_named() -> None:
    one, two, three = chain()
    head = Head(links=(three.link,))
    other = receipt(3, Note(text="forged"), END, before=(two.link,))
    assert named(chain_faults([one, two, other], head)) == [("000003", Kind.EDITED)]
    assert named(chain_faults([receipt(1, Closed(outcome=Outcome.FAILED)), two, three], head)) == [
        ("000001", Kind.EDITED)
    ]


def test_what_was_killed_stays_as_it_was() -> None:
    one, _, three = chain()
    head = Head(links=(three.link,))
    closed = receipt(2, KILLED, END, before=(one.link,))
    assert named(chain_faults([one, closed, three], head)) == [("000002", Kind.INSERTED)]
    torn = receipt(2, KILLED, before=(one.link,), torn=b'{"aT":')
    assert named(chain_faults([one, torn, three], head)) == [("000002", Kind.EDITED)]


def test_an_inserted_file_is_named() -> None:
    one, _, three = chain()
    between = receipt(2, END, before=(one.link,))
    beside = receipt(3, END, before=(one.link,))
    assert named(chain_faults([one, between, beside], Head(links=(beside.link,)))) == [("000002", Kind.INSERTED)]
    assert named(chain_faults([one, between], Head(links=(one.link,)))) == [("000002", Kind.INSERTED)]
    alone = receipt(3, END)
    assert ("000003", Kind.REMOVED) in named(chain_faults([alone], Head(links=(alone.link,))))
    assert three.faults == ()


def test_two_at_once_are_no_fork() -> None:
    """The second is chained to the first as it then stood; the third, to how both ended."""
    early = receipt(1, Note(text="at work"), running=True)
    second = receipt(2, END, before=(early.link,))
    first = receipt(1, Note(text="at work"), Note(text="more"), END)
    assert early.link.state is State.RUNNING
    assert chain_faults([first, second], Head(links=(second.link, first.link))) == ()
    third = receipt(3, END, before=(second.link, first.link))
    head = Head(links=(third.link,))
    assert chain_faults([first, second, third], head) == ()
    cut = receipt(1, Note(text="at work"), Note(text="more"))
    assert named(chain_faults([cut, second, third], head)) == [("000001", Kind.CUT)]


def test_a_run_that_was_killed_as_it_opened_is_no_fault() -> None:
    one = receipt(1, END)
    assert chain_faults([one, receipt(2, before=(one.link,))], Head(links=(one.link,))) == ()
    assert chain_faults([one, read_receipt(receipt_name(2, AT, "x"), b'{"at"')], Head(links=(one.link,))) == ()
    assert chain_faults([receipt(1)], None) == ()


def test_a_seal_that_was_noted_elsewhere_is_found_or_missed() -> None:
    receipts = chain()
    assert receipts[0].seal
    assert seal_fault(receipts, receipts[0].seal) is None
    fault = seal_fault(receipts[1:], receipts[0].seal)
    assert fault is not None
    assert fault.kind is Kind.NOT_FOUND
