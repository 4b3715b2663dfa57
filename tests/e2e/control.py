"""The controller's side of an end-to-end test: real pyinfra processes, and what they said over SSH."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from virtual.lab import Lab

ROOT = Path(__file__).resolve().parents[2]
INVENTORY = "inventories/virtual.py"
SERVE = (INVENTORY, "deploys/serve.py")
PLAN = re.compile(r"plan (sha256:[0-9a-f]{64}) for \S+$", re.MULTILINE)
"""What a dry run tells of a host; behind a deployment's name it says where that is."""
RUN_SECONDS = 1500
"""Eight times what a whole converge takes on two quiet cores (180 s, measured 2026-11-29): two labs share them."""


@dataclass(frozen=True)
class Run:
    """One pyinfra process that ended."""

    status: int
    out: str
    err: str
    trace: tuple[dict[str, Any], ...]

    @property
    def commands(self) -> list[str]:
        """Every command that crossed SSH, on any host, in the order of their beginnings."""
        return [each["command"] for each in self.trace if each["event"] == "begin"]

    @property
    def channels(self) -> dict[str, int]:
        """How many channels were opened to each host."""
        peers = [each["peer"] for each in self.trace if each["event"] == "open"]
        return {peer: peers.count(peer) for peer in sorted(set(peers))}

    @property
    def said(self) -> str:
        """Both streams, for a message when a test fails."""
        return f"status {self.status}\n{self.out}\n{self.err}"


def pyinfra(trace: Path, *arguments: str, seconds: float = RUN_SECONDS, **environment: str) -> Run:
    """pyinfra to its end, without a terminal; whatever crosses SSH is traced into the file."""
    trace.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pyinfra", *arguments],
        cwd=ROOT, env=os.environ | {"SPARKS_SSH_TRACE": str(trace), "PYTHONPATH": str(ROOT)} | environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    return Run(done.returncode, done.stdout, done.stderr, read_trace(trace))


def approval(trace: Path, *arguments: str, seconds: float = RUN_SECONDS, **environment: str) -> tuple[str, ...]:
    """What carries out exactly what a dry run tells now: the digest of each host's plan, named for approval."""
    dry = pyinfra(trace, *arguments, "--dry", seconds=seconds, **environment)
    digests = PLAN.findall(dry.err)
    return ("--data", f"plan={','.join(digests)}", "-y") if digests else ("-y",)


def converge(trace: Path, *arguments: str, seconds: float = RUN_SECONDS, **environment: str) -> Run:
    """Look at the plan of a dry run, approve it for every host, and carry it out."""
    given = approval(trace, *arguments, seconds=seconds, **environment)
    return pyinfra(trace, *arguments, *given, seconds=seconds, **environment)


def sparks(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command of ours to its end."""
    return subprocess.run(
        [sys.executable, "-c", "from lab.cli import main; main()", *arguments],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=RUN_SECONDS, check=False,
    )  # fmt: skip


def start(trace: Path, *arguments: str, said: IO[bytes] | None = None) -> "subprocess.Popen[bytes]":
    """pyinfra in the background, in its own session, so that it can be killed at a moment of its trace.

    What it says goes to `said`, where that is given.
    """
    out = said or subprocess.DEVNULL
    trace.unlink(missing_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "pyinfra", *arguments],
        cwd=ROOT, env=os.environ | {"SPARKS_SSH_TRACE": str(trace), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
    )  # fmt: skip


def read_trace(trace: Path) -> tuple[dict[str, Any], ...]:
    """What has been traced so far."""
    if not trace.exists():
        return ()
    return tuple(json.loads(line) for line in trace.read_text().splitlines())


def fingerprint(lab: "Lab", names: Sequence[str]) -> dict[str, str]:
    """Everything that a write or a restart on a host would change: files with inode and time, processes, boot."""
    look = (
        "find /etc /run/netplan /usr/local /usr/share/ollama /run/NetworkManager/system-connections "
        "-xdev -printf '%p %i %T@ %m %u %s\\n' 2>/dev/null | sort; "
        "cat /proc/sys/kernel/random/boot_id; ip -br addr; cat /sys/class/net/*/mtu; "
        "systemctl show -p MainPID,ExecMainStartTimestampMonotonic,NRestarts ollama NetworkManager ssh"
    )
    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(lambda name: on(lab, name, look), names), strict=True))


def on(lab: "Lab", name: str, script: str, seconds: float = 300) -> str:
    """What a script prints as root on a virtual Spark; fails the test when the script fails."""
    done = lab.ssh(name, f"sudo sh -c {shlex.quote(script)}", timeout=seconds)
    assert done.returncode == 0, f"{name}: {script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def wait_until(truth: Any, seconds: float, what: str, pause: float = 0.05) -> None:
    """Looks until it is so; fails the test when it is not in time. To look at a machine slows what it waits for."""
    deadline = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(pause)


def faults(lab: "Lab", name: str, **kinds: str) -> None:
    """Make the stand-in for Ollama fail in these ways, and in no other."""
    text = json.dumps(kinds)
    on(lab, name, f"mkdir -p /run/ollama-standin; echo '{text}' > /run/ollama-standin/faults.json")


def ask(lab: "Lab", name: str, route: str, **body: Any) -> str:
    """What Ollama answers on the host itself."""
    return on(lab, name, f"curl -sS localhost:11434/api/{route} -d '{json.dumps(body)}'")
