"""The language of `nmcli -t`."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fleet.nmcli import join_terse, read_terse, split_terse, split_values
from tests.conftest import CaseText

fields = st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1)


@given(fields)
@example(["x\\", "", ":"])
@example(["x\\\\:", "\\:"])
def test_what_is_joined_splits_into_the_same(values: list[str]) -> None:
    assert split_terse(join_terse(values)) == tuple(values)


@given(st.text())
def test_any_text_is_fields_or_a_value_error(text: str) -> None:
    for read in (lambda: split_terse(text), lambda: read_terse(text, ("A", "B"))):
        try:
            read()
        except ValueError:
            continue


def test_a_name_that_ends_in_a_backslash_does_not_swallow_the_next_field() -> None:
    assert split_terse("x\\\\:uuid") == ("x\\", "uuid")


def test_a_line_with_another_number_of_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: expected 2 fields, found 3"):
        read_terse("a:b\na:b:c\n", ("A", "B"))


def test_values_are_a_set_whatever_their_order_and_separator(case: CaseText) -> None:
    runtime = split_values(case("050", "input.g-IP4.ADDRESS.txt").strip())
    addresses, mtu, method = case("050", "input.g-profile.txt").splitlines()
    assert runtime == split_values(addresses) == {"192.168.100.10/24", "192.168.200.10/24"}
    assert (mtu, method) == ("9000", "manual")


def test_an_empty_field_has_no_values() -> None:
    assert split_values("") == frozenset()
