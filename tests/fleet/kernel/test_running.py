"""The kernel command line, read as the kernel reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.kernel.running import Parameter, parse_command_line, parse_kernel
from tests.conftest import CaseText

WORDS = st.text(st.characters(codec="ascii", exclude_categories=["C"], exclude_characters='" '), min_size=1)


def test_a_command_line_with_everything(case: CaseText) -> None:
    line = parse_command_line(case("118", "input.txt"))
    assert line.booted_release == "6.17.0-1031-nvidia"
    assert line.values("console") == ("tty0", "ttyS0,921600")
    assert line.last("console") == "ttyS0,921600"
    assert line.values("quiet") == (None,)
    assert line.has("quiet")
    assert line.last("dyndbg") == "file drivers/net/* +p"
    assert line.last("root") == "UUID=0f0e0d0c-0b0a-4908-8706-050403020100"
    assert line.last("iommu.passthrough") == "0"
    assert line.init == ("nosplash",)
    assert not line.has("nosplash")


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ('a="b c"', Parameter(name="a", value="b c")),
        ('"a=b c"', Parameter(name="a", value="b c")),
        ('a=b" "c', Parameter(name="a", value='b" "c')),
        ("a='b", Parameter(name="a", value="'b")),
        ("a=b\\", Parameter(name="a", value="b\\")),
        ("a=", Parameter(name="a", value="")),
        ("a=b=c", Parameter(name="a", value="b=c")),
        ("=a", Parameter(name="=a")),
        ('"quiet"', Parameter(name="quiet")),
        ('a="b c', Parameter(name="a", value="b c")),
        ('a="', Parameter(name="a", value="")),
        ('"', Parameter(name="")),
    ],
)
def test_only_the_double_quote_quotes(text: str, parameter: Parameter) -> None:
    """Each answer is that of next_arg in the kernel's lib/cmdline.c, worked through by hand."""
    assert parse_command_line(text + "\n").parameters == (parameter,)


def test_a_dash_and_an_underscore_are_one_letter() -> None:
    line = parse_command_line("log_buf_len=1M log-buf-len=2M")
    assert line.values("log-buf_len") == ("1M", "2M")


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("/boot/vmlinuz-7.0.0-1019-nvidia-64k", "7.0.0-1019-nvidia-64k"),
        ("(hd0,gpt2)/vmlinuz-6.17.0-1031-nvidia", "6.17.0-1031-nvidia"),
        ("/boot/vmlinuz", None),
        ("/boot/vmlinuz-", None),
        ("", None),
    ],
)
def test_the_release_that_was_booted(image: str, release: str | None) -> None:
    assert parse_command_line(f"BOOT_IMAGE={image}").booted_release == release
    assert parse_command_line("quiet").booted_release is None


@given(st.lists(WORDS.filter(lambda word: word != "--")))
def test_unquoted_words_come_back_as_they_were(words: list[str]) -> None:
    line = parse_command_line(" ".join(words))
    assert [each.name if each.value is None else f"{each.name}={each.value}" for each in line.parameters] == words


@given(st.text())
def test_any_text_is_read_or_a_value_error(text: str) -> None:
    parse_command_line(text)
    try:
        parse_kernel(text)
    except ValueError:
        return


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="expected boot_id, uptime, found none"):
        parse_kernel("release=6.17.0\npage_size=4096\ncmdline=quiet\n")
