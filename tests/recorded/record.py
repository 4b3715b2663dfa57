"""Record observations of virtual Sparks as regression tests.

    python -m tests.recorded.record                  # every case, on the pair of this checkout, which is left as found
    python -m tests.recorded.record blank converged  # these
    python -m tests.recorded.record --expected       # no lab: only what is expected, anew, of what is there

Each case brings a Spark into a state, looks at it with `sparks observe`, and keeps that with what a plan from it says.
Read both before you commit them.
"""

import json
import os
import runpy
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.control import INVENTORY, ROOT, ask, converge, on, sparks
from tests.e2e.test_adopt import CX7, cx7
from tests.e2e.test_health import STRANGER
from tests.labs import Labs
from tests.recorded.planned import HERE, OBSERVATION, expect, recorded

if TYPE_CHECKING:
    from virtual.lab import Lab

TARGET = "vspark1"


@dataclass(frozen=True)
class Case:
    """A state of a Spark."""

    means: str
    """In words."""
    reach: Callable[["Lab"], object]
    """Brings the Spark there from how it is after `sparks virtual up`."""


def _blank(lab: "Lab") -> None:
    """It is so."""


def _converged(lab: "Lab") -> None:
    trace = Path(tempfile.mkdtemp()) / "trace.jsonl"
    done = converge(trace, INVENTORY, "deploys/serve.py", "--limit", TARGET)
    assert done.status == 0, done.said


def _hand_made(lab: "Lab") -> None:
    on(lab, TARGET, "ip addr add 192.168.102.10/24 dev enp1s0f1np1; ip link set enp1s0f1np1 mtu 9000 up")


def _foreign(lab: "Lab") -> None:
    on(lab, TARGET, f"umask 077; printf '{cx7(0)}' > {CX7}; netplan generate; nmcli connection reload")
    up = "ip -br -4 addr show enp1s0f1np1 | grep -q 192.168.102.10"
    on(lab, TARGET, f"for i in $(seq 60); do if {up}; then exit 0; fi; sleep 1; done; exit 1")


def _stranger(lab: "Lab") -> None:
    ask(lab, TARGET, "pull", model=STRANGER)
    ask(lab, TARGET, "generate", model=STRANGER, keep_alive=-1)


CASES = {
    "blank": Case("a Spark as it comes", _blank),
    "converged": Case("as desired, after a run of ours", _converged),
    "hand_made_address": Case("a rail's address set with `ip`, gone after the next boot", _hand_made),
    "foreign_40_cx7": Case("the file of NVIDIA's playbook on the ports of the rails", _foreign),
    "stranger_loaded": Case("Ollama serves a model that somebody loaded, and no run of ours has started it", _stranger),
}


def unclean(text: str, root: str, host: str) -> str | None:
    """What of the machine that records is in a text; None where nothing is."""
    return next((each for each in (root, f"@{host}") if each in text), None)


def record(name: str, lab: "Lab") -> None:
    """Bring the Spark there and keep what `sparks observe` sees."""
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    lab.reset()
    CASES[name].reach(lab)
    done = sparks("observe", TARGET, "-o", str(folder / OBSERVATION), "-i", INVENTORY)
    assert done.returncode == 0, done.stderr
    found = unclean((folder / OBSERVATION).read_text(), str(ROOT), socket.gethostname())
    assert found is None, f"{folder / OBSERVATION}: expected nothing of this machine, found {found}"
    (folder / OBSERVATION).chmod(0o644)


def main(*names: str) -> None:
    """Record cases, and what is expected of them."""
    unknown = set(names) - {*CASES, "--expected"}
    assert not unknown, f"expected {', '.join(CASES)} or --expected, found {', '.join(sorted(unknown))}"
    if "--expected" not in names:
        roster = runpy.run_path(str(ROOT / "group_data" / "virtual.py"))["roster"]
        (HERE / "roster.json").write_text(json.dumps(roster, indent=2) + "\n")
        _record_all(names or tuple(CASES))
    for name, folder in recorded().items():
        expect(folder)
        print(f"{name}: {CASES[name].means}")


def _record_all(names: tuple[str, ...]) -> None:
    os.environ["SPARKS_RECEIPTS"] = str(Path(tempfile.mkdtemp()) / "receipts")
    labs = Labs(print)
    try:
        lab = labs.brought_up("pair", 2)
        for name in names:
            record(name, lab)
        lab.reset()
    finally:
        labs.restore()


if __name__ == "__main__":
    main(*sys.argv[1:])
