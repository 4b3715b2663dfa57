"""Hosts and controllers for the lock: a folder in place of /run/sparks, and real processes that live and die."""

import subprocess
import sys
from pathlib import Path

from facts.controller import started_ticks
from fleet.controller import Controller

LOOP = """
while read -r name; do
    sh "$name" > "$name.out" 2> "$name.err" < /dev/null
    echo "$?" > "$name.status"
    echo done
done
"""


class Connection:
    """What sshd is for one connection: a process called `sshd`, below which the commands run that come in over it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        sshd = folder / "sshd"
        sshd.symlink_to("/bin/sh")
        self.process = subprocess.Popen(
            [str(sshd), "-c", LOOP],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"SSH_CONNECTION": "10.0.0.2 1 10.0.0.1 22",
                                                                           "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        self.begun = 0

    def begin(self, script: str) -> Path:
        """Start a script; its outcome is at that path once it has ended."""
        self.begun += 1
        path = self.folder / str(self.begun)
        path.write_text(f"set -eu\n{script}\n")
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        return path

    def end(self, path: Path) -> subprocess.CompletedProcess[str]:
        """The outcome of a script, waited for."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "done\n"
        status, out, err = (path.with_name(f"{path.name}.{what}").read_text() for what in ("status", "out", "err"))
        return subprocess.CompletedProcess(str(path), int(status), out, err)

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """A script to its end."""
        return self.end(self.begin(script))

    def drop(self) -> None:
        """The connection ends: sshd's process goes, what it started stays."""
        self.process.kill()
        self.process.communicate()


class Run:
    """A run on a controller: a process of its own, and who started it."""

    def __init__(self, owner: str = "ada@desk") -> None:
        self.process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        ticks = started_ticks(self.process.pid)
        assert ticks is not None
        user, host = owner.split("@")
        self.controller = Controller(
            user=user, host=host, boot_id="elsewhere", pid=self.process.pid, started_ticks=ticks, pid_namespace="1"
        )

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self.process.wait()
