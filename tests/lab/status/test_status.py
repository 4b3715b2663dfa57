"""`sparks status`: the tables, the document, and how it ends."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from facts.needs import ledger_looks
from fleet.observation import Observation
from lab.command import LOOK_SECONDS
from lab.schemas import schema
from lab.status import command
from lab.status.document import StatusDocument
from lab.status.table import LEAST, tables
from tests.fleet.test_ledger import NOTHING, SILENT, apps, ledger
from tests.fleet.test_processes import process
from tests.lab.status.sparks import NOW, RPC, SERVING, desired, seen, silent
from tests.lab.test_site import Site

Ran = Callable[..., Result]

FLEET = StatusDocument.of(
    [
        (desired("srv5", RPC), seen("srv5", **SERVING)),
        (desired("srv6"), seen("srv6", **NOTHING)),
        (desired("srv7"), seen("srv7", **{**NOTHING, "gpu": SILENT})),
        (desired("srv8"), silent("srv8")),
    ],
    NOW,
)
SHOWN = """\
Spark      total  available  engines   GPU  others  unaccounted
srv5       128.0       40.0      8.0  65.0     2.0         13.0
srv6       128.0       40.0      0.0   0.0     0.0         88.0
srv7       128.0       40.0      0.0     ?     0.0            ?
srv8   no answer

Spark  resident              runtime        identity      owner     engine  RSS   GPU
srv5   rpc-server            llama.cpp-rpc  -             declared       -  1.0   0.0
       ollama server         ollama         bbbbbbbbbbbb  ours           -  1.0   0.0
       qwen3:30b             ollama         aaaaaaaaaaaa  ours         1.0  1.0  18.0
       VLLM:…neCor (orphan)  vllm           -             unknown        -  1.0   6.0
       fast                  vllm           aaaaaaaaaaaa  unknown        -  4.0  40.0
       python3               -              -             unknown        -    ?   1.0

GiB. engines, RSS: by the kernel; engine: by its own word; GPU: by the driver's
compute-apps; -: no such figure; ?: not observed.
srv7 compute apps: not observed: no answer in 5 s
srv8: no answer over SSH: Could not connect (timed out)
"""


def test_a_fleet_is_shown() -> None:
    assert click.unstyle(tables(FLEET, 80)) == SHOWN


@pytest.mark.parametrize("width", [20, LEAST, 200])
def test_tables_stay_within_the_terminal_or_the_least_they_need(width: int) -> None:
    for line in click.unstyle(tables(FLEET, width)).splitlines():
        assert len(line) <= max(width, LEAST)


@pytest.mark.parametrize("name", ["\x1b[31mred", "[bold]x[/bold]", "[/]", "a\nb\rc", "\u202eabc", "宽" * 40, "a" * 200])
def test_no_name_of_a_host_reaches_the_terminal_as_an_order(name: str) -> None:
    """A model is named by whoever made it; it may hold escapes, markup and wide letters."""
    there = {**NOTHING, "processes": ledger_processes(name)}
    shown = tables(StatusDocument.of([(desired("a"), seen("a", **there))], NOW), LEAST)
    plain = click.unstyle(shown)
    assert "\x1b" not in plain
    assert len(plain.splitlines()) == len(tables(FLEET_OF_ONE, LEAST).splitlines())


def ledger_processes(name: str) -> Any:
    found = NOTHING["processes"]
    return found.replaced(processes=(process(7, options={"model": name}),))


FLEET_OF_ONE = StatusDocument.of([(desired("a"), seen("a", **{**NOTHING, "processes": ledger_processes("m")}))], NOW)


def test_nothing_is_said_of_who_did_not_answer() -> None:
    none = StatusDocument.of([(desired("a"), silent("a"))], NOW)
    assert "no Spark was observed" in tables(none, 80)
    one = StatusDocument.of([(desired("a"), silent("a")), (desired("b"), seen("b", **NOTHING))], NOW)
    assert "no engine, and nobody on the GPU of b" in tables(one, 80)


def test_the_document_says_what_the_tables_say_and_fits_its_schema() -> None:
    document = FLEET.to_json()
    Draft202012Validator(schema("status")).validate(document)
    assert StatusDocument.from_canonical(FLEET.canonical) == FLEET
    by_host = {spark["host"]: spark for spark in document["sparks"]}
    assert by_host["srv5"]["unaccounted_bytes"] == 13 << 30
    assert by_host["srv7"]["unaccounted_bytes"] == {"reason": "no answer in 5 s"}
    assert by_host["srv8"]["silent"] == "no answer over SSH: Could not connect (timed out)"
    assert ledger(gpu=apps(pid7=1)).to_json() == ledger(gpu=apps(pid7=1)).to_json()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Runs the command on a site of two Sparks, a and b, that are these observations."""
    site = Site(tmp_path)

    def ran(*arguments: str, **sections: Mapping[str, Any]) -> Result:
        def collect(inventory: str, names: tuple[str, ...], looks: Any, seconds: float) -> dict[str, Observation]:
            assert seconds == (9 if "--timeout=9" in arguments else LOOK_SECONDS)
            assert looks is ledger_looks
            return {name: seen(name, **sections.get(name, NOTHING)) for name in names}

        monkeypatch.setattr(command, "collect", collect)
        return CliRunner().invoke(command.status, [*arguments, "-i", str(site.inventory)])

    return ran


def hosts(result: Result) -> list[str]:
    return [spark["host"] for spark in json.loads(result.stdout)["sparks"]]


def test_every_enrolled_spark_or_those_that_are_named(run: Ran) -> None:
    assert hosts(run("--json")) == ["a", "b"]
    assert hosts(run("b", "a", "b", "--json", "--timeout=9")) == ["b", "a"]
    wrong = run("zed")
    assert (wrong.exit_code, wrong.stdout) == (3, "")
    assert "zed: expected one spark or one deployment of the roster" in wrong.stderr


def test_it_ends_with_3_where_the_memory_of_one_is_not_known(run: Ran) -> None:
    assert run().exit_code == 0
    for lost in ("memory", "processes"):
        assert run(b={**NOTHING, lost: SILENT}).exit_code == 3
    gone = run(a=dict.fromkeys(NOTHING, SILENT))
    assert gone.exit_code == 3
    assert "a      no answer" in gone.stdout
    assert run(a={**NOTHING, "gpu": SILENT}).exit_code == 0, "its total and its residents are known"


def test_it_looks_again_until_it_is_interrupted(run: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    result = run("--json", "--watch=2")
    rounds = [json.loads(line) for line in result.stdout.splitlines()]
    assert [len(each["sparks"]) for each in rounds] == [2, 2, 2]
    assert slept == [2, 2, 2]
    slept.clear()
    shown = run("a", "--watch")
    assert shown.stdout.count("unaccounted") == 3
    assert slept == [5, 5, 5]


@pytest.mark.parametrize("seconds", ["0", "nan", "soon"])
def test_a_pause_that_is_none_is_refused(run: Ran, seconds: str) -> None:
    result = run(f"--watch={seconds}")
    assert result.exit_code != 0
    assert "--watch" in result.stderr
