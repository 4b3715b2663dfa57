"""A policy that cannot be has no constructor, and says where and why."""

from typing import Any

import pytest

from fleet.kernel.policy import KernelPolicy, matches
from fleet.roster import Roster
from fleet.roster_error import RosterError
from tests.fleet.kernel.host import OLD_VERSION
from tests.fleet.kernel.menus import NEW, OLD

GOOD: dict[str, Any] = {"release": OLD, "packages": {f"linux-image-{OLD}": OLD_VERSION}}


def read(change: dict[str, Any], kernel: str = "k") -> Roster:
    values = {"sparks": {"a": {"enrolled": True, "kernel": kernel}}, "kernels": {"k": GOOD | change}}
    return Roster.read(values, "group_data/x.py")


def test_a_spark_has_the_policy_that_it_names() -> None:
    roster = read({"metas": ["linux-nvidia-hwe-24.04"]})
    assert roster.desired_for("a").kernel == roster.kernels["k"]
    assert roster.kernels["k"].held == (f"linux-image-{OLD}", "linux-nvidia-hwe-24.04")
    assert roster.kernels["k"].expected_page_size is None
    signed = read({"release": NEW, "packages": {f"linux-image-unsigned-{NEW}": "1"}, "fallback": OLD}).kernels["k"]
    assert (signed.expected_page_size, signed.kept) == (65536, (NEW, OLD))


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"packages": {"linux-image-1.2.3": "1"}}, "kernel_without_image", f"expected linux-image-{OLD}, found"),
        ({"fallback": OLD}, "fallback_is_release", "another release"),
        ({"metas": [f"linux-image-{OLD}"]}, "package_twice", "metas"),
        ({"page_size_bytes": 65536}, "page_size_of_release", "found 65536"),
        ({"command_line": {"add": ["kho=off"], "remove": ["kho"]}}, "word_added_and_removed", "kho=off"),
        ({"command_line": {"add": ["a", "a"]}}, "word_twice", "a a"),
        ({"command_line": {"remove": ["quiet", "quiet"]}}, "listed_twice", "remove: expected each once, found quiet 2"),
        ({"metas": ["linux-x", "linux-x"]}, "listed_twice", "metas: expected each once, found linux-x 2 times"),
        ({"command_line": {"add": ["a=" + "x" * 2046]}}, "kernel_line_long", "add[0]: a word: expected at most 2047"),
        ({"command_line": {"add": ["a=" + "x" * 1100, "b=" + "x" * 1100]}}, "kernel_line_long", "found 2205"),
        ({"command_line": {"remove": ["a" * 2048]}}, "kernel_line_long", "COMMAND_LINE_SIZE"),
        ({"command_line": {"add": ["a b"]}}, "kernel_word", "'a b'"),
        ({"command_line": {"add": ["a=$(x)"]}}, "kernel_word", "found"),
        ({"command_line": {"remove": ["my.token=abc"]}}, "secret_parameter", "expected no value for my.token"),
        ({"kho": "off", "command_line": {"add": ["kho=on"]}}, "kho_against_itself", "expected off"),
    ],
)
def test_walls(change: dict[str, Any], code: str, said: str) -> None:
    with pytest.raises(RosterError) as caught:
        read(change)
    (line,) = caught.value.lines
    assert "group_data/x.py: roster.kernels.k" in line
    assert said in line
    assert f"[{code}]" in line


def test_wrong_types_name_file_and_key() -> None:
    for change in ({"release": "latest"}, {"packages": {f"linux-image-{OLD}": 6}}, {"odd": 1}, {"kho": "maybe"},
                   {"fallback": None}):  # fmt: skip
        with pytest.raises(RosterError, match=r"group_data/x\.py: roster\.kernels\.k"):
            read(change)
    with pytest.raises(RosterError, match=r"sparks\.a\.kernel: expected one of kernels \(k\), found other"):
        read({}, kernel="other")


@pytest.mark.parametrize(
    ("word", "pattern", "meant"),
    [
        ("quiet", "quiet", True),
        ("kho=on", "kho", True),
        ("kho=on", "kho=on", True),
        ("kho=off", "kho=on", False),
        ("kho", "kho=on", False),
        ("log-buf-len=1", "log_buf_len", True),
        ("a=x-y", "a=x_y", False),
        ("quietly", "quiet", False),
    ],
)
def test_what_a_pattern_means(word: str, pattern: str, meant: bool) -> None:
    assert matches(word, pattern) is meant


def test_a_policy_is_read_back_as_it_was() -> None:
    policy = read({}).kernels["k"]
    assert KernelPolicy.from_canonical(policy.canonical) == policy
