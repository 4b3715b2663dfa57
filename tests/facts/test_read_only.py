"""No look writes: by the text of its program, by every program that it starts, and on files compared byte for byte."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from facts.bundle import EVERY_FACT, Bundle, Wanted, bundled
from facts.bundle import _wanted as wanted
from facts.look import Look, RemotePython
from facts.needs_doctor import doctor_looks
from fleet.desired import DesiredSpark
from fleet.management import Management
from tests.facts.recorded_look import Recorded, recorded, tree
from tests.fleet.doctor.hosts import DESIRED
from tests.fleet.doctor.policies import HOST, KERNEL
from tests.fleet.shapes import NAMES, round_trip, site

ROOT = Path(__file__).resolve().parents[2]
RING = site(NAMES[:4], ring={"shape": "ring", "cables": round_trip(NAMES[:4]), "pool": "10.0.0.0/16", "transit": True})


def everything() -> DesiredSpark:
    """A Spark of which doctor asks all that there is."""
    spark = DESIRED.spark.replaced(management=Management(dhcp=True))
    transit = RING.desired_for("dgx1").transit
    return DESIRED.replaced(spark=spark, kernel=KERNEL, host=HOST, transit=transit)


DOCTOR: dict[str, Wanted] = doctor_looks(everything())
ASKED = {each.fact: each for each in DOCTOR.values()}
LOOKS = (*ASKED.values(), *(each for each in map(wanted, EVERY_FACT) if each.fact not in ASKED))
"""All that doctor asks, and every other fact that costs little."""


def test_all_that_doctor_sends_are_facts_of_ours_in_one_bundle() -> None:
    asked = tuple(DOCTOR.values())
    assert all(issubclass(each.fact, Look) and each.fact.__module__.startswith("facts.") for each in asked)
    assert Bundle().command(facts=asked) == bundled(asked)
    assert len(bundled(asked)) < 128 << 10, "the most for one word of a command (MAX_ARG_STRLEN)"
    assert {"kernel", "boot", "units", "firewall", "management", "processes", "lock"} <= set(DOCTOR)


# --- by the text

WRITING = re.compile(
    r"\b(os|shutil)\.(remove|unlink|rename|renames|replace|mkdir|makedirs|rmdir|removedirs|chmod|chown|lchown|link|"
    r"symlink|truncate|mkfifo|mknod|utime|setxattr|removexattr|write|pwrite|copy\w*|move|rmtree|kill)\b"
    r"|\b(write_text|write_bytes|NamedTemporaryFile|mkstemp|mkdtemp|TemporaryDirectory)\b"
)
MODULES = sorted((ROOT / "facts" / "remote").glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_program_that_runs_on_a_host_opens_nothing_to_write(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not WRITING.search(text)
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        if ast.unparse(call.func) in ("open", "os.fdopen"):
            modes = [each.value for each in (*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode"))
                     if isinstance(each, ast.Constant)]  # fmt: skip
            assert set(modes) <= {"r", "rb"}, ast.unparse(call)
        if ast.unparse(call.func) == "os.open":
            assert not re.search("WRONLY|RDWR|CREAT|TRUNC|APPEND", ast.unparse(call))
        if ast.unparse(call.func).endswith(".request") and path.stem != "ollama_completion":
            assert ast.unparse(call.args[0]) == "'GET'", ast.unparse(call)


SHELLS = {each.fact.__name__: each.command for each in LOOKS if not isinstance(each.command, RemotePython)}


@pytest.mark.parametrize("name", sorted(SHELLS))
def test_a_script_redirects_into_nothing_but_its_own_answer(name: str) -> None:
    """What is left of `>` once its own streams and /dev/null are taken off is text within quotes."""
    text = re.sub(r"[12]?>(&[12]| ?/dev/null)", "", SHELLS[name])
    assert not re.search(r">>|(?<![-=<(,:a-z])>(?![,&=\"':)])", text), text
    assert not re.search(r"(^|[;&|({]|\bthen|\bdo)\s*(tee|dd|cp|mv|rm|touch|mkdir|ln|install|sed -i)\b", text, re.M)


# --- by what it starts

Arguments = tuple[str, ...]


def _any(arguments: Arguments) -> bool:
    return True


def _none(arguments: Arguments) -> bool:
    return False


def _verb(*verbs: str) -> Callable[[Arguments], bool]:
    """Its words that are no options begin with one of these."""
    return lambda arguments: any(_words(arguments)[: len(verb.split())] == verb.split() for verb in verbs)


def _words(arguments: Arguments, *with_value: str) -> list[str]:
    """Without its options, and the values of those that have one."""
    before = ("", *arguments)
    return [each for each, last in zip(arguments, before, strict=False) if each[:1] != "-" and last not in with_value]


def _ip(arguments: Arguments) -> bool:
    """`ip -4 addr show`, `ip route get ADDRESS`."""
    return _words(arguments)[1] in ("show", "get", "list")


def _nmcli(arguments: Arguments) -> bool:
    """`nmcli -t -f FIELDS connection show`."""
    words = _words(arguments, "-f", "-g", "-m")
    return words[0] == "general" or (words[0] in ("connection", "device") and words[1:2] in ([], ["show"], ["status"]))


def _find(arguments: Arguments) -> bool:
    return not {"-delete", "-fprint", "-fprintf", "-fls", "-ok", "-okdir"} & set(arguments)


READS: dict[str, Callable[[Arguments], bool]] = {
    **dict.fromkeys(
        ("awk", "basename", "cat", "cut", "dirname", "getconf", "grep", "head", "hostname", "ibv_devinfo", "id", "ls",
         "od", "python3", "readlink", "sha256sum", "sort", "stat", "tail", "test", "timeout", "tr", "uname", "uniq",
         "wc"),
        _any,
    ),
    "apt-cache": _verb("policy", "show"),
    "apt-config": _verb("dump", "shell"),
    "apt-mark": _verb("showhold", "showmanual", "showauto"),
    "busctl": _verb("get-property"),
    "chronyc": _verb("sources"),
    "date": lambda arguments: not any(each.startswith(("-s", "--set")) for each in arguments),
    "dkms": _verb("status"),
    "dpkg": lambda arguments: arguments[0] in ("--print-architecture", "--get-selections", "--compare-versions"),
    "dpkg-query": lambda arguments: arguments[0] in ("-W", "--show", "-l", "-S"),
    "find": _find,
    "ip": _ip,
    "iptables": lambda arguments: {"-S", "-L", "--version", "-V"} & set(arguments) != set(),
    "e4defrag": lambda arguments: arguments[0] == "-c",
    "findmnt": _any,
    "journalctl": lambda arguments: not any(
        each.startswith(("--rotate", "--vacuum", "--flush", "--sync", "--relinquish", "--smart", "--setup", "--update"))
        for each in arguments
    ),
    "nvme": _verb("get-feature", "list", "id-ctrl"),
    "firewall-cmd": lambda arguments: all(each.startswith(("--get-", "--list-", "--state")) for each in arguments),
    "modinfo": _any,
    "mokutil": lambda arguments: arguments in (("--sb-state",), ("--list-enrolled",)),
    "nft": lambda arguments: "list" in arguments and not {"add", "delete", "flush", "-f"} & set(arguments),
    "nmcli": _nmcli,
    "nvidia-smi": lambda arguments: all(each.startswith(("--query-", "--format=", "-q", "-L")) for each in arguments),
    "rdma": _verb("resource show", "resource", "link show"),
    "sed": lambda arguments: not any(each.startswith(("-i", "--in-place")) for each in arguments),
    "ss": lambda arguments: not {"-K", "--kill"} & set(arguments),
    "systemctl": lambda arguments: _words(arguments)[0]
    in ("show", "cat", "get-default", "is-active", "is-enabled", "list-units", "list-unit-files", "list-timers"),
}  # fmt: skip
"""By program, whether it only reads with these arguments; what is not here is not to be started by a look."""


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """All of them, asked of this machine at once."""
    return recorded(bundled(LOOKS), tmp_path_factory.mktemp("looked"))


def test_every_look_comes_to_its_end(looked: Recorded) -> None:
    assert looked.out.rstrip().endswith("end-of-fact"), looked.error


def test_every_program_that_is_started_only_reads(looked: Recorded) -> None:
    started = {each[0] for each in looked.started}
    assert {"ip", "nmcli", "cat", "uname"} <= started
    wrong = [" ".join(each)[:300] for each in looked.started if not READS.get(each[0], _none)(each[1:])]
    assert not wrong, "where it only reads, say so in READS"


def test_its_python_opens_nothing_to_write_and_sends_no_more_than_questions(looked: Recorded) -> None:
    assert [each for each in looked.events if not HARMLESS.search(each)] == []


HARMLESS = re.compile(
    r"^open for writing: /dev/null$|^http GET$"
    r"|^ctypes\.(dlopen \(None,\)|dlsym .*'adjtimex'|get_errno|set_errno|cdata\S*|addressof|create_string_buffer)"
)
"""adjtimex(2) sets what its `modes` name: its buffer comes zeroed, so none."""


def _written() -> Iterator[tuple[str, str]]:
    """The recorder itself sees what a look would be blamed for."""
    yield 'python3 -c \'open("x", "w")\'', "open for writing: x"
    yield "python3 -c 'import os; os.mkdir(\"y\")'", "os.mkdir"
    yield "python3 -c 'import os; os.remove(\"x\")'", "os.remove"


def test_what_writes_is_seen(tmp_path: Path) -> None:
    for command, event in _written():
        assert any(event in each for each in recorded(command, tmp_path).events)
    assert recorded("rm -f x; systemctl restart ollama", tmp_path).started == (
        ("rm", "-f", "x"), ("systemctl", "restart", "ollama"),
    )  # fmt: skip


# --- by what is there afterwards

FILES = {
    "etc/netplan/90-NM-x.yaml": "network: {version: 2}\n",
    "etc/sysctl.d/10-a.conf": "net.ipv4.ip_forward = 0\n",
    "etc/default/grub": 'GRUB_DEFAULT=saved\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n',
    "boot/grub/grub.cfg": "menuentry 'Debian' --id 'a' {\n\tlinux /boot/vmlinuz-6.12.0 root=UUID=1\n}\n",
    "boot/grub/grubenv": "# GRUB Environment Block\nsaved_entry=a\n" + "#" * 100,
    "boot/vmlinuz-6.12.0": "x",
    "proc/sys/net/ipv4/ip_forward": "0\n",
    "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
}


def _has_root(look: Wanted) -> bool:
    """Can it be taken below another directory?"""
    command: Any = look.fact().command
    return callable(command) and "root" in inspect.signature(command).parameters


def test_on_a_played_host_no_byte_and_no_time_of_any_file_is_another(tmp_path: Path) -> None:
    host = tmp_path / "host"
    for name, text in FILES.items():
        path = host / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    looks = [Wanted(each.fact, (*each.arguments, ("root", str(host)))) for each in LOOKS if _has_root(each)]
    assert len(looks) > 5
    before, home = tree(host), tmp_path / "home"
    found = recorded(bundled(looks), tmp_path)
    assert found.out.rstrip().endswith("end-of-fact"), found.error
    assert "Debian" in found.out
    assert tree(host) == before
    assert tree(home) == {}
