"""Observing a site from a command: what is wrong with it is one line, a host that does not answer is no value."""

import json
import subprocess
from pathlib import Path
from typing import Any

import click
import gevent
import pyinfra
import pytest

import lab.collect
from fleet.observation import Observation
from lab.cli import main
from lab.collect import collect
from lab.command import inventory_option
from tests import forked
from tests.lab.test_site import Site, changed


@click.command()
@inventory_option
@click.argument("names", nargs=-1)
def asking(inventory: str, names: tuple[str, ...]) -> None:
    seen = collect(inventory, names or None)
    click.echo(json.dumps({name: each.to_json() for name, each in seen.items()}))


def ask(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return forked.ran(asking, *arguments, environment=environment)


def failed(done: subprocess.CompletedProcess[str], line: str) -> None:
    """It ended with status 1 and said so in one line."""
    assert done.returncode == 1, done.stderr
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


@pytest.mark.parametrize("asked", [(), ("a",), ("b", "a", "b")])
def test_a_host_that_does_not_answer_is_unobserved_in_every_section(asked: tuple[str, ...], tmp_path: Path) -> None:
    done = ask("-i", str(Site(tmp_path).inventory), *asked)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert set(seen) == (set(asked) or {"a", "b"})
    for each in seen.values():
        assert "no answer over SSH: Could not connect" in each["links"]["reason"]


def test_the_inventory_can_be_said_once_for_a_shell(tmp_path: Path) -> None:
    assert ask("a", SPARKS_INVENTORY=str(Site(tmp_path).inventory)).returncode == 0


def test_a_name_that_is_not_enrolled_is_refused_before_any_host_is_contacted(tmp_path: Path) -> None:
    site = Site(tmp_path)
    failed(ask("-i", str(site.inventory), "zed"), f"zed: expected an enrolled spark of {site.inventory}, one of a, b")


def test_an_inventory_that_is_not_there_is_named() -> None:
    failed(ask("-i", "nowhere.py"), "nowhere.py: expected an inventory file, found none; name one with -i")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hosts = [\n", ":1: expected Python, found "),
        ("import nothing_of_that_name\n", ": expected hosts, found ModuleNotFoundError: No module named"),
        ("raise SystemExit(0)\n", ": expected hosts, found SystemExit: 0"),
        ("from pathlib import Path\nPath('/nonexistent').read_text()\n", ": expected hosts, found FileNotFoundError"),
        (b"\xff\xfe\n", ": expected hosts, found UnicodeDecodeError: "),
    ],
)
def test_an_inventory_that_cannot_be_read_is_named(text: str | bytes, line: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.inventory.write_bytes(text.encode() if isinstance(text, str) else text)
    failed(ask("-i", str(site.inventory)), f"{site.inventory}{line}")


@pytest.mark.parametrize("text", ["", "other = []\n", "elsewhere = ['b']\n"])
def test_an_inventory_without_a_host_for_a_name_is_named_although_it_calls_no_site(text: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.inventory.write_text(text)
    failed(ask("-i", str(site.inventory), "a"), f"{site.inventory}: expected a host for a, found none")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("which", ["inventory", "data"])
def test_a_signal_while_the_files_of_a_site_are_read_is_an_interrupt(which: str, name: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    file: Path = getattr(site, which)
    text = f"import os, signal, time\nos.kill(os.getpid(), signal.{name})\ntime.sleep(9)\n"
    file.write_text(text + file.read_text())
    done = forked.ran(main, "observe", "a", "-i", str(site.inventory))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_checks_of_a_site_apply(tmp_path: Path) -> None:
    failed(ask("-i", str(Site(tmp_path / "one", hosts={"a": {}}).inventory)), "expected a host for b")
    site = Site(tmp_path / "other", changed(lambda end: end.update(mtu=1500)))
    failed(ask("-i", str(site.inventory)), "expected one MTU at every end")


def test_a_host_that_does_not_answer_in_time_is_unobserved_in_every_section_and_the_others_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def observed(host: Any, looks: Any, silent: Any) -> Observation:
        gevent.sleep(60 if host.name == "a" else 0)
        return Observation(host=host.name)

    monkeypatch.setattr(lab.collect, "connect", lambda host: None)
    monkeypatch.setattr(lab.collect, "observed", observed)
    seen = lab.collect.collect(str(Site(tmp_path).inventory), seconds=2)
    blind = seen["a"].blind
    assert blind is not None
    assert blind.found == "no answer in 2 s"
    assert seen["b"] == Observation(host="b")


def test_a_process_that_looks_again_and_again_says_each_warning_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site(tmp_path)
    for _ in range(3):
        lab.collect.state_of(str(site.inventory), ())
    pyinfra.logger.warning("a host is slow")
    assert capsys.readouterr().err.count("a host is slow") == 1
