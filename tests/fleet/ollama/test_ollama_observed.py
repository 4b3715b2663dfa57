"""The cases of /api/ps and /api/tags, and what the records say of them."""

import json
from pathlib import Path

import pytest

from fleet.ollama.residency import Resident, parse_residency, parse_residents
from fleet.ollama.store import parse_models, parse_store, sha256_of

CASES = Path(__file__).resolve().parents[2] / "cases"
NOW = 1795968900
"""2026-11-29 16:15 UTC, when the cases were written."""


def case(path: str) -> str:
    return (CASES / path).read_text()


def residents(path: str) -> tuple[Resident, ...]:
    return parse_residents(case(path), NOW)


def test_forever_is_more_than_a_century() -> None:
    found = residents("080-ollama-ps-forever/input.json")
    assert [each.keep for each in found] == ["forever", "forever"]
    assert [each.processor for each in found] == ["100% GPU", "100% GPU"]
    assert found[0].context_length == 8192
    assert found[0].manifest_digest == "sha256:" + "a" * 64


def test_the_end_rolls_and_the_record_does_not() -> None:
    text = case("080-ollama-ps-forever/input.json")
    later = text.replace("2318-", "2319-")
    assert parse_residents(text, NOW) == parse_residents(later, NOW + 31_536_000)


def test_zero_vram_is_the_cpu() -> None:
    (found,) = residents("081-ollama-ps-cpu/input.json")
    assert (found.processor, found.is_on_cpu, found.is_loading) == ("100% CPU", True, False)


def test_listed_is_not_ready() -> None:
    (new,) = residents("083-ollama-ps-loading/input.new.json")
    assert new.is_loading
    assert not new.is_on_cpu
    assert (new.context_length, new.keep, new.seconds_left) == (None, "until", 0)
    (zero,) = residents("083-ollama-ps-loading/input.zero.json")
    assert zero.is_loading
    assert (zero.keep, zero.seconds_left) == ("unset", None)


@pytest.mark.parametrize("name", ["a", "b"])
def test_no_models_is_none(name: str) -> None:
    text = case(f"084-ollama-empty-null/input.{name}.json")
    assert parse_models(text) == ()
    assert parse_residents(text, NOW) == ()


@pytest.mark.parametrize(
    ("name", "found"), [("c.json", "model list cache unavailable"), ("d.txt", "Ollama is running")]
)
def test_what_is_no_list_is_unknown(name: str, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        parse_models(case(f"084-ollama-empty-null/input.{name}"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"models": 3}', '{"models": [1]}', "null"])
def test_another_shape_is_unknown(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_models(text)


@pytest.mark.parametrize(
    ("size", "vram", "processor"),
    [(100, 48, "52%/48% CPU/GPU"), (200, 199, "1%/99% CPU/GPU"), (100, 120, "Unknown"), (0, 0, "Unknown")],
)
def test_processor_is_worded_as_ollama_does(size: int, vram: int, processor: str) -> None:
    found = Resident(
        name="a:b",
        manifest_digest="",
        size_bytes=size,
        size_vram_bytes=vram,
        context_length=1,
        keep="forever",
    )
    assert found.processor == processor


def test_digests_have_one_spelling() -> None:
    assert sha256_of("a" * 64) == sha256_of("sha256:" + "a" * 64) == "sha256:" + "a" * 64
    for wrong in ("a" * 12, "A" * 64, None, "md5:" + "a" * 64):
        with pytest.raises(ValueError, match="expected a sha256 digest"):
            sha256_of(wrong)


def test_models_are_in_order_of_name() -> None:
    models = [{"name": name, "digest": "b" * 64, "size": 1} for name in ("z:1", "a:1")]
    body = json.dumps({"models": models})
    look = {"source": "api", "endpoint": "http://127.0.0.1:11434", "directory": None, "body": body}
    store = parse_store(json.dumps(look))
    assert [model.name for model in store.models] == ["a:1", "z:1"]
    assert store.model("z:1") is not None
    assert store.model("c:1") is None


def test_a_failed_look_says_why() -> None:
    for parse in (parse_store, parse_residency):
        with pytest.raises(ValueError, match=r"^connection refused$"):
            parse('{"error": "connection refused"}')


_ENTRY = f'"digest": "{"a" * 64}", "size": 5, "size_vram": 5, "expires_at": "2318-01-01T00:00:00Z"'


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("[" * 100_000, "expected models, found values nested too deep"),
        ('{"models":' * 100_000, "expected models, found values nested too deep"),
        (f'{{"models": [{{"name": "\\ud800", {_ENTRY}}}]}}', "expected text of whole Unicode characters"),
        ('{"models": [{"name": "m"}]}', "expected (digest|expires_at), found none"),
        (f'{{"models": [{{"name": "m", {_ENTRY.replace("5,", "1e999,")}}}]}}', "size_bytes: Input should be a finite"),
        (f'{{"models": [{{"name": ["m"], {_ENTRY}}}]}}', "name: Input should be a valid string"),
    ],
)
def test_what_no_record_can_hold_is_one_complaint(body: str, reason: str) -> None:
    look = {"source": "api", "endpoint": "http://e", "directory": None, "now": NOW, "body": body}
    for parse in (parse_store, parse_residency):
        with pytest.raises(ValueError, match=f"^ollama http://e: {reason}[^\n]*$"):
            parse(json.dumps(look))
