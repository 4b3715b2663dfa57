"""A signal stops a run between two commands, never with status 0; a second one stops it at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import gevent
import pytest

from fleet.outcome import Outcome
from lab.interrupt import SIGNALS, Interrupted, Stop, active, interruptible
from lab.receipts.ledger import read_folder
from tests.lab.test_site import ROOT
from tests.waiting import until

PREAMBLE = """
from gevent import monkey; monkey.patch_all()
import sys, time, gevent
from pathlib import Path
from lab.interrupt import interruptible
folder = Path(sys.argv[1])
def say(word): print(word, flush=True)
"""
RUN = """
from pyinfra.api import BaseStateCallback, Config, Inventory, State
from pyinfra.api.connect import connect_all
from pyinfra.api.operation import add_op
from pyinfra.api.operations import run_ops
from pyinfra.operations import server
from pyinfra.context import ctx_state
from fleet.receipt.acts import OperationBegun
from fleet.receipt.events import Opening
from lab.receipts.journal import opened

state = State()
ctx_state.set(state)
state.init(Inventory((["@local", "@fake/a"], {"fake_delay": 0, "fake_delay_jitter": 0})), Config())
connect_all(state)
waits = "touch first; while [ ! -e go ]; do sleep 0.05; done; touch ended"
add_op(state, server.shell, commands=[f"cd {folder}; {waits}", f"touch {folder}/second"])
add_op(state, server.shell, commands=[f"touch {folder}/third"])

class Said(BaseStateCallback):
    def operation_host_start(self, state, host, op_hash):
        journal.say(OperationBegun(host=host.name, operation=str(state.get_op_order().index(op_hash))))

with opened(folder / "receipts", Opening(kind="converge", target="x", hosts=("@local", "@fake/a"))) as journal:
    state.add_callback_handler(Said())
    with interruptible() as stop, stop.between_commands(state):
        run_ops(state)
    say("not stopped")
"""


def started(folder: Path, code: str, *ignored: signal.Signals) -> "subprocess.Popen[str]":
    def ignore() -> None:
        for each in ignored:
            signal.signal(each, signal.SIG_IGN)

    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + code, str(folder)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL, preexec_fn=ignore,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def heard(stream: IO[str] | None, word: str) -> None:
    """Waits until a line with the word was printed."""
    assert stream is not None
    for line in stream:
        if word in line:
            return
    pytest.fail(f"expected {word}, found the end")


def appears(path: Path) -> None:
    until(path.exists, path)


def a_moment() -> None:
    """Long enough that the next signal is another one."""
    time.sleep(0.4)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_command_that_runs_is_left_to_end_and_none_begins(name: str, tmp_path: Path) -> None:
    run = started(tmp_path, RUN)
    appears(tmp_path / "first")
    run.send_signal(getattr(signal, name))
    heard(run.stderr, "stopping when the commands")
    assert not (tmp_path / "ended").exists()
    (tmp_path / "go").touch()
    said, errors = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, "")
    assert "Traceback" not in errors
    assert {each.name for each in tmp_path.iterdir()} == {"first", "go", "ended", "receipts"}
    (receipt,) = read_folder(tmp_path / "receipts").receipts
    assert receipt.outcome is Outcome.INTERRUPTED
    assert str(receipt.lines[-2].data) == f"{name}: stopped between two commands"
    assert {each.data.operation for each in receipt.begun} == {"0"}  # type: ignore[attr-defined]


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    run = started(tmp_path, RUN)
    appears(tmp_path / "first")
    run.send_signal(signal.SIGTERM)
    heard(run.stderr, "stopping when the commands")
    a_moment()
    run.send_signal(signal.SIGINT)
    said, errors = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, "")
    assert "Traceback" not in errors
    assert not (tmp_path / "ended").exists()
    (receipt,) = read_folder(tmp_path / "receipts").receipts
    assert receipt.outcome is Outcome.INTERRUPTED
    assert str(receipt.lines[-2].data).startswith("SIGINT: stopped at once")
    (tmp_path / "go").touch()
    appears(tmp_path / "ended")
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("waiting", ["gevent.sleep(60)", "gevent.spawn(gevent.sleep, 60).get()", "while True: pass"])
def test_where_no_host_is_at_work_it_stops_at_once(waiting: str, tmp_path: Path) -> None:
    run = started(tmp_path, f"with interruptible():\n    say('ready')\n    {waiting}")
    heard(run.stdout, "ready")
    run.send_signal(signal.SIGTERM)
    assert run.communicate(timeout=60) == ("", "")
    assert run.returncode == 130


def test_it_is_told_as_by_every_command(tmp_path: Path) -> None:
    code = """
import click, lab.cli
@click.command()
def waits():
    with interruptible():
        say("ready")
        gevent.sleep(60)
