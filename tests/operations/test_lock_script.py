"""The lock on a host, by the scripts that go there, with real processes: one holder, and only what lives is alive."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from facts import lock as look
from facts.controller import controller, started_ticks
from fleet.controller import Controller
from fleet.lock import Lock, LockState, Process, Taker
from fleet.lock_text import parse_lock_state
from operations import lock_script
from operations.lock_script import release_script, take_script, unlock_script
from tests.operations.played_guard import Played
from tests.operations.played_lock import Connection, Run
from tests.unburied import unburied
from tests.waiting import until

PLAN = "sha256:" + "0a" * 32


class Host:
    """One host and who comes to it."""

    def __init__(self, root: Path) -> None:
        self.root, self.place = root, root / "run"
        self.connections: list[Connection] = []
        self.runs: list[Run] = []
        self.held = f". {self.place}/held"

    def connect(self) -> Connection:
        self.connections.append(Connection(self.root / f"connection-{len(self.connections)}"))
        return self.connections[-1]

    def start(self, owner: str = "ada@desk") -> Run:
        self.runs.append(Run(owner))
        return self.runs[-1]

    def state(self) -> LockState:
        """What the fact's command says, not yet seen from any controller."""
        done = subprocess.run(["sh", "-c", look.HostLock().command()], capture_output=True, text=True, check=True)
        text, end, _ = done.stdout.rpartition("end-of-fact")
        assert end
        return parse_lock_state(text)

    def lock(self) -> Lock:
        held = self.state().held
        assert held is not None
        return held


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    found = Host(tmp_path)
    monkeypatch.setattr(look, "PLACE", str(found.place))
    monkeypatch.setattr(look, "as_root", lambda command: command)
    monkeypatch.setattr(lock_script, "PLACE", str(found.place))
    monkeypatch.setattr(lock_script, "WAIT_SECONDS", 60)
    monkeypatch.setattr(lock_script, "RELEASE_SECONDS", 60)
    yield found
    for connection in found.connections:
        connection.drop()
    for run in found.runs:
        run.kill()


def take(token: str, of: Controller, over: Lock | None = None, plan: str | None = None) -> str:
    return take_script(token, plan, of, over)


def test_it_says_who_from_where_since_when_and_for_which_plan(host: Host) -> None:
    run, connection = host.start(), host.connect()
    done = connection.run(take("t1", run.controller, plan=PLAN))
    assert (done.returncode, done.stdout, done.stderr) == (0, "taken\n", "")
    state = host.state()
    lock = host.lock()
    assert (lock.token, lock.client, lock.plan, lock.controller) == ("t1", "10.0.0.2", PLAN, run.controller)
    assert lock.since.endswith(" UTC")
    assert lock.holder is not None
    assert lock.holder.pid == connection.process.pid
    assert lock.boot_id == state.boot_id
    assert (state.holder_lives, state.at_work) == (True, False)
    assert (host.place / "lock").stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in host.place.iterdir()) == ["held", "lock", "work"]


def test_of_many_at_the_same_instant_exactly_one_takes_it(host: Host) -> None:
    run = host.start()
    connections = [host.connect() for _ in range(12)]
    begun = [each.begin(take(f"t{number}", run.controller)) for number, each in enumerate(connections)]
    ended = [each.end(path) for each, path in zip(connections, begun, strict=True)]
    (winner,) = (number for number, done in enumerate(ended) if done.returncode == 0)
    assert host.lock().token == f"t{winner}"
    for number, done in enumerate(ended):
        if number != winner:
            assert done.returncode == 76
            assert done.stderr.startswith("expected no other run on this host, found one of ada@desk since ")


def test_no_two_runs_change_the_host_at_once_and_all_come_to_it(host: Host) -> None:
    """Each takes the lock when it can, changes the host in two commands, and releases it."""
    log = host.root / "log"
    runs = [(f"t{number}", host.start(), host.connect()) for number in range(5)]
    waiting = list(runs)
    while waiting:
        tries = [(each, each[2].begin(take(each[0], each[1].controller))) for each in waiting]
        for each, path in tries:
            if each[2].end(path).returncode == 0:
                for word in ("begins", "ends"):
                    assert each[2].run(f"{host.held}\necho {each[0]} {word} >> {log}").returncode == 0
                assert each[2].run(release_script(each[0])).returncode == 0
                waiting.remove(each)
    lines = log.read_text().splitlines()
    assert len(lines) == 2 * len(runs)
    assert all(one.split()[0] == other.split()[0] for one, other in zip(lines[::2], lines[1::2], strict=True))


