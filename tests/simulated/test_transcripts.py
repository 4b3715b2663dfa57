"""What the pages show is what the commands say now, but for times, numbers of processes and digests."""

import pytest

from tests.simulated.transcripts import made, masked, shown


@pytest.fixture(scope="module")
def transcripts() -> dict[str, str]:
    return made()


def test_each_transcript_is_in_its_page_as_it_is_made(transcripts: dict[str, str]) -> None:
    """Where not: `make reference`."""
    pages = shown()
    assert set(pages) == set(transcripts)
    for name, text in transcripts.items():
        assert masked(pages[name]) == masked(text), name


STATUS = {
    "refused": "3", "in-the-way": "3", "converged": "0", "found-as-desired": "0", "readback": "0", "differs": "1",
    "failed": "1", "interrupted": "130", "list": "0", "show": "0", "unclosed": "0", "verify": "0", "tampered": "1",
    "doctor": "3",
}  # fmt: skip


def test_each_ends_with_its_status(transcripts: dict[str, str]) -> None:
    assert {name: text.rstrip().rpartition("\n")[2].strip() for name, text in transcripts.items()} == STATUS
