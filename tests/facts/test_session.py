"""sudo clears the environment; the SSH connection that a look comes over is known behind it all the same."""

import os
import subprocess
from pathlib import Path

import pytest

from facts.bundle import Bundle
from facts.look import as_root
from fleet.session import SshConnection

HERE = "127.0.0.1 54321 127.0.0.1 22"


@pytest.fixture
def as_user(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who is not root and has a sudo that keeps nothing."""
    played = {
        "id": '#!/bin/sh\n[ "$*" = -u ] && echo 1000 || echo spark\n',
        "sudo": '#!/bin/sh\n[ "$2" != -H ] || shift\nshift\nexec env -i PATH="$PATH" "$@"\n',
    }
    for name, text in played.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SSH_CONNECTION": HERE, "KEPT": "no"}


def said(command: str, environment: dict[str, str]) -> str:
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_connection_passes_through_sudo_and_nothing_else_does(as_user: dict[str, str]) -> None:
    assert said(as_root('echo "$SSH_CONNECTION,${KEPT-}"'), as_user) == f"{HERE},\n"
    del as_user["SSH_CONNECTION"]
    assert said(as_root('set -u; echo "$SSH_CONNECTION."'), as_user) == ".\n"


def test_a_bundle_that_needs_root_sees_it(as_user: dict[str, str]) -> None:
    bundle = Bundle()
    command = bundle.command("session.SshSession,netplan.NetplanFiles")
    found = bundle.process(said(command, as_user).splitlines())["facts.session.SshSession"]
    assert found.ssh == SshConnection(client="127.0.0.1", server="127.0.0.1", port=22, device="lo")
