"""Samples of Prometheus' text format: what prometheus-client reads in them is what we read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from fleet.exposition import parse_exposition

LABEL = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(LABEL, LABEL, st.floats(allow_nan=False)), max_size=5, unique_by=lambda row: row[:2]))
def test_what_a_server_exposes_is_read_as_its_own_library_reads_it(rows: list[tuple[str, str, float]]) -> None:
    registry = CollectorRegistry()
    gauge = Gauge("vllm:num_requests_running", "Running.", ["engine", "model_name"], registry=registry)
    for engine, model, value in rows:
        gauge.labels(engine, model).set(value)
    text = generate_latest(registry).decode()
    found = [(sample.name, sample.labels, sample.value) for sample in parse_exposition(text)]
    theirs = [each for family in text_string_to_metric_families(text) for each in family.samples]
    assert found == [(each.name, each.labels, each.value) for each in theirs]
    assert len(found) == len(rows)


@pytest.mark.parametrize(
    ("line", "labels", "value"),
    [
        ("a 1", {}, 1),
        ("a{} 1.5e3 1395066363000", {}, 1500),
        ('a{b="c",} -Inf', {"b": "c"}, -math.inf),
        ('a { b = "c" , d="}" } 2', {"b": "c", "d": "}"}, 2),
        (r'a{b="\"\\n\n\x"} 0', {"b": '"\\n\n\\x'}, 0),
    ],
)
def test_forms_of_a_sample(line: str, labels: dict[str, str], value: float) -> None:
    (found,) = parse_exposition(f"# HELP a b\n\n{line}\n")
    assert (found.name, found.labels, found.value) == ("a", labels, value)


def test_not_a_number_is_a_value() -> None:
    assert math.isnan(parse_exposition("a NaN")[0].value)


@pytest.mark.parametrize("text", ["<html>", "a", 'a{b="c} 1', "a one", '{"error": 1}', "a{b=c} 1"])
def test_what_is_no_sample_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="metrics: expected"):
        parse_exposition(text)