def test_only_its_own_run_releases_it(host: Host) -> None:
    run, connection = host.start(), host.connect()
    connection.run(take("t1", run.controller))
    assert connection.run(release_script("t2")).returncode == 0
    assert host.lock().token == "t1"
    assert connection.run(release_script("t1")).returncode == 0
    assert host.state().held is None
    assert connection.run(release_script("t1")).returncode == 0


def test_a_connection_that_ends_leaves_a_lock_whose_process_is_gone(host: Host) -> None:
    run, connection = host.start(), host.connect()
    connection.run(take("t1", run.controller))
    connection.drop()
    state = host.state()
    assert state.holder_lives is False
    assert state.gone == f"its process {connection.process.pid} on the host is gone"


def test_another_process_of_the_same_number_is_not_the_holder(host: Host) -> None:
    run, connection = host.start(), host.connect()
    connection.run(take("t1", run.controller))
    file = host.place / "lock"
    holder = host.lock().holder
    assert holder is not None
    file.write_text(file.read_text().replace(f"holder {holder.pid} {holder.started_ticks}", f"holder {holder.pid} 1"))
    assert host.state().holder_lives is False
    done = connection.run(f"{host.held}\ntouch {host.root}/changed")
    assert done.returncode == 75
    assert not (host.root / "changed").exists()


def test_a_dead_process_that_nobody_buried_is_gone(host: Host) -> None:
    run, connection = host.start(), host.connect()
    connection.run(take("t1", run.controller))
    holder = host.lock().holder
    assert holder is not None
    with unburied() as pid:
        file, ticks = host.place / "lock", stat(pid).rpartition(") ")[2].split()[19]
        file.write_text(
            file.read_text().replace(f"holder {holder.pid} {holder.started_ticks}", f"holder {pid} {ticks}")
        )
        assert f"holder {pid} {ticks}" in file.read_text()
        assert host.state().holder_lives is False
        assert started_ticks(pid) is None


def test_a_lock_of_another_boot_is_gone(host: Host) -> None:
    run, connection = host.start(), host.connect()
    connection.run(take("t1", run.controller))
    file = host.place / "lock"
    file.write_text(file.read_text().replace(f"boot {host.state().boot_id}", "boot before"))
    assert host.state().gone == "the host has booted since"


def test_what_was_seen_may_be_taken_over_and_nothing_else(host: Host) -> None:
    run, other = host.start(), host.start("bob@laptop")
    one, two = host.connect(), host.connect()
    one.run(take("t1", run.controller))
    seen = host.lock()
    one.drop()
    assert two.run(take("t2", other.controller)).returncode == 76
    three = host.connect()
    three.run(take("t1", run.controller))
    assert two.run(take("t2", other.controller, over=seen)).returncode == 76, "it is held again since it was seen"
    done = two.run(take("t2", other.controller, over=host.lock()))
    assert (done.returncode, done.stdout) == (0, "over\n")
    assert host.lock().owner == "bob@laptop"


def test_breaking_is_of_the_very_lock_that_was_looked_at(host: Host) -> None:
    run, connection = host.start(), host.connect()
    connection.run(take("t1", run.controller))
    seen = host.lock()
    connection.run(release_script("t1"))
    connection.run(take("t2", run.controller))
    done = connection.run(unlock_script(seen))
    assert done.returncode == 76
    assert done.stderr.startswith("expected the lock that was looked at, found one of ada@desk since ")
    assert host.lock().token == "t2"
    assert connection.run(unlock_script(host.lock())).returncode == 0
    assert host.state().held is None
    assert connection.run(unlock_script(seen)).returncode == 0


