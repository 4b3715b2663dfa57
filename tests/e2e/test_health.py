"""Whose a serving process is: adopted, drained, started, restarted by itself, booted; and that it really answers."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fleet.health import Finding
from fleet.invocation import Running
from fleet.receipt.acts import Drained
from lab.receipts.ledger import read_folder
from tests.e2e.control import INVENTORY, ROOT, SERVE, Run, ask, converge, fingerprint, on, pyinfra, wait_until

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(1800)]

STRANGER = "gemma3:270m"
"""What somebody has loaded by hand: no resident of the roster."""
ASKER = (
    "import socket, time; client = socket.create_connection(('127.0.0.1', 11434)); "
    "client.sendall(b'POST /api/generate HTTP/1.1\\r\\nContent-Length: 9\\r\\n\\r\\n{'); time.sleep(600)"
)
"""A client that is in the middle of its request, for as long as a test needs."""
LOOK = """
from gevent import monkey
monkey.patch_all()
import json, sys
from facts.needs import health_looks
from fleet.health import health
from lab.collect import collect, roster_of
inventory, applied = sys.argv[1], sys.argv[2] or None
roster, seen = roster_of(inventory), collect(inventory, looks=health_looks)
found = [one for name, each in seen.items() for one in health(roster.desired_for(name), each, applied)]
print(json.dumps([each.to_json() for each in found]))
"""


@pytest.fixture(scope="module")
def names(lab: "Lab") -> tuple[str, ...]:
    return tuple(machine.name for machine in lab.state.machines)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh") / "trace.jsonl"


@pytest.fixture(scope="module")
def receipts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this module's drains are written down; every process of it finds them there."""
    before, folder = os.environ.get("SPARKS_RECEIPTS"), tmp_path_factory.mktemp("site") / "receipts"
    os.environ["SPARKS_RECEIPTS"] = str(folder)
    yield folder
    os.environ.pop("SPARKS_RECEIPTS")
    os.environ |= {"SPARKS_RECEIPTS": before} if before else {}


@pytest.fixture(scope="module")
def adopted(lab: "Lab", names: tuple[str, ...], receipts: Path) -> Iterator["Lab"]:
    """Somebody serves a model by hand on the first Spark, and no run of ours was ever there."""
    lab.reset()
    ask(lab, names[0], "pull", model=STRANGER)
    ask(lab, names[0], "generate", model=STRANGER, keep_alive=-1)
    yield lab
    lab.reset()


