"""A site is an exact target: what is wrong with it ends the run with one clear line before a host is contacted."""

import copy
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.fleet.test_roster import GOOD

ROOT = Path(__file__).resolve().parents[2]

INVENTORY = """
from lab.site import site
{name} = site(__file__, {hosts!r}, known_hosts="/nonexistent/known_hosts")
"""
UNREACHABLE = {"ssh_hostname": "127.0.0.1", "ssh_port": 1, "ssh_user": "x", "ssh_look_for_keys": False}
"""Nothing listens on port 1 of loopback."""


class Site:
    """A site kept elsewhere: an inventory with its group_data beside it."""

    def __init__(self, folder: Path, values: dict[str, Any] | None = None, hosts: Any = None) -> None:
        self.inventory = folder / "inventories" / "elsewhere.py"
        self.data = folder / "inventories" / "group_data" / "elsewhere.py"
        self.data.parent.mkdir(parents=True)
        self.data.write_text(f"roster = {GOOD if values is None else values!r}\n")
        hosts = {"a": UNREACHABLE, "b": UNREACHABLE} if hosts is None else hosts
        self.inventory.write_text(INVENTORY.format(name="elsewhere", hosts=hosts))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = arguments or ("deploys/serve.py", "--dry")
        return forked.ran(forked.pyinfra_command, self.inventory, *command)


def refused(done: subprocess.CompletedProcess[str], line: str) -> None:
    """It ended with that line and a status, without a traceback."""
    assert done.returncode == 1, done.stderr
    assert line in done.stderr, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "Connected" not in done.stderr


