"""Round trips of a no-change dry run of `serve`, and what they cost beside the least that SSH costs.

    sparks virtual up && pyinfra inventories/virtual.py deploys/serve.py -y
    .venv/bin/python benchmarks/round_trips.py

Prints, from one run: exec channels per host; the wall time of the dry run; the wall time of a floor that connects
with the same library and runs the very same look on every host at once; their ratio. Beside it a drift check: one
changed file must be found. Virtual Sparks emulate their processor, so looking dominates and the ratio flatters;
absolute figures mean little there.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import paramiko  # noqa: E402

from tests.e2e.control import SERVE, Run, pyinfra  # noqa: E402
from virtual.lab import Lab  # noqa: E402
from virtual.state import LabState, MachineState  # noqa: E402

AS_DESIRED = "is as desired"
REPEATS = 3


def dry_run(trace: Path) -> tuple[float, Run]:
    """Seconds of one dry run, start-up included, and what it said."""
    started = time.monotonic()
    run = pyinfra(trace, *SERVE, "--dry")
    return time.monotonic() - started, run


def floor(lab: LabState, command: str) -> float:
    """Seconds of a bare client in a fresh process: connect to every host at once, run one command, read it."""
    started = time.monotonic()
    subprocess.run([sys.executable, __file__, "--floor", command], check=True, cwd=ROOT)
    return time.monotonic() - started


def run_floor(lab: LabState, command: str) -> None:
    with ThreadPoolExecutor(len(lab.machines)) as pool:
        list(pool.map(lambda machine: once(lab, machine, command), lab.machines))


def once(lab: LabState, machine: MachineState, command: str) -> None:
    client = paramiko.SSHClient()
    client.load_host_keys(lab.known_hosts)
    client.connect(machine.host, machine.port, username=lab.user, key_filename=lab.key, allow_agent=False)
    _, out, _ = client.exec_command(command)
    out.read()
    client.close()


def drift_is_found(lab: Lab, trace: Path) -> bool:
    """Is one file with another mode on one host reported?"""
    name = lab.state.machines[0].name
    change = "sudo sh -c 'chmod {} /etc/netplan/90-NM-*.yaml'"
    lab.ssh(name, change.format("0640"))
    try:
        _, run = dry_run(trace)
        return run.status == 0 and f"{name} {AS_DESIRED}" not in run.err
    finally:
        lab.ssh(name, change.format("0600"))


def main() -> int:
    lab = Lab()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        runs = [dry_run(trace) for _ in range(REPEATS)]
        last = runs[-1][1]
        if last.status != 0 or last.err.count(AS_DESIRED) != len(lab.state.machines):
            print("expected virtual Sparks that are as desired; run pyinfra inventories/virtual.py deploys/serve.py -y")
            return 1
        ours = sorted(seconds for seconds, _ in runs)[REPEATS // 2]
        least = sorted(floor(lab.state, last.commands[0]) for _ in range(REPEATS))[REPEATS // 2]
        print(f"hosts                              {len(lab.state.machines)}")
        print(f"exec channels per host             {max(last.channels.values())}")
        print(f"no-change dry run, median of {REPEATS}     {ours:.2f} s")
        print(f"floor: paramiko, the same look     {least:.2f} s")
        print(f"ratio to the floor                 {ours / least:.2f}")
        print(f"one changed file is found          {'yes' if drift_is_found(lab, trace) else 'NO'}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--floor"]:
        run_floor(Lab().state, sys.argv[2])
        sys.stdout.flush()
        os._exit(0)
    sys.exit(main())
