"""Texts of any length and any content fit, and carry nothing that a terminal obeys or XML forbids."""

from hypothesis import given
from hypothesis import strategies as st

from lab.map.words import cells, fitted, printable, wrapped


@given(st.text(), st.integers(1, 40))
def test_what_is_fitted_fits(text: str, room: int) -> None:
    assert cells(fitted(text, room)) <= room


@given(st.text(min_size=3))
def test_what_fits_stays(text: str) -> None:
    assert fitted(text, 10**6) == printable(text)


def test_a_name_that_is_cut_keeps_both_its_ends() -> None:
    assert fitted("rack1-shelf2-dgx7", 9) == "rack…dgx7"


@given(st.text())
def test_nothing_obeyed_or_forbidden_is_left(text: str) -> None:
    shown = printable(text)
    assert all(each.isprintable() or each.isspace() for each in shown)
    assert not {"\x1b", "\n", "\x00", "\ufffe"} & set(shown)


@given(st.lists(st.from_regex(r"[a-z/:.-]{1,30}", fullmatch=True), min_size=1), st.integers(40, 100))
def test_words_are_never_broken_and_lines_keep_to_the_width(words: list[str], room: int) -> None:
    lines = wrapped(" ".join(words), room, indent=4, hanging=6)
    assert " ".join(lines).split() == words
    assert all(len(line) <= room for line in lines)
