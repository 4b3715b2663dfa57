"""What must not be touched: each reason in one clear line, a status that is not 0, and nothing written anywhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import SERVE, Run, converge, faults, fingerprint, on, pyinfra

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(3600)]

SECRET = "hunter2-do-not-print"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


@pytest.fixture
def names(lab: "Lab") -> tuple[str, ...]:
    return tuple(machine.name for machine in lab.state.machines)


@pytest.fixture
def clean(lab: "Lab") -> Iterator["Lab"]:
    """The lab as after `up`, before and after a test that breaks it."""
    lab.reset()
    yield lab
    lab.reset()


def assert_refused(run: Run, *lines: str) -> None:
    assert run.status == 1, run.said
    assert "Traceback" not in run.out + run.err
    for line in lines:
        assert line in run.err, run.said


@pytest.mark.parametrize("user", ["nosudo", "asksudo"])
def test_a_user_without_sudo_gets_one_line(lab: "Lab", trace: Path, user: str) -> None:
    run = pyinfra(trace, *SERVE, "-y", "--user", user)
    assert_refused(run, f"expected sudo without a password for {user}, found it refused")
    assert len(run.commands) == len(run.channels), "more than one command after sudo was refused"


def test_some_hosts_that_do_not_answer_stop_those_that_do(
    lab: "Lab", names: tuple[str, ...], trace: Path, tmp_path: Path
) -> None:
    """A site kept elsewhere whose second host listens nowhere."""
    machines = {m.name: {"ssh_hostname": m.host, "ssh_port": m.port} for m in lab.state.machines}
    machines[names[1]]["ssh_port"] = 1
    login = {"ssh_user": lab.state.user, "ssh_key": lab.state.key}
    hosts = {name: data | login for name, data in machines.items()}
    folder = tmp_path / "inventories"
    (folder / "group_data").mkdir(parents=True)
    (folder / "group_data" / "half.py").write_text(Path("group_data/virtual.py").read_text())
    (folder / "half.py").write_text(
        f"from lab.site import site\nhalf = site(__file__, {hosts!r}, known_hosts={lab.state.known_hosts!r})\n"
    )
    for flags in (("--dry",), ("-y",)):
        run = pyinfra(trace, str(folder / "half.py"), "deploys/serve.py", *flags)
        assert_refused(run, f"{names[1]}: expected an answer over SSH, found none; nothing was written")
        assert run.commands == []


def test_every_reason_on_every_host_is_given_at_once_and_nothing_is_written(
    clean: "Lab", names: tuple[str, ...], trace: Path
) -> None:
    first, second = names
    on(clean, first, f"printf 'network:\\n\\tpassword: {SECRET}\\n' > /etc/netplan/95-bad.yaml")
    faults(clean, first, tags="garbage")
    on(
        clean,
        second,
        "printf 'network:\\n  ethernets:\\n    enp1s0f1np1:\\n      link-local: [ ipv4 ]' > /etc/netplan/40-cx7.yaml",
    )
    faults(clean, second, pull="other-digest")
    on(clean, second, 'curl -s localhost:11434/api/pull -d \'{"model":"llama3.2:1b"}\' >/dev/null')
    faults(clean, second)
    clean.set_cable(second, "enP2p1s0f1np1", up=False)
    before = fingerprint(clean, names)
    for flags in (("--dry",), ("-y",)):
        run = pyinfra(trace, *SERVE, *flags)
        assert_refused(
            run,
            "refused, nothing was written",
            f"{first} /etc/netplan/95-bad.yaml: expected a file that netplan can read, found",
            f"{first} ollama models: expected an observation, found",
            f"{second} enp1s0f1np1: expected no durable state but the roster's, found /etc/netplan/40-cx7.yaml",
            f"{second} enP2p1s0f1np1: expected a live cable on "
            f"rail 103 ({second} enP2p1s0f1np1 - {first} enP2p1s0f1np1), found no carrier",
            f"{second} ollama model llama3.2:1b: expected sha256:",
        )
        assert SECRET not in run.out + run.err
        assert all(SECRET not in str(each) for each in run.trace)
    assert fingerprint(clean, names) == before


def test_no_interface_no_networkmanager_no_api(clean: "Lab", names: tuple[str, ...], trace: Path) -> None:
    first, second = names
    on(
        clean,
        first,
        "v=$(basename $(readlink -f /sys/class/net/enp1s0f1np1/device)); "
        "echo $v > /sys/bus/virtio/drivers/virtio_net/unbind",
    )
    faults(clean, first, ps="hang")
    on(
        clean,
        second,
        "systemctl stop NetworkManager ollama; rm /etc/systemd/system/ollama.service; systemctl daemon-reload",
    )
    before = fingerprint(clean, names)
    run = pyinfra(trace, *SERVE, "-y")
    assert_refused(
        run,
        f"{first} enp1s0f1np1: expected the interface on the host, "
        "found PCI 0000:00:07.0 with driver virtio-pci and no interface",
        f"{first} ollama residency: expected an observation, found",
        f"{second} NetworkManager: expected it running, found it stopped",
        f"{second} ollama.service: expected a loaded unit, found not-found",
    )
    assert fingerprint(clean, names) == before


def test_a_full_disk_keeps_the_old_file_and_leaves_no_trace(clean: "Lab", names: tuple[str, ...], trace: Path) -> None:
    first, _ = names
    on(
        clean,
        first,
        "cp -a /etc/netplan /run/kept; mount -t tmpfs -o size=16k,mode=0755 full /etc/netplan; "
        "cp -a /run/kept/. /etc/netplan/; dd if=/dev/zero of=/etc/netplan/fill bs=1k count=64 2>/dev/null || true; "
        "rm -rf /run/kept",
    )
    before = on(clean, first, "ls -la --time-style=+ /etc/netplan; sha256sum /etc/netplan/*.yaml")
    run = converge(trace, *SERVE)
    assert_refused(run, "expected room to write it whole, found the write refused; the old file stands")
    assert on(clean, first, "ls -la --time-style=+ /etc/netplan; sha256sum /etc/netplan/*.yaml") == before
