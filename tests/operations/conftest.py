"""What the tests of the guard share: a played host whose places are folders of the test."""

from pathlib import Path

import pytest

from operations import guard_script
from tests.operations.played_guard import BEFORE, Played


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    """A host with some files, before a guarded change; `netplan generate` is not asked in a scratch root."""
    for name, place in {"ETC": "etc", "RUN": "run", "KEPT_IN": "var/kept", "HOME": "home"}.items():
        monkeypatch.setattr(guard_script, name, str(tmp_path / place))
    monkeypatch.setattr(guard_script, "accepted", lambda put, also_remove: ":")
    host = Played(tmp_path)
    for path, text in BEFORE.items():
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o640)
    return host
