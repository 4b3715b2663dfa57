"""A file of evidence is as it was written, or is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.evidence import Broken, FitEvidence, Measured, file_of, is_file_of, read_evidence
from fleet.fit.instrument import Instrument
from fleet.ollama.measured import Occasion, fit_evidence
from fleet.record import sha256_digest
from tests.fleet.ollama import fitting, host


def evidence(deployment: str = "chat") -> FitEvidence:
    loaded = fitting.seen(residents=(host.loaded(),))
    occasion = Occasion(deployment=deployment, at=host.NOON, by="ann@desk")
    made = fit_evidence(fitting.DESIRED, fitting.seen(), loaded, occasion)
    assert isinstance(made, FitEvidence)
    return made


WHOLE = evidence().canonical.encode()
NAME = file_of(evidence().digest)


def test_it_is_read_back_as_it_was_written() -> None:
    assert read_evidence(NAME, WHOLE) == evidence()
    assert is_file_of(NAME)
    assert sha256_digest(WHOLE).replace(":", "-") + ".json" == NAME


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_no_byte_of_it_can_be_another(at: int, by: int) -> None:
    other = bytearray(WHOLE)
    other[at] ^= by
    assert isinstance(read_evidence(NAME, bytes(other)), Broken)


@given(st.integers(0, len(WHOLE) - 1))
def test_nothing_of_it_can_be_cut_off(at: int) -> None:
    assert isinstance(read_evidence(NAME, WHOLE[:at]), Broken)
    assert isinstance(read_evidence(NAME, WHOLE + WHOLE[:at] + b"\n"), Broken)


OTHERWISE: dict[str, Any] = {
    "another spelling": json.dumps(json.loads(WHOLE), indent=2).encode(),
    "another kind of document": b'{"kind":"quality"}',
    "no JSON": b"\xff",
    "nothing": b"",
    "an unknown field": json.dumps(json.loads(WHOLE) | {"more": 1}, sort_keys=True, separators=(",", ":")).encode(),
}


@pytest.mark.parametrize("content", OTHERWISE.values(), ids=list(OTHERWISE))
def test_what_is_named_after_its_digest_and_no_evidence_says_why(content: bytes) -> None:
    found = read_evidence(file_of(sha256_digest(content)), content)
    assert isinstance(found, Broken)
    assert str(found).startswith("sha256-")
    assert ": expected evidence" in str(found)


@pytest.mark.parametrize("name", ["x.json", "sha256-abc.json", f"{NAME}.bak", f".{NAME}", NAME.upper()])
def test_other_names_are_none_of_its(name: str) -> None:
    assert not is_file_of(name)


def test_what_is_measured_is_on_its_own_sparks_once_by_each_instrument() -> None:
    (one, *_) = evidence().measured
    for measured in ((), (one, one), (one.replaced(host="srv6"),)):
        with pytest.raises(ValidationError, match="expected each instrument once on each spark"):
            evidence().replaced(measured=measured)


def test_less_free_and_more_held_are_both_taken() -> None:
    def taken(instrument: Instrument) -> int | None:
        return Measured(host="a", instrument=instrument, before_bytes=10, after_bytes=7).taken_bytes

    assert (taken(Instrument.MEM_AVAILABLE), taken(Instrument.ENGINE)) == (3, -3)
