"""`sparks pings` and `sparks bandwidth`: what they print, and how they end, whatever the Sparks say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import lab.bandwidth
import lab.pings
from fleet.bandwidth import Measured
from fleet.bandwidth_schedule import directions
from fleet.observation import Observation
from fleet.pings import PingFailure, RailPing, ping_targets
from fleet.rdma_use import DeviceUse, RdmaHolder
from fleet.record import Unobserved
from fleet.roster import Roster
from tests.fleet.test_roster import GOOD

VALUES = GOOD | {"fabrics": {"rails": GOOD["fabrics"]["rails"] | {"floor_gbps": 90.0}}}
ROSTER = Roster.read(VALUES, "test")
SILENT = Unobserved(reason="expected an answer over SSH, found none")
Answer = Callable[[str, str], Any]
"""What a section of a Spark's observation is, by the Spark's name and the section's."""


@pytest.fixture
def inventory(tmp_path: Path) -> str:
    (tmp_path / "group_data").mkdir()
    (tmp_path / "group_data" / "site.py").write_text(f"roster = {VALUES!r}\n")
    (tmp_path / "site.py").write_text("")
    return str(tmp_path / "site.py")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, inventory: str) -> Callable[..., tuple[int, str, str]]:
    def command(of: click.Command, answer: Answer, *arguments: str) -> tuple[int, str, str]:
        def collect(path: str, names: Any = None, looks: Any = None) -> dict[str, Observation]:
            asked = ROSTER.enrolled if names is None else names
            return {
                name: Observation(host=name, **{section: answer(name, section) for section in looks(None)})
                for name in asked
            }

        monkeypatch.setattr(lab.pings, "collect", collect)
        monkeypatch.setattr(lab.bandwidth, "collect", collect)
        done = CliRunner().invoke(of, [*arguments, "-i", inventory])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.exit_code, done.stdout, done.stderr

    return command


def pinged(name: str, **wrong: Any) -> tuple[RailPing, ...]:
    fine = {"answered": True, "rtt_ms": 0.3, "at_mtu": True}
    return tuple(RailPing(**dict(each), **fine | wrong) for each in ping_targets(ROSTER, name))


def test_pings_that_all_came_back_are_status_0(run: Any) -> None:
    status, out, _ = run(lab.pings.pings, lambda name, section: pinged(name))
    assert status == 0
    assert out.splitlines()[0] == "rail 1 (a enp1s0f0np0 -> b enp1s0f0np0): answers at MTU 9000 in 0.3 ms"
    assert len(out.splitlines()) == 4


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            pinged("b", at_mtu=False, failure=PingFailure.TOO_LONG),
            "rail 1 (b enp1s0f0np0 -> a enp1s0f0np0): expected an answer at MTU 9000, found message too long",
        ),
        (SILENT, "b: expected its pings, found expected an answer over SSH, found none"),
    ],
)
def test_one_that_did_not_is_status_1_and_the_others_are_told(run: Any, answer: Any, line: str) -> None:
    status, out, _ = run(lab.pings.pings, lambda name, section: answer if name == "b" else pinged(name))
    assert status == 1
    assert line in out
    assert "rail 1 (a enp1s0f0np0 -> b enp1s0f0np0): answers" in out
    status, out, _ = run(lab.pings.pings, lambda name, section: answer if name == "b" else pinged(name), "--json")
    assert status == 1
    assert {each["source"] for each in json.loads(out) if not each["is_good"]} == {"b"}


def answering(users: Any = (), **figures: float) -> Answer:
    """Sparks that have measured 95 Gb/s, and other figures by source and rail."""

    def answer(name: str, section: str) -> Any:
        if section == "rdma_use":
            return (DeviceUse(device="rocep1s0f0", holders=users if name == "b" else ()),)
        return tuple(
            Measured(direction=each, device="rocep1s0f0", gid_index=3, gbps=figures.get(f"{name}{each.rail}", 95.0))
            for each in directions(ROSTER)
            if each.source.spark == name
        )

    return answer


def test_rails_at_their_floor_are_status_0(run: Any) -> None:
    status, out, err = run(lab.bandwidth.bandwidth, answering())
    assert (status, err) == (0, "")
    head, first, *others = out.splitlines()
    assert head.split() == ["RAIL", "FROM", "TO", "GB/S", "FLOOR"]
    assert first == "1     a enp1s0f0np0    b enp1s0f0np0    95.00  90     ok"
    assert len(others) == 3
    status, out, _ = run(lab.bandwidth.bandwidth, answering(), "--json")
    assert status == 0
    assert {each["judgement"] for each in json.loads(out)} == {"ok"}


def test_a_slow_direction_is_status_1_and_named_with_both_ends(run: Any) -> None:
    status, out, err = run(lab.bandwidth.bandwidth, answering(b2=13.2, a1=0.0215))
    assert status == 1
    assert "0.0215" in out
    assert err.splitlines() == [
        "rail 1 (a enp1s0f0np0 -> b enp1s0f0np0): expected at least 90 Gb/s, found 0.0215 Gb/s",
        "rail 2 (b enP2p1s0f0np0 -> a enP2p1s0f0np0): expected at least 90 Gb/s, found 13.20 Gb/s, "
        "the state of a port that came back while its Spark ran (8 to 25)",
    ]


def test_nothing_is_measured_under_somebody(run: Any) -> None:
    asked = []

    def answer(name: str, section: str) -> Any:
        asked.append(section)
        return answering(users=(RdmaHolder(pid=7, command="vllm", resources={"qp": 1}),))(name, section)

    status, _, err = run(lab.bandwidth.bandwidth, answer)
    assert status == 3
    assert err == "b rocep1s0f0: expected nobody to use it while it is measured, found vllm (pid 7)\n"
    assert set(asked) == {"rdma_use"}


def test_a_spark_that_is_silent_is_left_out_and_named(run: Any) -> None:
    asked = []

    def answer(name: str, section: str) -> Any:
        asked.append((name, section))
        return SILENT if name == "b" else answering()(name, section)

    status, out, err = run(lab.bandwidth.bandwidth, answer)
    assert status == 1
    assert ("b", "rail_bandwidth") not in asked
    assert out.count("not measured") == 4
    assert "expected at least 90 Gb/s, found none: b: expected an answer over SSH, found none" in err


def test_a_site_without_rails_has_nothing_to_measure(run: Any, inventory: str) -> None:
    Path(inventory).with_name("group_data").joinpath("site.py").write_text(
        f"roster = {GOOD | {'sparks': {name: {'enrolled': False} for name in 'abc'}}!r}\n"
    )
    status, _, err = run(lab.bandwidth.bandwidth, answering())
    assert status == 1
    assert "expected rails between enrolled Sparks, found none" in err
