"""ssh to one virtual Spark: pinned host key, the lab's key, one shared connection per user."""

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from virtual import host
from virtual.errors import LabError
from virtual.progress import Say, silent

USER = "spark"
COMMAND_SECONDS = 300.0
BOOT_SECONDS = 600.0
"""Four machines that boot at once took 163 s on two busy cores (virtual-sparks.md, measured 2026-11-29)."""

LOGIN_SECONDS = 300
"""When ssh itself gives up; whoever runs a command here gives up sooner."""

TRY_SECONDS = 60.0
"""A fresh login takes 1 to 5 s, 10 s while the guest boots, 50 s where ten machines boot (measured 2026-11-29)."""

TELL_SECONDS = 15.0
"""How often somebody who waits is told so."""

CONNECTION_FAILED = 255
"""ssh's own exit status, when it is not the command's."""


def new_control_directory() -> Path:
    """A short folder that only we can read: the path of a shared connection's socket is limited too."""
    return Path(tempfile.mkdtemp(prefix="sparks-"))


@dataclass(frozen=True)
class Shell:
    """How to reach one machine."""

    name: str
    port: int
    """On 127.0.0.1."""
    key: Path
    known_hosts: Path | None
    """None while the machine has no host key of its own yet."""
    control: Path
    """The folder of the shared connections."""

    def argv(self, user: str = USER, *options: str) -> list[str]:
        """The ssh command line, up to and including the host."""
        pinned = [f'UserKnownHostsFile="{self.known_hosts}"', "StrictHostKeyChecking=yes"]
        unknown = ["UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no"]
        settings = [
            "BatchMode=yes", "IdentitiesOnly=yes", "LogLevel=ERROR", "GlobalKnownHostsFile=/dev/null",
            "HostKeyAlgorithms=ssh-ed25519", "UpdateHostKeys=no", "PreferredAuthentications=publickey",
            f"ConnectTimeout={LOGIN_SECONDS}", "ServerAliveInterval=10", "ServerAliveCountMax=30",
            *(pinned if self.known_hosts else unknown),
        ]  # fmt: skip
        words = [word for setting in settings for word in ("-o", setting)]
        key = ["-F", "none", "-i", os.fspath(self.key), "-p", str(self.port)]
        return [host.program("ssh"), *key, *words, *options, f"{user}@127.0.0.1"]

    def run(
        self, command: str, user: str = USER, timeout: float = COMMAND_SECONDS, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command there; exit status 255 means that ssh itself failed."""
        shared = ("-o", "ControlMaster=auto", "-o", f"ControlPath={self._socket(user)}",
                  "-o", "ControlPersist=300")  # fmt: skip
        argv = [*self.argv(user, *shared), command]
        try:
            return subprocess.run(argv, input=stdin or "", capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise LabError(f"{self.name}: {command!r} did not end within {timeout:.0f} s") from None

    def disconnect(self) -> None:
        """End the shared connections: before a restore, since they would hang on a past that is gone."""
        for path in self.control.glob(f"{self.name}-*"):
            argv = self.argv(USER, "-o", f"ControlPath={path}", "-O", "exit")
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRY_SECONDS)
            path.unlink(missing_ok=True)

    def wait(self, command: str = "true", seconds: float = BOOT_SECONDS, say: Say = silent) -> str:
        """Run a command as soon as ssh answers, until it succeeds; its output.

        A port that accepts proves nothing: QEMU accepts before the guest listens. A login that is given up
        has cost the guest as much as one that succeeds, so each that takes too long makes the next more patient.
        """
        start = said = time.monotonic()
        patience = TRY_SECONDS
        while True:
            began = time.monotonic()
            complaint = self.attempt(command, patience)
            now = time.monotonic()
            if now > began + patience:
                patience *= 2
            if complaint.returncode == 0:
                return complaint.stdout
            if now > said + TELL_SECONDS:
                say(f"  {self.name} is still starting, after {now - start:.0f} s")
                said = now
            if now > start + seconds:
                last = (complaint.stderr.strip() or f"exit status {complaint.returncode}").splitlines()[-1]
                raise LabError(f"{self.name}: not ready after {seconds:.0f} s: {last}")
            time.sleep(0.5)

    def attempt(self, command: str, seconds: float = TRY_SECONDS) -> subprocess.CompletedProcess[str]:
        """Run a short command where no answer is an answer too: exit status 255."""
        try:
            return self.run(command, timeout=seconds)
        except LabError as error:
            self.disconnect()
            return subprocess.CompletedProcess([], CONNECTION_FAILED, "", error.message)

    def _socket(self, user: str) -> Path:
        return self.control / f"{self.name}-{self.port}-{user}"


def remove_control_directory(control: Path) -> None:
    """Remove what `new_control_directory` made."""
    shutil.rmtree(control, ignore_errors=True)
