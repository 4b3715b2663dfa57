"""Time spans as systemd prints them."""

import pytest

from fleet.host.manager import parse_span


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("30s", 30), ("1min 30s", 90), ("10min", 600), ("500ms", 0.5), ("infinity", None)]
)
def test_spans(text: str, seconds: float | None) -> None:
    assert parse_span(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "30 s", "soon"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a time span"):
        parse_span(text)
