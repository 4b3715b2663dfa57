"""The files of docs/reference that are made from the code are as the code makes them, and none is left over."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lab.reference import SCHEMAS, pages
from lab.schemas import DOCUMENTS, schema
from tests.lab.test_site import ROOT


@pytest.mark.parametrize("path", pages(), ids=str)
def test_it_is_as_the_code_makes_it(path: Path) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == pages()[path], "run `make reference`"


def test_no_schema_is_left_of_what_is_gone() -> None:
    assert {path.stem for path in (ROOT / SCHEMAS).iterdir()} == set(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_is_a_schema_of_its_draft(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
