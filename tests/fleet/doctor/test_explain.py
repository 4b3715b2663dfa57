"""Every id is stable in its form, explained once, and has its place in the page that is made from the code."""

import re

import pytest

from fleet.doctor.explain import every_id, explained, page
from fleet.doctor.planned import refusals, steps
from fleet.doctor.registry import CHECKS, DOMAINS

IDS, PAGE = every_id(), page()


def test_ids_are_domain_and_name_and_no_two_are_the_same() -> None:
    assert all(re.fullmatch(r"[a-z]+\.[a-z][a-z0-9_]*", each) for each in IDS)
    listed = [each.id for _, _, checks in DOMAINS for each in checks]
    assert len(listed) == len(set(listed))
    assert not set(CHECKS) & (set(steps()) | set(refusals()))


@pytest.mark.parametrize("id", IDS)
def test_each_is_explained_and_stands_in_the_page(id: str) -> None:
    text = explained(id)
    assert text is not None
    assert text.startswith(f"{id} (")
    assert len(text.splitlines()) > 2
    assert f"### {id}\n" in PAGE or f"| `{id}` |" in PAGE


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
def test_what_is_said_of_a_check_is_whole_sentences(check: object) -> None:
    for words in (check.looks_for, check.why, check.fix):  # type: ignore[attr-defined]
        assert words[0].isupper() or words[0] in "`0123456789"
        assert words.endswith(".")


def test_what_is_no_id_is_explained_by_nobody() -> None:
    assert explained("fabric") is None
