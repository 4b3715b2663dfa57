"""Receipts that tests make: any event, and a whole receipt from events."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from fleet.controller import Controller
from fleet.health import Finding, Verdict
from fleet.outcome import Outcome
from fleet.receipt import acts, events
from fleet.receipt.events import Event
from fleet.receipt.line import Line, sealed
from fleet.receipt.link import Link
from fleet.receipt.name import receipt_name
from fleet.record import sha256_digest
from fleet.refusal import Refusal
from fleet.step import Effect

AT = datetime(2026, 11, 30, 1, 33, 12, tzinfo=UTC)
HERE = Controller(user="ann", host="desk", boot_id="b0", pid=4711, started_ticks=9)

words = st.text(st.characters(exclude_categories=()), max_size=12)
"""Any text, halves of pairs too."""
digests = st.binary(max_size=3).map(sha256_digest)
instants = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
refusals = st.lists(st.builds(Refusal, code=words, subject=words, expected=words, found=words), max_size=2).map(tuple)
_findings = st.builds(Finding, code=words, subject=words, verdict=st.sampled_from(Verdict), expected=words, found=words)
_named = {"host": words, "operation": words, "subject": st.none() | words}

saying: st.SearchStrategy[Event] = st.one_of(
    st.builds(events.Approved, plan=digests, approved_by=words, approved_at=instants, how=words),
    st.builds(events.HostConnected, host=words, boot_id=st.none() | words),
    st.builds(events.Note, host=st.none() | words, text=words),
    st.builds(events.Drift, refusals=refusals),
    st.builds(events.Interrupted, signal=words, at_once=st.booleans()),
    st.builds(acts.OperationBegun, **_named),
    st.builds(acts.OperationDone, changed=st.booleans(), **_named),
    st.builds(acts.OperationFailed, reason=words, refusals=refusals, **_named),
    st.builds(acts.StepBegun, host=words, kind=words, subject=words, before=words, after=words,
              effect=st.sampled_from(Effect)),
    st.builds(acts.StepDone, host=words, kind=words, subject=words, after=words),
    st.builds(acts.Readback, host=words, as_desired=st.booleans(), observed=st.none() | digests, refusals=refusals),
    st.builds(acts.Replan, plan=st.none() | digests, steps=st.integers(0, 9), refusals=refusals),
    st.builds(acts.Health, host=words, findings=st.lists(_findings, max_size=2).map(tuple)),
    st.builds(acts.Admitted, host=words, subject=st.none() | digests, evidence=st.none() | digests),
    st.builds(acts.Evidenced, host=words, subject=digests, evidence=digests),
    st.builds(acts.Refuted, host=words, subject=digests, evidence=digests),
    st.builds(acts.Drained, host=words, runtime=words, invocation=digests, instrument=words,
              idle_seconds=st.floats(0, allow_nan=False, allow_infinity=False), admitting=st.booleans()),
)  # fmt: skip
"""Any event between the first and the last of a receipt."""

closings = st.builds(events.Closed, outcome=st.sampled_from(Outcome), reason=st.none() | words, refusals=refusals)


def lines_of(number: int, said: list[Event], before: tuple[Link, ...] = ()) -> list[Line]:
    """The lines of the receipt with this number, opened and then with these events."""
    opened = events.Opened(
        kind="converge",
        target="srv5",
        hosts=("srv5",),
        receipt=receipt_name(number, AT, "srv5"),
        versions={"sparks": "0"},
        controller=HERE,
        before=before,
    )
    lines = [sealed(0, AT, opened, before[0].seal if before else None)]
    for each in said:
        lines.append(sealed(len(lines), AT + timedelta(seconds=len(lines)), each, lines[-1].seal))
    return lines


def written(lines: list[Line]) -> bytes:
    """The file with these lines."""
    return "".join(each.text for each in lines).encode()