def changed(change: Any) -> dict[str, Any]:
    values = copy.deepcopy(GOOD)
    change(values["fabrics"]["rails"]["cables"][0]["rails"][0]["ends"][1])
    return values


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda end: end.update(interface="enP2p1s0f0np0"), "rail 1: expected the same twin of a cage at both ends"),
        (lambda end: end.update(address="10.9.9.2/24"), "rail 1: expected one subnet at every end"),
        (lambda end: end.update(mtu=1500), "rail 1: expected one MTU at every end"),
        (lambda end: end.update(mtu="9000"), "ends[1].mtu: expected a valid integer, found '9000'"),
        (lambda end: end.update(adress="x"), "ends[1].adress: expected no such key"),
    ],
)
def test_a_roster_that_cannot_be_names_its_file_and_key(change: Any, line: str, tmp_path: Path) -> None:
    site = Site(tmp_path, changed(change))
    done = site.run()
    refused(done, line)
    assert f"{site.data}: roster.fabrics.rails.cables[0]" in done.stderr
    assert "Connecting" not in done.stderr


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("other = 1\n", "roster: expected a value, found none"),
        ("roster = {\n", "expected Python values, found"),
        ("roster = nothing\n", "expected plain values, found NameError"),
        ("raise SystemExit(0)\n", "expected plain values, found SystemExit: 0"),
        ("raise ValueError('two\\nlines')\n", "expected plain values, found ValueError: two lines"),
        ("roster = 1\0\n", ".py: expected Python values, found source code"),
        ("roster = [1]\n", "roster: expected an object, found [1]"),
        ("roster = {'sparks': {}}\n", "roster.sparks: expected"),
        ("roster = {\n'sparks': {},\n'sparks': {}}\n", ".py:3: expected each key once, found 'sparks' again"),
    ],
)
def test_a_group_data_file_that_cannot_be_read_is_named(text: str, line: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.data.write_text(text)
    done = site.run()
    refused(done, line)
    assert str(site.data) in done.stderr


def test_a_site_without_group_data_says_where_it_looked(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.data.unlink()
    refused(site.run(), "expected group_data at")


def test_an_approval_that_names_no_digest_is_an_error_before_any_connection(tmp_path: Path) -> None:
    done = Site(tmp_path).run("deploys/serve.py", "--data", "plan=sha256:12", "-y")
    refused(
        done, "--data plan: expected digests as sha256:…, with commas between, found 'sha256:12'; no host was asked"
    )
    assert "over SSH" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [("--limit", "nobody"), ("--limit", "a", "--exclude", "a"), ("--exclude", "*"), ("--exclude", "aa")]
)
def test_a_limit_that_leaves_nothing_is_an_error(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = Site(tmp_path).run("deploys/serve.py", "--dry", *arguments)
    refused(done, "found no match" if arguments[1] in ("nobody", "aa") else "found none left by --limit and --exclude")


@pytest.mark.parametrize("hosts", [{"a": {}}, {"a": {}, "b": {}, "c": {}}, {"a": {}, "b": {}, "zed": {}}])
def test_hosts_and_enrolled_sparks_are_the_same(hosts: dict[str, Any], tmp_path: Path) -> None:
    done = Site(tmp_path, hosts=hosts).run()
    refused(done, "found none" if len(hosts) == 1 else "expected a spark that")


@pytest.mark.parametrize("places", ["127.0.0.1:22", ["127.0.0.1"], ["127.0.0.1:ssh"], [":22"], [22]])
def test_places_where_a_host_may_answer_too_are_written_out(places: Any, tmp_path: Path) -> None:
    site = Site(tmp_path, hosts={"a": UNREACHABLE | {"ssh_also_at": places}, "b": UNREACHABLE})
    refused(site.run(), "a: ssh_also_at: expected a list of addresses with their ports, as 192.0.2.7:2205, found")


@pytest.mark.parametrize("flags", [("--dry",), ("-y",), ("--dry", "--json"), ()])
def test_hosts_that_do_not_answer_end_the_run(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Some answering and some not is tried on virtual Sparks."""
    refused(Site(tmp_path).run("deploys/serve.py", *flags), "[a] Could not connect")


def test_a_question_goes_on_with_those_that_answer_and_still_fails(tmp_path: Path) -> None:
    done = Site(tmp_path).run("fact", "facts.memory.Memory", "--json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_an_inventory_that_is_not_there_is_no_success(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.inventory.unlink()
    refused(site.run(), f"{site.inventory}: expected an inventory file, found none")


def test_an_interrupted_run_is_no_success(tmp_path: Path) -> None:
    """The host takes the connection and never says a word."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        host = {**UNREACHABLE, "ssh_port": silent.getsockname()[1]}
        site = Site(tmp_path, hosts={"a": host, "b": host})
        with subprocess.Popen(
            [sys.executable, "-m", "pyinfra", str(site.inventory), "deploys/serve.py", "-y"],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        ) as run:  # fmt: skip
            assert run.stderr is not None
            said = ""
            while "Connecting to hosts" not in said:
                line = run.stderr.readline()
                assert line, said
                said += line
            accepted, _ = silent.accept()
            with accepted:
                run.send_signal(signal.SIGINT)
                said += run.stderr.read()
    assert run.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said


SIGNALLED_AT_WORK = """
import os, signal, threading, time
from pyinfra.connectors.ssh import SSHConnector

def connect(self):
    if self.host.name == "a":
        thread = threading.Thread(target=os.kill, args=(os.getpid(), signal.{name}))
        thread.start()
        thread.join()
    time.sleep(120)

SSHConnector.connect = connect
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_comes_while_a_thread_of_paramiko_works_ends_the_run(name: str, tmp_path: Path) -> None:
    """Under gevent it is such a thread that Python's handler interrupts, and a thread swallows a SystemExit."""
    site = Site(tmp_path)
    site.inventory.write_text(site.inventory.read_text() + SIGNALLED_AT_WORK.format(name=name))
    done = subprocess.run(
        [sys.executable, "-m", "pyinfra", str(site.inventory), "deploys/serve.py", "-y"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert "interrupted; what a host was doing goes on to its end" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("inventory", ["inventories/sparks.py"])
def test_the_example_site_loads_and_is_valid(inventory: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pyinfra", inventory, "debug-inventory"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_lab_the_virtual_site_says_what_to_do(tmp_path: Path) -> None:
    """Run in a copy of the tree's front door whose lab was never brought up."""
    for name in ("lab", "virtual", "fleet", "inventories", "group_data", "config.py", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
         "import virtual.lab; from pathlib import Path\n"
         f"virtual.lab.project_root = lambda: Path({str(tmp_path)!r})\n"
         f"import runpy; runpy.run_path({str(ROOT / 'inventories/virtual.py')!r})"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "PyinfraError: the lab is down: run `sparks virtual up`" in done.stderr