def drain(name: str, *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", "from lab.cli import main; main()", "drain", name, *options, "-i", INVENTORY],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def findings(applied: str = "") -> dict[str, Finding]:
    """By subject, what is well and what is not on both Sparks, right after this plan or later."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, INVENTORY, applied],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {each["subject"]: Finding.model_validate(each) for each in json.loads(done.stdout)}


def wrong(found: dict[str, Finding], name: str = "") -> list[str]:
    """What is not well on one Spark, or on both."""
    return [str(each) for subject, each in found.items() if subject.startswith(name) and not each.is_good]


def running(trace: Path, name: str) -> Running:
    run = pyinfra(trace, INVENTORY, "--limit", name, "fact", "facts.invocation.OllamaInvocation", "--json")
    assert run.status == 0, run.said
    (by_host,) = json.loads(run.out).values()
    return Running.model_validate(by_host[name])


def test_what_somebody_serves_is_not_restarted(
    adopted: "Lab", names: tuple[str, ...], trace: Path, receipts: Path
) -> None:
    before = fingerprint(adopted, names)
    found = running(trace, names[0])
    assert (found.models, found.invocation is None) == ((STRANGER,), False)
    run = pyinfra(trace, *SERVE, "--dry")
    assert run.status == 1, run.said
    assert f"a process that no run of ours has started, with {STRANGER} loaded [drain_needed]" in run.err
    assert f"sparks drain {names[0]}" in run.err
    assert fingerprint(adopted, names) == before


def test_a_drain_waits_for_a_request_and_gives_up_when_told(
    adopted: "Lab", names: tuple[str, ...], receipts: Path
) -> None:
    on(adopted, names[0], f"systemd-run -q --collect --unit asker python3 -c {shlex.quote(ASKER)}")
    waits = drain(names[0], "--quiet-seconds", "60", "--timeout", "2")
    _, err = waits.communicate(timeout=120)
    assert waits.returncode == 1, err
    assert "1 may run, from 127.0.0.1" in err
    on(adopted, names[0], "systemctl stop asker")


def test_an_interrupted_drain_is_none_and_leaves_nothing_on_the_host(
    adopted: "Lab", names: tuple[str, ...], receipts: Path
) -> None:
    waits = drain(names[0], "--quiet-seconds", "600")
    assert waits.stderr is not None
    waits.stderr.readline()
    waits.send_signal(signal.SIGINT)
    waits.communicate(timeout=60)
    assert waits.returncode == 130
    at_work = "pgrep -f '[i]mport base64' || true"
    wait_until(lambda: not on(adopted, names[0], at_work), 60, "the program of the drain to end", pause=1)
    assert not any(isinstance(line.data, Drained) for each in read_folder(receipts).receipts for line in each.lines)


def test_drained_it_may_be_restarted_and_is_stamped(
    adopted: "Lab", names: tuple[str, ...], trace: Path, receipts: Path
) -> None:
    before = running(trace, names[0]).invocation
    assert before is not None
    waits = drain(names[0], "--quiet-seconds", "2", "--timeout", "120")
    out, err = waits.communicate(timeout=300)
    assert waits.returncode == 0, err
    assert f"pid {before.pid} of ollama.service: no request ran for" in out
    run: Run = converge(trace, *SERVE)
    assert run.status == 0, run.said
    after = running(trace, names[0]).invocation
    assert after is not None
    assert after.is_program(before)
    assert not after.is_process(before)
    stamp = json.loads(on(adopted, names[0], "cat /var/lib/sparks/generation.json"))
    assert stamp["invocations"] == [after.to_json()]
    assert wrong(findings(stamp["plan"]), names[0]) == []
    assert wrong(findings()) == []


def test_what_restarts_by_itself_is_told_and_what_boots_is_the_same(
    adopted: "Lab", names: tuple[str, ...], trace: Path
) -> None:
    plan = json.loads(on(adopted, names[0], "cat /var/lib/sparks/generation.json"))["plan"]
    on(adopted, names[0], "systemctl kill --kill-whom=main --signal=KILL ollama")
    loaded = "for i in $(seq 60); do if curl -s localhost:11434/api/ps | grep -q digest; then exit 0; fi; sleep 1; done"
    on(adopted, names[0], f"{loaded}; exit 1")
    subject = f"{names[0]} ollama.service"
    right_after, later = findings(plan)[subject], findings()[subject]
    assert "restarted since by itself" in later.found
    assert (right_after.verdict, later.verdict) == ("differs", "ok")
    adopted.power_cycle(names[0])
    on(adopted, names[0], f"{loaded}; exit 1", seconds=180)
    booted = findings(plan)[subject]
    assert "started again by the host's boot" in booted.found
    assert booted.verdict == "ok"


def test_a_run_that_is_cut_off_before_its_stamp_is_brought_to_its_end(
    adopted: "Lab", names: tuple[str, ...], trace: Path
) -> None:
    stamp = json.loads(on(adopted, names[0], "cat /var/lib/sparks/generation.json"))
    begun = json.dumps({name: stamp[name] for name in ("plan", "desired", "scope", "at")})
    on(adopted, names[0], f"rm /var/lib/sparks/generation.json; echo '{begun}' > /var/lib/sparks/generation.begun")
    assert "has not come to its end" in findings()[f"{names[0]} /var/lib/sparks/generation.json"].found
    run = pyinfra(trace, *SERVE, "-y")
    assert run.status == 0, run.said
    assert wrong(findings(stamp["plan"]), names[0]) == []
