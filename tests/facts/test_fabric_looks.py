"""Pings and bandwidth as a host runs them: the real programs, with a `ping` and an `ib_write_bw` that play theirs."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts import fabric
from facts.bundle import Wanted
from facts.fabric import RailBandwidth, RailPings
from facts.look import SENTINEL, RemotePython, source_of
from facts.needs import looks_for
from fleet.bandwidth_run import bandwidth_run, measured
from fleet.bandwidth_schedule import directions
from fleet.pings import PingFailure
from fleet.record import Unobserved
from fleet.roster import Roster
from fleet.target import Scope
from tests.fleet.test_roster import GOOD

RING: dict[str, Any] = {
    "sparks": {name: {"enrolled": True} for name in "abcd"},
    "fabrics": {
        "ring": {
            "shape": "ring",
            "cables": ["a.f1 - b.f0", "b.f1 - c.f0", "c.f1 - d.f0", "d.f1 - a.f0"],
            "pool": "10.0.0.0/16",
            "mtu": 9000,
        }
    },
}


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes pyinfra's host of this context one of a site."""

    def use(values: Any, name: str, active: tuple[str, ...] = ()) -> None:
        active_hosts = [SimpleNamespace(name=each) for each in active]
        state = SimpleNamespace(inventory=SimpleNamespace(get_active_hosts=lambda: active_hosts))
        data = {} if values is None else {"roster": values}
        monkeypatch.setattr(fabric, "host", SimpleNamespace(name=name, groups=["site"], data=data, state=state))

    return use


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that comes first on PATH; nothing that ran from it is left at the end."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    yield folder
    left = subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def install(folder: Path, name: str, program: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{program}")
    path.chmod(0o755)


def run(command: str) -> str:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


PING = """
import sys
peer, size = sys.argv[-1], sys.argv[sys.argv.index("-s") + 1] if "-s" in sys.argv else "56"
if peer == "10.1.2.2":
    print("3 packets transmitted, 0 received, 100% packet loss")
    sys.exit(1)
assert size in ("56", "8972") and "10.1.1.1" in sys.argv and "enp1s0f0np0" in sys.argv
if size == "8972":
    print("ping: sendmsg: Message too long", file=sys.stderr)
print("3 packets transmitted, %d received, 0%% packet loss" % (3 if size == "56" else 0))
print("rtt min/avg/max/mdev = 0.3/0.4/0.5/0.1 ms")
sys.exit(size != "56")
"""


def test_every_peer_is_pinged_small_first_and_whole_where_that_came_back(on: Any, tools: Path) -> None:
    install(tools, "ping", PING)
    on(GOOD, "a")
    look = RailPings()
    one, other = look.read(run(str(look.command())))
    assert (one.answered, one.rtt_ms, one.at_mtu, one.failure) == (True, 0.3, False, PingFailure.TOO_LONG)
    assert (other.answered, other.at_mtu, other.failure) == (False, None, PingFailure.NO_ANSWER)


def test_a_host_without_the_tools_is_not_observed(on: Any, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(GOOD, "a", ("a", "b"))
    (tools / "python3").symlink_to(sys.executable)
    for look, tool in ((RailPings(), "ping of iputils"), (RailBandwidth(), "ib_write_bw of perftest")):
        command: Any = look.command()
        program = f"{source_of(command.module)}\nmain({json.dumps(json.dumps(command.arguments))})"
        env = {"PATH": str(tools)}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True)
        with pytest.raises(FactProcessError, match=f"expected {tool}, found none"):
            look.read(done.stdout + SENTINEL)


@pytest.mark.parametrize("look", [RailPings, RailBandwidth])
@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        (None, "a", "group_data of site: roster: expected a value, found none"),
        (GOOD, "c", "c: expected a spark that the roster enrols, found none of that name"),
        (GOOD | {"sparks": {}}, "a", "sparks"),
    ],
)
def test_a_host_of_no_site_is_one_line(on: Any, look: Any, values: Any, name: str, words: str) -> None:
    on(values, name, ("a", "b"))
    done = subprocess.run(["sh", "-c", look().command()], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert words in done.stderr


def test_a_bundle_can_ask_for_them(on: Any) -> None:
    on(GOOD, "a", ("a", "b"))
    for look in (Wanted(RailPings), Wanted(RailBandwidth, (("seconds", 3), ("sparks", ("a", "b"))))):
        assert isinstance(look.command, RemotePython)
        assert set(look.section) == {"module", "arguments", "timeout"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"seconds": "abc"}, "seconds: expected a whole number of at least 3, found 'abc'"),
        ({"seconds": 4.5}, "seconds: expected a whole number of at least 3, found 4.5"),
        ({"seconds": True}, "seconds: expected a whole number of at least 3, found True"),
        ({"seconds": []}, "seconds: expected a whole number of at least 3, found []"),
        ({"sparks": 5}, "sparks: expected names separated by commas, found 5"),
        ({"sparks": ["a", 5]}, "sparks: expected names separated by commas, found ['a', 5]"),
    ],
)
def test_what_a_command_line_says_wrong_is_told_and_nothing_is_measured(
    on: Any, arguments: dict[str, Any], line: str
) -> None:
    on(RING, "a", ("a", "b"))
    done = subprocess.run(["sh", "-c", RailBandwidth().command(**arguments)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (64, "", f"{line}\n")


@pytest.mark.parametrize("scope", Scope)
def test_no_plan_asks_for_them_since_they_load_the_rails(scope: Scope) -> None:
    asked = looks_for(Roster.read(GOOD, "test").desired_for("a"), scope).values()
    assert not {RailPings, RailBandwidth} & {each.fact for each in asked}


RESULT = """\
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      373928           0.00               %d.5               0.186960
"""

PERFTEST = f"""
RESULT = {RESULT!r}
"""
PERFTEST += """
import socket, sys, time
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
port, own = int(options["-p"]), options["--bind_source_ip"]
words = sys.argv[sys.argv.index("-f") + 2:]
if words:
    link = socket.socket()
    link.bind((own, 0))
    try:
        link.connect((words[0], port))
    except OSError:
        print("Couldn't connect to %s:%d" % (words[0], port))
        sys.exit(1)
    link.sendall(own.encode())
    assert link.recv(100).decode() == words[0]
else:
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.bind((own, port))
    door.listen(1)
    link, (client, _) = door.accept()
    assert link.recv(100).decode() == client
    link.sendall(own.encode())
print(RESULT % port)
"""


def answer_of(asked: dict[str, Any], constants: dict[str, Any]) -> dict[str, Any]:
    """What the program that runs on a host prints, with a GID wherever it looks for one."""
    said: list[str] = []
    program: dict[str, Any] = {}
    exec(compile(source_of("rail_bandwidth"), "rail_bandwidth", "exec"), program)
    program.update({"gid_of": lambda interface, address: ("rocep1s0f1", 1, 3), "print": said.append} | constants)
    program["main"](json.dumps(asked))
    answer: dict[str, Any] = json.loads(said[0])
    return answer


def together(roster: Roster, present: tuple[str, ...], walking: tuple[str, ...], **constants: Any) -> dict[str, Any]:
    """What each Spark measures when they all walk through their tests at once, on addresses of this machine."""
    local = {str(end.address.ip): f"127.0.0.{at}" for at, end in enumerate(_ends(roster), start=1)}
    answers: dict[str, Any] = {}

    def walk(name: str) -> None:
        asked = bandwidth_run(roster, name, present, 3)
        for test in asked["tests"]:
            test |= {"own": local[test["own"]], "peer": local[test["peer"]]}
        answers[name] = measured(answer_of(asked, constants))

    threads = [threading.Thread(target=walk, args=(name,)) for name in walking]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _ends(roster: Roster) -> list[Any]:
    return [end for segment in roster.segments for end in segment.ends]


def _ports_are_free() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", 18600)) != 0


def test_a_ring_measures_every_direction_once_and_nobody_waits_for_ever(tools: Path) -> None:
    install(tools, "ib_write_bw", PERFTEST)
    roster = Roster.read(RING, "test")
    answers = together(roster, tuple("abcd"), tuple("abcd"))
    figures = {each.direction: each.gbps for found in answers.values() for each in found if each.role == "source"}
    assert figures == {each: 18600.5 + number for number, each in enumerate(directions(roster))}
    served = [each for found in answers.values() for each in found if each.role == "target"]
    assert len(served) == len(figures)
    assert all(each.gbps == figures[each.direction] for each in served)
    assert _ports_are_free()


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_peer_that_never_comes_costs_its_own_tests_and_no_other() -> None:
    """d was there when the run was planned, and died. Its neighbour goes on to the next test each time."""
    roster, clock = Roster.read(RING, "test"), Clock()
    asked = bandwidth_run(roster, "a", tuple("abcd"), 3)
    dead = {str(end.address.ip) for end in _ends(roster) if end.spark == "d"}

    def run(test: dict[str, Any], place: Any, seconds: int, limit: float) -> dict[str, Any]:
        if test["peer"] not in dead:
            return {"status": 0, "out": RESULT % 90}
        is_source = test["role"] == "source"
        clock.sleep(0.1 if is_source else limit)
        return {"status": 1, "out": "Couldn't connect to d:1"} if is_source else {"status": 124, "out": ""}

    answer = answer_of(asked, {"run": run, "time": clock, "shutil": SimpleNamespace(which=lambda tool: tool)})
    reasons = {
        str(each.gbps.reason) if isinstance(each.gbps, Unobserved) else each.gbps: _other(each, "a") == "d"
        for each in measured(answer)
    }
    assert reasons == {
        90.5: False,
        "Couldn't connect to d:1": True,
        "its peer did not come, or did not go on; no row of results": True,
    }
    slot = 3 + answer_constant("SETUP_SECONDS") + answer_constant("MEETING_SECONDS")
    assert clock.now <= slot * len(directions(roster)), "it waited longer than all tests of all Sparks may take"


def _other(each: Any, name: str) -> str:
    """The Spark at the other end."""
    ends = {each.direction.source.spark, each.direction.target.spark}
    (other,) = ends - {name}
    return str(other)


def answer_constant(name: str) -> float:
    program: dict[str, Any] = {}
    exec(source_of("rail_bandwidth"), program)
    return float(program[name])


def test_an_end_without_a_gid_is_a_reason(tools: Path) -> None:
    install(tools, "ib_write_bw", PERFTEST)
    roster = Roster.read(GOOD, "test")
    answers = together(roster, ("a", "b"), ("a",), gid_of=lambda interface, address: None)
    reasons = {str(each.gbps) for each in answers["a"]}
    assert all("no RoCE v2 GID for 127.0.0." in reason for reason in reasons)
