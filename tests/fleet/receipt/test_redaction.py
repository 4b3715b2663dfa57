"""A command line is kept by allow-list."""

from hypothesis import given
from hypothesis import strategies as st

from fleet.keyfile import REDACTED
from fleet.receipt.redaction import FLAGS, WITH_VALUE, redacted_command

NAMES = ("sparks", "converge", "srv5")


def test_what_is_known_stands_and_all_else_is_redacted() -> None:
    digest = "sha256:" + "0" * 64
    words = ["sparks", "converge", "srv5", "--yes", "--plan", digest, "--token", "hunter2", "--token=hunter2", "-i"]
    assert redacted_command([*words, "inventories/ring.py"], NAMES) == (
        "sparks", "converge", "srv5", "--yes", "--plan", digest, REDACTED, REDACTED, REDACTED, "-i",
        "inventories/ring.py",
    )  # fmt: skip
    assert redacted_command(["-o=a.json", "-i", "https://ann:hunter2@host", "-o"], NAMES) == (
        "-o=a.json", "-i", REDACTED, "-o",
    )  # fmt: skip


@given(st.lists(st.text(min_size=1)))
def test_no_unknown_word_is_ever_kept(words: list[str]) -> None:
    known = {*NAMES, *WITH_VALUE, *FLAGS, REDACTED}
    assert all(word in known for word in redacted_command([f"?{each}" for each in words], NAMES))
