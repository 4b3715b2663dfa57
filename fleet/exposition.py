"""Prometheus' text exposition format, as far as gauges and counters need it. Pure.

Source: prometheus.io, "Exposition formats", text version 0.0.4. A test holds it to prometheus-client.
"""

import re
from collections.abc import Iterable

from fleet.record import Record

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*\s*=\s*"(?:[^"\\]|\\.)*"'
_LINE = re.compile(
    rf"(?P<name>{_NAME})\s*(?:\{{\s*(?P<labels>(?:{_LABEL}\s*(?:,\s*)?)*)\}})?\s+(?P<value>\S+)(?:\s+-?[0-9]+)?\s*"
)
_EACH = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Sample(Record):
    """One value of one series."""

    name: str
    labels: dict[str, str]
    value: float


def parse_exposition(text: str) -> tuple[Sample, ...]:
    """Every sample, in order; raises ValueError for a line that is none."""
    lines = (line.strip(" \t\r") for line in text.split("\n"))
    return tuple(_sample(line) for line in lines if line and not line.startswith("#"))


def _sample(line: str) -> Sample:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"metrics: expected a sample, found {line[:60]!r}")
    labels = {name: _ESCAPE.sub(_plain, value) for name, value in _EACH.findall(match["labels"] or "")}
    try:
        return Sample(name=match["name"], labels=labels, value=float(match["value"]))
    except ValueError as error:
        raise ValueError(f"metrics: expected a number for {match['name']}, found {match['value'][:20]!r}") from error


def _plain(match: re.Match[str]) -> str:
    return {"n": "\n", "\\": "\\", '"': '"'}.get(match[1], match[0])


def by_label(samples: Iterable[Sample], label: str) -> dict[str, list[Sample]]:
    """The samples of each value of a label; those without it are under ""."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.labels.get(label, ""), []).append(sample)
    return found