sys.argv[1:] = ["pings"]
lab.cli.import_module = lambda module: sys.modules["__main__"]
pings = waits
lab.cli.main()
"""
    run = started(tmp_path, code)
    heard(run.stdout, "ready")
    run.send_signal(signal.SIGTERM)
    assert run.communicate(timeout=60) == ("", "interrupted\n")
    assert run.returncode == 130


def test_a_terminal_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    run = started(tmp_path, RUN)
    appears(tmp_path / "first")
    assert run.stdout
    assert run.stderr
    run.stdout.close()
    run.stderr.close()
    run.send_signal(signal.SIGHUP)
    a_moment()
    (tmp_path / "go").touch()
    assert run.wait(timeout=60) == 130
    (receipt,) = read_folder(tmp_path / "receipts").receipts
    assert receipt.outcome is Outcome.INTERRUPTED


def test_what_must_be_whole_is_left_to_end_but_for_a_third_signal(tmp_path: Path) -> None:
    code = """
with interruptible() as stop, stop.shielded():
    say("ready")
    while not (folder / "go").exists():
        time.sleep(0.02)
    say("whole")
say("not stopped")
"""
    run = started(tmp_path, code)
    heard(run.stdout, "ready")
    run.send_signal(signal.SIGINT)
    a_moment()
    (tmp_path / "go").touch()
    assert run.communicate(timeout=60) == ("whole\n", "")
    assert run.returncode == 130
    (tmp_path / "go").unlink()
    run = started(tmp_path, code)
    heard(run.stdout, "ready")
    sent, deadline = 0, time.monotonic() + 60
    while run.poll() is None and time.monotonic() < deadline:
        run.send_signal(signal.SIGINT)
        sent += 1
        a_moment()
    assert sent >= 3
    assert run.communicate(timeout=60) == ("", "")
    assert run.returncode == 130


def test_signals_at_the_same_time_are_one(tmp_path: Path) -> None:
    """Three that are not would have ended it before it is whole. Its clock stands: whatever comes comes at one time."""
    code = """
import types, lab.interrupt
lab.interrupt.time = types.SimpleNamespace(monotonic=lambda: 7.0)
with interruptible() as stop, stop.shielded():
    say("ready")
    while not (folder / "go").exists():
        time.sleep(0.02)
    say(f"whole, {len(stop.received)}")
"""
    run = started(tmp_path, code)
    heard(run.stdout, "ready")
    for _ in range(5):
        run.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    (tmp_path / "go").touch()
    assert run.communicate(timeout=60) == ("whole, 1\n", "")
    assert run.returncode == 130


def test_a_signal_that_is_ignored_stays_so_as_nohup_wants_it(tmp_path: Path) -> None:
    run = started(
        tmp_path, "with interruptible():\n    say('ready')\n    time.sleep(0.5)\n    say('done')", signal.SIGHUP
    )
    heard(run.stdout, "ready")
    run.send_signal(signal.SIGHUP)
    assert run.communicate(timeout=60) == ("done\n", "")
    assert run.returncode == 0


def test_afterwards_all_is_as_before() -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with interruptible() as stop:
        assert active() is stop
        with interruptible() as inner:
            assert inner is stop
        assert active() is stop
    assert active() is None
    assert [signal.getsignal(each) for each in SIGNALS] == before


def heard_by_the_loop(stop: Stop) -> None:
    """A signal whose handler runs in the loop's greenlet; the main one goes on before the loop comes to it again."""
    gevent.get_hub().loop.run_callback(stop.receive, signal.SIGTERM, None)
    gevent.sleep(0)
    assert stop.received == ["SIGTERM"]


def test_what_must_be_whole_is_so_also_where_it_begins_just_after_a_signal() -> None:
    stop, done = Stop(), []

    def whole() -> None:
        with stop.shielded():
            gevent.sleep(0.01)
            done.append("whole")

    heard_by_the_loop(stop)
    with pytest.raises(Interrupted):
        whole()
    assert done == ["whole"]


def test_what_is_done_after_an_interruption_is_not_interrupted_by_it_again() -> None:
    """As hosts are freed: `check` may come before the loop."""
    stop = Stop()
    heard_by_the_loop(stop)
    with pytest.raises(Interrupted):
        stop.check()
    gevent.sleep(0.01)


def test_a_signal_that_comes_just_before_the_end_is_not_lost_and_not_late() -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with pytest.raises(Interrupted), interruptible() as stop:
        heard_by_the_loop(stop)
    gevent.sleep(0.01)
    assert active() is None
    assert [signal.getsignal(each) for each in SIGNALS] == before


ELSEWHERE = """
import signal
from gevent.monkey import get_original
sleep = get_original("time", "sleep")
get_original("_thread", "start_new_thread")(sleep, (600,))
with interruptible():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    say("waits")
    time.sleep(600)
"""
"""No system call of the thread that waits is interrupted: as it is for a signal that comes just before it waits."""


def test_a_signal_that_interrupts_nothing_is_heard_all_the_same(tmp_path: Path) -> None:
    run = started(tmp_path, ELSEWHERE)
    heard(run.stdout, "waits")
    a_moment()
    run.send_signal(signal.SIGTERM)
    try:
        assert run.wait(timeout=60) == 130
    finally:
        run.kill()
        run.communicate()
