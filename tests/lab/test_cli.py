"""`sparks` as a shell runs it: however its output ends, it says one line and has a status, and never a traceback."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.test_site import ROOT, SIGNALLED_AT_WORK, UNREACHABLE, Site

SPARKS = "from lab.cli import main; main(prog_name='sparks')"
QUOTA = "standard output: expected room for all of it, found No space left on device\n"


def shell(line: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A shell's line in which `"$@"` is `sparks` with the arguments."""
    return subprocess.run(
        ["bash", "-c", line, "bash", sys.executable, "-c", SPARKS, *arguments],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ('"$@" > /dev/full', 1, QUOTA),
        ('"$@" >&-', 1, "stdout: expected it open, found it closed\n"),
        ('"$@" | head -n 1 > /dev/null', 0, ""),
        ('"$@" | true; exit ${PIPESTATUS[0]}', 1, ""),
    ],
)
def test_where_the_answer_cannot_go_one_line_says_so(line: str, status: int, said: str) -> None:
    done = shell(line, "map", "-i", "inventories/switch8.py", "--desired-only", "--format", "svg")
    if "true" in line and done.returncode == 0:
        pytest.skip("the pipe took all of it before its reader was gone")
    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-o", ""), "--output: expected the name of a file, found none; - is standard output"),
        (("-i", ""), "--inventory: expected an inventory file, found none"),
        (("-i", "inventories"), "inventories: expected an inventory file, found a folder"),
        (("-i", "/dev/null"), "/dev/null: expected an inventory file, found no plain file"),
    ],
)
def test_a_file_that_is_none_is_named(arguments: tuple[str, ...], line: str) -> None:
    done = shell('"$@"', "map", "--desired-only", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(line)
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupt_is_told_once_and_is_130(tmp_path: Path) -> None:
    """A server that takes the connection and says nothing keeps the command waiting."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        silent = UNREACHABLE | {"ssh_port": server.getsockname()[1]}
        site = Site(tmp_path, hosts={"a": silent, "b": silent})
        site.inventory.write_text(
            site.inventory.read_text().replace("/nonexistent/known_hosts", str(tmp_path / "known"))
        )
        (tmp_path / "known").touch()
        asked = subprocess.Popen(
            [sys.executable, "-c", SPARKS, "env", "a", "-i", str(site.inventory)],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        server.settimeout(60)
        connection, _ = server.accept()
        asked.send_signal(signal.SIGINT)
        out, error = asked.communicate(timeout=60)
        connection.close()
    assert (asked.returncode, out, error) == (130, "", "interrupted\n")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("command", [("env", "a"), ("status",), ("observe", "a")], ids=" ".join)
def test_a_signal_that_comes_while_a_thread_of_paramiko_works_is_heard(
    command: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    """Python's handler interrupts whatever runs, and such a thread forgets the exception."""
    site = Site(tmp_path)
    site.inventory.write_text(site.inventory.read_text() + SIGNALLED_AT_WORK.format(name=name))
    done = shell('"$@"', *command, "-i", str(site.inventory))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("file", ["inventory", "data"])
def test_a_signal_that_comes_while_a_site_is_read_is_no_mistake_of_the_site(file: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    path: Path = getattr(site, file)
    path.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n" + path.read_text())
    done = shell('"$@"', "env", "a", "-i", str(site.inventory))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


WAITS = """
import os, signal, sys, types, click, lab.cli
number = int(sys.argv[1])
signal.signal(number, signal.SIG_DFL)
module = sys.modules["waits"] = types.ModuleType("waits")
module.waits = click.command()(lambda: (os.kill(os.getpid(), number), signal.pause()))
lab.cli._COMMANDS["waits"] = "waits:waits"
lab.cli.main(["waits"])
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_ends_as_interrupted(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAITS, str(int(number))],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
