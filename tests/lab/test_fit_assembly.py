"""`sparks fit` of an assembly, on simulated Sparks: each rank by each instrument, and every file that is no reading."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.fit.instrument import GIB, Instrument
from lab.command import Failed
from lab.fit_assembly import readings_in
from tests.deploys.site import VALUES
from tests.fleet import assemblies
from tests.fleet.ollama import fitting
from tests.simulated.controller import Ran, run
from tests.simulated.site import Site
from tests.simulated.world import World

REFUSED = 3
BIG = assemblies.BIG | {"cluster": "both"}


class Lab:
    """Two Sparks, a and b, with a cable between them and so much free."""

    def __init__(self, folder: Path, free_gib: float) -> None:
        both = {"fabric": next(iter(VALUES["fabrics"])), "sparks": ["a", "b"]}
        values: dict[str, Any] = VALUES | {"clusters": {"both": both}, "assemblies": {"big": BIG}}
        self.site = Site(folder, values)
        self.world: World = self.site.world()
        for spark in self.world.sparks.values():
            spark.change(memory=fitting.memory(free_gib))

    def fit(self, *options: str) -> Ran:
        return self.sparks("fit", *options)

    def sparks(self, *command: str) -> Ran:
        ran = run(self.world, self.site.folder, "sparks", *command, "-i", str(self.site.inventory))
        self.world = ran.world.next_run()
        assert "Traceback" not in ran.said, ran.said
        return ran


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "site", 100.0)


def test_each_rank_has_its_arithmetic_line_by_line(lab: Lab) -> None:
    ran = lab.fit("big")
    assert ran.status == 0, ran.said
    for line in (
        "big: fits\n  vllm, tensors over 2: a, b\n",
        f"weights    {60 * GIB:,}    60.00  1/2 of {120 * GIB:,} B",
        "16.00  16,384 tokens x 2 slots x 524,288 B",
        "0.75, resolved: the floor over ranks; of 130,663,642,562 B",
        "together: 152.00 GiB on 2; on the one with the least 15.27 GiB to spare",
    ):
        assert line in ran.said, ran.said
    assert ran.said.count("by MemAvailable") == 1 + 2


def test_what_another_instrument_said_is_held_against_it_apart(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "readings.json"
    file.write_text(assemblies.text(Instrument.PROBE, a=95.0, b=80.0))
    ran = lab.fit("big", "--readings", str(file))
    assert ran.status == REFUSED
    assert "by MemAvailable: fits" in ran.said
    assert "by a probe container, read 2026-11-30 12:00:00 UTC: does not fit" in ran.said
    assert "would fit: Qwen/Qwen3-14B: 1 slot instead of 2" in ran.said


def test_a_spark_that_does_not_answer_refuses_the_set(lab: Lab) -> None:
    lab.world.sparks["b"].is_up = False
    ran = lab.fit("big")
    assert (ran.status, "big: cannot be said" in ran.said, "by MemAvailable: cannot be said" in ran.said) == (
        REFUSED, True, True,
    )  # fmt: skip
    assert "b memory: expected an observation, found no answer over SSH" in ran.said


def test_who_is_on_its_sparks_is_told_by_its_name(lab: Lab) -> None:
    ran = lab.sparks("status", "big", "--json")
    assert (ran.status, [each["host"] for each in json.loads(ran.said)["sparks"]]) == (0, ["a", "b"]), ran.said


def test_what_was_kept_is_asked_without_any_host(lab: Lab, tmp_path: Path) -> None:
    files = {name: str(tmp_path / f"{name}.json") for name in ("a", "b")}
    for name, file in files.items():
        assert lab.sparks("observe", name, "-o", file).status == 0
    one = lab.fit("big", "--from", files["a"])
    assert (one.status, one.world.commands) == (REFUSED, [])
    assert "b memory: expected an observation, found it is in no file of --from [unobserved]" in one.said
    both = lab.fit("big", "--from", files["a"], "--from", files["b"])
    assert (both.status, both.world.commands, "big: fits" in both.said) == (0, [], True), both.said
    twice = lab.fit("big", "--from", files["a"], "--from", files["a"])
    assert (twice.status, "expected each spark in one file, found a" in twice.said) == (1, True)


GOOD = assemblies.text(Instrument.PROBE, a=95.0)
WRONG: dict[str, tuple[bytes, str]] = {
    "cut off": (GOOD[:-5].encode(), ":1:"),
    "no text": (b"\xff\xfe", "expected a file with JSON, found other bytes"),
    "nothing": (b"", "expected JSON"),
    "no number": (GOOD.replace(str(int(95 * GIB)), "NaN").encode(), "free_bytes"),
    "a huge number": (GOOD.replace(str(int(95 * GIB)), "1" * 5000).encode(), "expected"),
    "a negative number": (
        GOOD.replace(str(int(95 * GIB)), "-1").encode(), "free_bytes: expected greater than or equal to 0"),
    "more than there is": (GOOD.replace(str(int(95 * GIB)), str(1 << 50)).encode(), "expected at most total_bytes"),
    "no time": (GOOD.replace("12:00:00Z", "12:00:00").encode(), "taken_at: expected timezone info"),
    "our own instrument": (GOOD.replace("probe", "mem_available").encode(), "expected 'probe' or 'engine_check'"),
    "another Spark": (GOOD.replace('"a"', '"z"').encode(), "expected readings of a, b, found one of z"),
    "one twice": (
        f'{{"readings":[{GOOD[13:-2]},{GOOD[13:-2]}]}}'.encode(),
        "expected one of a by a probe container, found several"),
    "none": (b'{"readings":[]}', "readings: expected at least one, found none"),
    "another key": (b'{"reading":[]}', "reading: expected no such key"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), WRONG.values(), ids=list(WRONG))
def test_what_is_no_reading_is_told_by_its_file_and_place(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "readings.json"
    file.write_bytes(content)
    with pytest.raises(Failed) as failure:
        readings_in(str(file), ("a", "b"))
    lines = failure.value.message.split("\n")
    assert all(line.startswith(f"{file}:") for line in lines)
    assert any(sentence in line for line in lines), lines


def test_what_is_no_file_is_told_before_any_host_is_asked(lab: Lab, tmp_path: Path) -> None:
    ran = lab.fit("big", "--readings", str(tmp_path))
    assert (ran.status, f"{tmp_path}: expected a file with JSON, found Is a directory" in ran.said) == (1, True)
    assert not ran.world.commands


def test_readings_of_what_is_no_assembly_are_wrong(lab: Lab) -> None:
    ran = lab.fit("chat", "--readings", "x")
    assert (ran.status, "--readings: expected an assembly of the roster (big), found chat" in ran.said) == (1, True)
