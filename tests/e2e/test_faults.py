"""What can happen to a run, on a real host: at one change of it each night, and another the next.

Every change of a run is tried against simulated Sparks (`tests/simulated/test_matrix.py`). Here the same kinds of fault
meet a real kernel, systemd, NetworkManager, netplan and SSH. `SPARKS_FAULT_SEED=N` tries what night N would;
the number of a test that failed is in its name. `SPARKS_FAULT_SEED=every` tries each fault at each change: 36 runs,
about two hours on two processors without KVM (`-k killed`, `-k ssh`, … for one kind).
"""

import datetime
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.receipts.ledger import read_folder
from tests.e2e.control import INVENTORY, ROOT, RUN_SECONDS, on, sparks, wait_until
from tests.e2e.kill import writes

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.nightly, pytest.mark.timeout(3600)]

CHANGES = 6
"""How many changes a run makes on a blank Spark at least: two documents, one connection, for the other may come up with
it, unit, pull, load."""
SEED = os.environ.get("SPARKS_FAULT_SEED") or str(datetime.date.today().toordinal())
CLEARED_SECONDS = 90
"""How long a fault lasts on the host that a run is to meet: it ends by itself, as root may be out of reach."""
SUDOERS = "/etc/sudoers.d/lab"
CLEARED = "sudo -n test ! -e /filled"
FINAL = (
    "sha256sum /etc/netplan/* /etc/systemd/system/ollama.service.d/* /etc/systemd/system/sparks-* | sort; "
    "ip -br -4 addr | sort; cat /sys/class/net/*/mtu; systemctl is-active ollama; systemctl is-enabled ollama; "
    "curl -s localhost:11434/api/ps | grep -o '\"context_length\": *[0-9]*'; ls -A /run/sparks; "
    "find /etc /run /var/lib/sparks -xdev -name '*.new' -o -xdev -name '.sparks*'"
)
"""What a run leaves: files, addresses, what is served, the lock let go, and nothing beside it."""


@dataclass(frozen=True)
class Fault:
    """What happens on the host while a change is being made, and how the run may end that meets it."""

    name: str
    cause: Callable[["Lab", str], object]
    statuses: tuple[int, ...]


def _cut_ssh(lab: "Lab", name: str) -> None:
    """Every connection of the host but the one that says so."""
    script = (
        "me=$$; while [ $me -gt 1 ]; do mine=\"$mine $me\"; me=$(cut -d' ' -f4 /proc/$me/stat); done; "
        'for each in $(pgrep -f "^sshd-session: "); do case " $mine " in *" $each "*) ;; *) kill -9 $each ;; esac; done'
    )
    on(lab, name, script)


def _for_a_while(cause: str, end: str) -> Callable[["Lab", str], object]:
    timer = f"systemd-run -q --collect --on-active={CLEARED_SECONDS} sh -c {shlex.quote(end)}"
    return lambda lab, name: on(lab, name, f"{timer}; {cause}")


def _killed(lab: "Lab", name: str) -> None:
    """The controller itself: nothing happens on the host."""


FAULTS = (
    Fault("ssh", _cut_ssh, (1,)),
    Fault("power", lambda lab, name: lab.power_cycle(name), (1,)),
    Fault(
        "disk",
        _for_a_while("fallocate -l $(df --output=avail -B1 / | tail -1) /filled; cat /dev/zero > /filled2 || true",
                     "rm -f /filled /filled2"),
        (0, 1, 3),
    ),
    Fault("sudo", _for_a_while(f"mv {SUDOERS} /root/lab", f"mv /root/lab {SUDOERS}"), (0, 1, 3)),
    Fault("clock", lambda lab, name: on(lab, name, "date -s '+2 days'"), (0,)),
    Fault("killed", _killed, (-9,)),
)  # fmt: skip


def met(seed: str) -> Iterator[tuple[Fault, int, str]]:
    """Each fault, the change at which it is met, and the name of the test."""
    for number, fault in enumerate(FAULTS):
        one = () if seed == "every" else (random.Random(int(seed) * 31 + number).randint(1, CHANGES),)
        for at in one or range(1, CHANGES + 1):
            yield fault, at, f"{fault.name}-seed-{seed}-change-{at}"


@dataclass
class Site:
    """One virtual Spark and what an operator does to it."""

    lab: "Lab"
    name: str
    folder: Path

    @property
    def receipts(self) -> Path:
        return self.folder / "receipts"

    def command(self, *arguments: str) -> list[str]:
        kept = () if arguments[0] == "plan" else ("--receipts", str(self.receipts))
        return [*arguments, *kept, "-i", INVENTORY]

    def planned(self) -> str:
        """A file with the plan of now."""
        plan = str(self.folder / "plan.json")
        Path(plan).unlink(missing_ok=True)
        done = sparks(*self.command("plan", self.name, "-o", plan))
        assert done.returncode in (0, 2), done.stderr
        return plan

    def disturbed(self, at: int, cause: Callable[["Lab", str], object]) -> tuple[int, str]:
        """The status and the words of a run, disturbed at the begin of a change."""
        plan, trace, said = self.planned(), self.folder / "trace.jsonl", self.folder / "said"
        trace.unlink(missing_ok=True)
        with said.open("wb") as out:
            run = subprocess.Popen(
                [sys.executable, "-c", "from lab.cli import main; main()", *self.command("apply", plan)],
                cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "SPARKS_SSH_TRACE": str(trace)},
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
            wait_until(lambda: writes(trace, "begin") >= at or run.poll() is not None, RUN_SECONDS, f"change {at}")
            assert run.poll() is None, said.read_text()
            cause(self.lab, self.name) if cause is not _killed else run.kill()
            status = run.wait(timeout=RUN_SECONDS)
        return status, said.read_text()

    def finished(self) -> str:
        """What is there after the next run, and after one that has nothing to do."""
        done = sparks(*self.command("apply", self.planned()))
        assert done.returncode == 0, done.stderr
        again = sparks(*self.command("plan", self.name))
        assert again.returncode == 0, again.stdout + again.stderr
        return on(self.lab, self.name, FINAL)


@pytest.fixture(scope="module")
def site(lab: "Lab", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield Site(lab, lab.state.machines[0].name, tmp_path_factory.mktemp("faults"))
    lab.reset()


@pytest.fixture(scope="module")
def undisturbed(site: Site) -> str:
    site.lab.reset()
    found = site.finished()
    assert "8192" in found, found
    return found


@pytest.mark.parametrize(("fault", "at"), [pytest.param(fault, at, id=name) for fault, at, name in met(SEED)])
def test_it_is_told_and_the_next_run_finishes(site: Site, undisturbed: str, fault: Fault, at: int) -> None:
    site.lab.reset()
    status, said = site.disturbed(at, fault.cause)
    assert status in fault.statuses, said
    assert "Traceback" not in said, said
    receipt = read_folder(site.receipts).receipts[-1]
    assert receipt.faults == ()
    assert (receipt.outcome is None) if status == -9 else (receipt.outcome is not None), said
    assert receipt.outcome is None or receipt.outcome.exit_status == status
    wait_until(lambda: site.lab.ssh(site.name, CLEARED).returncode == 0, 300, "the fault to end", pause=2)
    assert site.finished() == undisturbed, said
