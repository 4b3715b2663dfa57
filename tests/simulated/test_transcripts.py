"""What the pages show is what the commands say now, but for times, numbers of processes and digests."""

import re

import pytest

from tests.simulated.transcripts import BLOCK, PAGES, made

MASKS = (
    (r"sha256:[0-9a-f]+…?", "DIGEST"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z| UTC)", "TIME"),
    (r"\d{8}T\d{6}Z", "TIME"),
    (r"\bpid \d+", "PID"),
    (r"\+?\d+\.\d+ s\b", "SECONDS"),
    (r"versions .*? receipt before", "VERSIONS"),
    (r"\s+", " "),
)


def masked(text: str) -> str:
    for pattern, name in MASKS:
        text = re.sub(pattern, name, text, flags=re.DOTALL)
    return text.strip()


@pytest.fixture(scope="module")
def transcripts() -> dict[str, str]:
    return made()


def shown() -> dict[str, str]:
    blocks = [found for page in PAGES for found in BLOCK.finditer(page.read_text())]
    assert len({found["name"] for found in blocks}) == len(blocks)
    return {found["name"]: found[0].removeprefix(found[1]).removesuffix(found[3]) for found in blocks}


def test_each_transcript_is_in_its_page_as_it_is_made(transcripts: dict[str, str]) -> None:
    """Made anew with `python -m tests.simulated.transcripts`."""
    assert {name: masked(text) for name, text in shown().items()} == {
        name: masked(text) for name, text in transcripts.items()
    }


STATUS = {
    "refused": "3", "in-the-way": "3", "converged": "0", "found-as-desired": "0", "readback": "0", "differs": "1",
    "failed": "1", "interrupted": "130", "list": "0", "show": "0", "unclosed": "0", "verify": "0", "tampered": "1",
}  # fmt: skip


def test_each_ends_with_its_status(transcripts: dict[str, str]) -> None:
    assert {name: text.rstrip().rpartition("\n")[2].strip() for name, text in transcripts.items()} == STATUS
