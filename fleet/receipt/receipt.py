"""A receipt as it is read: its lines, what was torn off its end, and what is wrong with it by itself."""

from collections.abc import Iterator

from fleet.outcome import Outcome
from fleet.receipt.acts import OperationBegun, OperationDone, OperationFailed, StepBegun, StepDone
from fleet.receipt.events import Closed, Opened
from fleet.receipt.fault import Fault, Kind
from fleet.receipt.line import Line, read_line
from fleet.receipt.link import Link, State
from fleet.record import Digest, Record, sha256_digest


class Receipt(Record):
    """One file of a folder of receipts."""

    name: str
    state: State
    count: int
    """Whole lines in the file, also those that are none of ours."""
    lines: tuple[Line, ...]
    """Those that could be read."""
    torn: Digest | None = None
    """Of the bytes after the last whole line: its process was killed, or its disk full, while it wrote them."""
    faults: tuple[Fault, ...] = ()

    @property
    def opened(self) -> Opened | None:
        """What it is about; None where its first line is not whole."""
        first = self.lines[0].data if self.lines else None
        return first if isinstance(first, Opened) else None

    @property
    def closed(self) -> Closed | None:
        """How it ended; None where it did not say."""
        last = self.lines[-1].data if self.lines and self.state is State.CLOSED else None
        return last if isinstance(last, Closed) else None

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of a closed one."""
        return self.closed.outcome if self.closed else None

    @property
    def seal(self) -> str | None:
        """Of its last line."""
        return self.lines[-1].seal if self.lines else None

    @property
    def begun(self) -> tuple[Line, ...]:
        """The lines of what was begun and did not say how it ended: it may have been done, in part or whole."""
        open_ends: dict[tuple[str, ...], Line] = {}
        for line in self.lines:
            match line.data:
                case OperationBegun() as said:
                    open_ends["operation", said.host, said.about] = line
                case OperationDone() | OperationFailed() as said:
                    open_ends.pop(("operation", said.host, said.about), None)
                case StepBegun() as said:
                    open_ends["step", said.host, said.subject, said.kind] = line
                case StepDone() as said:
                    open_ends.pop(("step", said.host, said.subject, said.kind), None)
        return tuple(open_ends.values())

    @property
    def link(self) -> Link:
        """How another receipt is chained to it as it stands now."""
        torn = self.torn if self.state is State.UNCLOSED else None
        return Link(name=self.name, state=self.state, lines=self.count, seal=self.seal, torn=torn)


def read_receipt(name: str, content: bytes, running: bool = False) -> Receipt:
    """What a file says.

    + running: does its process live? Then bytes after the last whole line are a line that is being written.
    """
    *whole, torn = content.split(b"\n")
    read = [read_line(each) for each in whole]
    lines = tuple(each for each in read if isinstance(each, Line))
    closed = bool(read) and isinstance(read[-1], Line) and isinstance(read[-1].data, Closed) and not torn
    state = State.CLOSED if closed else State.RUNNING if running else State.UNCLOSED
    faults = (*_line_faults(name, read), *_place_faults(name, lines), *_end_faults(name, read, torn))
    return Receipt(
        name=name,
        state=state,
        count=len(whole),
        lines=lines,
        torn=sha256_digest(torn) if torn and not running else None,
        faults=tuple(sorted(faults, key=lambda each: each.line or 0)),
    )


def _line_faults(name: str, read: list[Line | str]) -> Iterator[Fault]:
    """What is wrong with a line by itself, and with its place behind the line before it."""
    seqs = [each.seq for each in read if isinstance(each, Line)]
    expected, last = 0, None
    for number, each in enumerate(read, 1):
        if isinstance(each, str):
            yield Fault(kind=Kind.EDITED, receipt=name, line=number, expected="a line as it was written", found=each)
            expected, last = expected + 1, None
            continue
        if each.seq != expected:
            kind, found = _misplacing(each.seq, expected, seqs), f"seq {each.seq}"
            yield Fault(kind=kind, receipt=name, line=number, expected=f"the line with seq {expected}", found=found)
        elif last is not None and each.prev != last.seal:
            found = f"one with seal {last.seal}"
            yield Fault(kind=Kind.EDITED, receipt=name, line=number - 1, expected=f"the line with seal {each.prev}, "
                        "to which the next is chained", found=found)  # fmt: skip
        expected, last = each.seq + 1, each


def _misplacing(seq: int, expected: int, seqs: list[int]) -> Kind:
    """What brought a line with this seq to where another is expected, by all that are in the file."""
    if seq < expected:
        return Kind.INSERTED if seqs.count(seq) > 1 else Kind.REORDERED
    return Kind.REORDERED if expected in seqs else Kind.REMOVED


def _place_faults(name: str, lines: tuple[Line, ...]) -> Iterator[Fault]:
    """Whether the first line, and only it, opens, and opens this file."""
    if not lines:
        return
    first = lines[0]
    if first.seq == 0 and not isinstance(first.data, Opened):
        yield Fault(kind=Kind.EDITED, receipt=name, line=1, expected="the event opened", found=first.event)
    if isinstance(first.data, Opened):
        if first.data.receipt != name:
            yield Fault(kind=Kind.RENAMED, receipt=name, expected=f"the name {first.data.receipt}", found="this one")
        seal = first.data.before[0].seal if first.data.before else None
        if first.prev != seal:
            expected = f"prev to be the seal of the receipt before, {seal}"
            yield Fault(kind=Kind.EDITED, receipt=name, line=1, expected=expected, found=str(first.prev))


def _end_faults(name: str, read: list[Line | str], torn: bytes) -> Iterator[Fault]:
    """Whether anything stands behind the line that closes."""
    ends = [number for number, each in enumerate(read, 1) if isinstance(each, Line) and isinstance(each.data, Closed)]
    if ends and (ends[0] < len(read) or torn):
        behind = f"{len(read) - ends[0]} more lines" if ends[0] < len(read) else f"{len(torn)} bytes"
        yield Fault(kind=Kind.INSERTED, receipt=name, line=ends[0] + 1, expected="nothing after closed", found=behind)
