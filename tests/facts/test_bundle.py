"""A bundle is one process whose looks fail, hang and shout apart from each other."""

import contextlib
import os
import runpy
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pyinfra.api.exceptions import FactProcessError

import facts.remote
from facts.bundle import EVERY_FACT, Bundle, Wanted
from facts.look import SENTINEL, Look, as_root, remote_python, shell
from fleet.record import Unobserved


class Says(Look[str]):
    def command(self, script: str) -> str:
        return shell(script)

    def parse(self, text: str) -> str:
        return text


class Hangs(Says):
    timeout_seconds: ClassVar[float] = 0.5


class Cut(Says):
    def command(self, script: str) -> str:
        return script


class Reads(Look[str]):
    def command(self, root: str) -> str:
        return as_root(remote_python("netplan_tree", root=root, allowed={}))

    def parse(self, text: str) -> str:
        return text


class Refuses(Says):
    def parse(self, text: str) -> str:
        raise ValueError("expected more")


def run(*wanted: Wanted, path: str | None = None) -> dict[str, Any]:
    bundle = Bundle()
    command = bundle.command(wanted)
    environment = os.environ | ({"PATH": path} if path else {})
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return bundle.process(done.stdout.splitlines())


def test_a_program_that_swallows_every_failure_is_given_up_all_the_same() -> None:
    def stubborn(arguments: str) -> None:
        with contextlib.suppress(Exception):
            time.sleep(30)
        print("an answer")

    bundle = runpy.run_path(str(Path(facts.remote.__path__[0]) / "bundle.py"))
    section = {"module": "x", "arguments": {}, "timeout": 0.2}
    before = signal.getsignal(signal.SIGALRM)
    try:
        said = bundle["in_process"](section, {"x": {"main": stubborn}}, SENTINEL)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert said == {"code": None, "out": "", "error": "no answer in 0.2 s"}


def says(script: str, fact: type[Says] = Says) -> Wanted:
    return Wanted(fact, (("script", script),))


def test_each_look_gets_its_own_output() -> None:
    texts = ["plain", 'it\'s "quoted" $HOME `x` \\ %s', "two\nlines", SENTINEL, "ünï"]
    looks = [says(f"printf '%s\\n' {shlex.quote(text)}") for text in texts]
    assert list(run(*looks).values()) == [f"{text}\n" for text in texts]


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (says("echo why >&2; exit 3"), "why"),
        (says("exit 3"), "the look ended with status 3"),
        (says("sleep 30", Hangs), "no answer in 0.5 s"),
        (says("echo half", Cut), "cut short"),
        (says("echo x", Refuses), "expected more"),
    ],
)
def test_a_look_that_fails_says_why_and_the_others_still_answer(look: Wanted, reason: str) -> None:
    good = says("echo fine")
    answers = run(look, good)
    assert isinstance(answers[look.name], Unobserved)
    assert reason in answers[look.name].reason
    assert answers[good.name] == "fine\n"


def test_bytes_that_are_no_text_do_not_cut_the_answer() -> None:
    look = says("printf 'a\\377b\\n'")
    assert run(look)[look.name] == "a\\xffb\n"


def test_a_python_look_runs_in_the_same_process(tmp_path: Path) -> None:
    look = Wanted(Reads, (("root", str(tmp_path)),))
    assert "files" in run(look)[look.name]


@pytest.fixture
def without_sudo(tmp_path: Path) -> str:
    """A PATH on which an ordinary user's sudo wants a password: `id` and `sudo` are played."""
    for name, body in (("id", "case $1 in -u) echo 1000;; -un) echo pat;; esac"), ("sudo", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def test_without_sudo_every_look_says_so(without_sudo: str) -> None:

    class Rooted(Says):
        needs_root: ClassVar[bool] = True

    looks = says("echo x", Rooted), says("echo y")
    answers = run(*looks, path=without_sudo)
    expected = Unobserved(reason="expected sudo without a password for pat, found it refused")
    assert list(answers.values()) == [expected] * 2


def test_a_command_without_sudo_is_one_line_and_status_77(without_sudo: str) -> None:
    done = subprocess.run(
        ["sh", "-c", as_root("echo written")], capture_output=True, text=True, check=False,
        env={"PATH": without_sudo},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (77, "")
    assert done.stderr == "expected sudo without a password for pat, found it refused\n"


@pytest.mark.parametrize("name", ["nosuch.Fact", "netplan.Nothing", "netplan", "look.SENTINEL", ""])
def test_a_name_that_is_no_fact_is_refused(name: str) -> None:
    """An exception here would end pyinfra's `fact` with a traceback and status 0 (3.10.0)."""
    done = subprocess.run(["sh", "-c", Bundle().command(name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (64, "")
    assert "expected a fact" in done.stderr


def test_every_fact_fits_into_one_command() -> None:
    """128 KiB is the most for one argument (MAX_ARG_STRLEN on Linux); sudo and two shells quote it on the way."""
    command = Bundle().command(EVERY_FACT)
    assert len(shlex.quote(f"sudo sh -c {shlex.quote(command)}")) < 100_000


def test_a_text_that_several_looks_carry_is_sent_once() -> None:
    """Any look of facts.processes carries 30 kB; each further one must cost next to nothing."""
    looks = ("processes.EngineProcesses", "vllm.VllmServers", "llamacpp.LlamaCpp", "ledger.OllamaServers")
    one, all_of_them = (len(Bundle().command(names)) for names in (looks[:1], looks))
    assert all_of_them < one * 1.1


def test_an_answer_without_its_end_is_no_answer() -> None:
    with pytest.raises(FactProcessError, match="cut short"):
        Bundle().process(['[{"code": 0}]'])


def test_every_fact_is_named_once_and_is_ours() -> None:
    assert len(set(EVERY_FACT)) == len(EVERY_FACT)
    assert sys.modules["facts.bundle"].Bundle is Bundle


@pytest.mark.parametrize(
    "error", [RecursionError(), AttributeError("x"), OverflowError("x"), IndexError("x"), KeyError("x")]
)
def test_whatever_a_parser_raises_is_one_complaint(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def parse(self: Says, text: str) -> str:
        raise error

    monkeypatch.setattr(Says, "parse", parse)
    with pytest.raises(FactProcessError, match="expected another shape"):
        Says().read(SENTINEL)
