"""What a run was started as holds nothing that nobody expected."""

import sys

import pytest

from fleet.keyfile import REDACTED
from lab.receipts.run import PROGRAMS, this_command, versions


def test_every_program_has_a_version() -> None:
    assert set(versions()) == {"python", *PROGRAMS}
    assert "" not in versions().values()


def test_the_command_line_is_kept_by_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/sparks", "converge", "srv5", "--yes", "--password", "hunter2"])
    assert this_command("converge", "srv5") == ("sparks", "converge", "srv5", "--yes", REDACTED, REDACTED)