def test_a_change_goes_on_only_below_the_connection_that_holds_the_lock(host: Host) -> None:
    run, one, two = host.start(), host.connect(), host.connect()
    changed = host.root / "changed"
    change = f"{host.held}\ntouch {changed}"
    assert one.run(change).returncode != 0
    one.run(take("t1", run.controller))
    refused = two.run(change)
    assert refused.returncode == 75
    assert refused.stderr == (
        "expected the lock of this host held by this connection, found it is not; nothing was changed\n"
    )
    assert not changed.exists()
    assert one.run(f"sh -c '{change}'").returncode == 0, "however deep below it"
    assert changed.exists()


def test_after_a_reconnect_the_new_connection_holds_it_and_the_old_one_does_not(host: Host) -> None:
    run, old, new = host.start(), host.connect(), host.connect()
    old.run(take("t1", run.controller))
    since = host.lock().since
    assert new.run(take("t1", run.controller)).stdout == "kept\n"
    assert host.lock().since == since
    assert new.run(host.held).returncode == 0
    assert old.run(host.held).returncode == 75
    old.drop()
    assert host.state().holder_lives is True


def test_a_command_that_outlives_its_connection_keeps_everybody_out(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, one, two = host.start(), host.connect(), host.connect()
    one.run(take("t1", run.controller))
    pid = host.root / "pid"
    one.begin(f"{host.held}\nsleep 300 & echo $! > {pid}.new; mv {pid}.new {pid}; wait")
    until(pid.exists)
    one.drop()
    state = host.state()
    assert (state.holder_lives, state.at_work) == (False, True)
    assert state.alive == "a command of it is at work on the host"
    monkeypatch.setattr(lock_script, "WAIT_SECONDS", 1)
    monkeypatch.setattr(lock_script, "RELEASE_SECONDS", 1)
    for script in (take("t2", run.controller, over=state.held), unlock_script(host.lock())):
        done = two.run(script)
        assert done.returncode == 75
        assert done.stderr == "expected no command at work on this host, found one for 1 s\n"
    subprocess.run(["kill", pid.read_text().strip()], check=True)
    until(lambda: not host.state().at_work)
    assert two.run(take("t2", run.controller, over=host.lock())).stdout == "over\n"


def test_without_ssh_the_run_itself_is_the_holder(host: Host) -> None:
    """As with `@local`: the commands are children of the run."""
    here = controller()
    subprocess.run(["sh", "-c", take("t1", here)], check=True, env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE)
    lock = host.lock()
    assert (lock.holder, lock.client) == (Process(pid=here.pid, started_ticks=here.started_ticks), None)
    state = host.state().seen_by(here, started_ticks(here.pid))
    assert (state.taker, state.controller_lives, state.holder_lives) == (Taker.THIS_RUN, True, True)
    subprocess.run(["sh", "-c", f"set -eu\n{host.held}"], check=True)


def test_where_no_holder_can_be_seen_every_change_still_goes_one_at_a_time(host: Host) -> None:
    run = host.start()
    subprocess.run(["sh", "-c", take("t1", run.controller)], check=True, stdout=subprocess.PIPE)
    assert host.lock().holder is None
    assert host.state().holder_lives is None
    assert host.state().alive == "no process on the host that would end with it"
    subprocess.run(["sh", "-c", f"set -eu\n{host.held}"], check=True)


def test_without_room_nothing_is_taken_and_it_says_so(host: Host) -> None:
    host.place.write_text("in the way")
    done = host.connect().run(take("t1", host.start().controller))
    assert done.returncode == 74
    assert done.stderr.endswith(f"expected room in {host.place}, found the write refused\n")


def test_killed_anywhere_it_is_taken_whole_or_not_at_all(host: Host, tmp_path: Path) -> None:
    (tmp_path / "played").mkdir()
    played, run, number = Played(tmp_path / "played"), host.start(), 0
    while True:
        number += 1
        played.kill_at(number)
        played.run(take("t1", run.controller))
        state, reached = host.state(), played.calls
        assert state.held is None or state.held.controller == run.controller, f"killed at call {number}"
        played.kill_at(0)
        assert played.run(take("t1", run.controller)).returncode == 0
        played.run(release_script("t1"))
        assert host.state().held is None
        assert sorted(path.name for path in host.place.iterdir()) == ["held", "work"], "nothing is left beside it"
        (host.place / "held").unlink()
        if reached < number:
            break
    assert number > 2


def stat(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text()
