"""The dead-man switch on a virtual Spark: the management address is broken on purpose, and the machine comes back."""

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.control import approval, converge, on, pyinfra, read_trace, start, wait_until
from virtual.errors import LabError

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(5400)]

OTHERS = "/etc/netplan/50-mgmt.yaml"
"""What makes management on a virtual Spark before anybody says more: DHCP, always 10.99.0.11."""
SAME = {"address": "10.99.0.11/24", "gateway": "10.99.0.2", "nameservers": ["10.99.0.3"]}
MOVED = {"address": "10.99.0.12/24"}
NOWHERE = {"address": "10.98.0.12/24"}
"""An address in another network than the one that the machine is in: nobody gets through."""
LONG = 1800
"""A window that a commit ends, in seconds."""
RUN_SECONDS = 2400
"""A run that is undone waits for its window, and for the old state; 130 s on two quiet cores."""
ANSWER_SECONDS = 300
"""For a script on the machine: netplan alone took 100 s where ten machines ran (measured 2026-11-29)."""
LOOK_AT_ALL = (
    "find /etc/netplan /run/netplan /etc/NetworkManager -type f -exec sha256sum {} + 2>/dev/null | sort; "
    "nmcli -t -f NAME,UUID connection show --active | grep -v '^lo:' | sort; ip -br -4 addr show enP7s7; "
    "systemctl is-active sparks-guard.timer || true"
)
"""Of profiles all but `lo`, which NetworkManager makes anew with another UUID at every boot."""


class Site:
    """One virtual Spark whose management is ours, kept in a folder of its own."""

    def __init__(self, lab: "Lab", folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.machine = lab.state.machines[0]
        self.name, self.trace = self.machine.name, folder / "trace.jsonl"
        (folder / "group_data").mkdir()
        self.is_at(self.machine.port)
        begun = time.monotonic()
        self.on("netplan generate")
        self.short = int(30 + 5 * (time.monotonic() - begun))
        """A window that is waited for: the trial must stand before its end, also on a host that is busy now. 60 s where
        netplan takes the 6 s of two quiet cores."""

    def is_at(self, port: int, **more: Any) -> None:
        """Write the inventory: the machine is reached at that port."""
        lab = self.lab.state
        data = {"ssh_hostname": self.machine.host, "ssh_port": port, "ssh_user": lab.user, "ssh_key": lab.key} | more
        hosts = {self.name: data}
        (self.folder / "one.py").write_text(
            f"from lab.site import site\none = site(__file__, {hosts!r}, known_hosts={lab.known_hosts!r})\n"
        )

    def wants(self, management: dict[str, Any], window: int) -> tuple[str, str]:
        """What pyinfra is to be called with so that management becomes this."""
        spark = {"enrolled": True, "guard_seconds": window, "management": management, "revert": [OTHERS]}
        roster = {"sparks": {self.name: spark}}
        (self.folder / "group_data" / "one.py").write_text(f"roster = {roster!r}\n")
        return str(self.folder / "one.py"), "deploys/fabric.py"

    def run(self, management: dict[str, Any], window: int = LONG, *flags: str) -> Any:
        wanted = self.wants(management, window)
        if flags:
            return pyinfra(self.trace, *wanted, *flags, seconds=RUN_SECONDS)
        return converge(self.trace, *wanted, seconds=RUN_SECONDS)

    def approved(self, management: dict[str, Any], window: int) -> tuple[str, ...]:
        """What pyinfra is to be called with to carry out what a dry run tells."""
        wanted = self.wants(management, window)
        return *wanted, *approval(self.trace, *wanted, seconds=RUN_SECONDS)

    def on(self, script: str) -> str:
        return on(self.lab, self.name, script, seconds=ANSWER_SECONDS)

    @property
    def state(self) -> str:
        """Files, profiles, addresses and the timer."""
        return self.on(LOOK_AT_ALL)

    def answers(self, script: str) -> bool:
        """Does the machine answer, and does a script succeed there?"""
        try:
            return self.lab.ssh(self.name, f"sudo sh -c '{script}'", timeout=60).returncode == 0
        except LabError:
            return False

    def is_armed(self) -> bool:
        """Has the host said over SSH that a guard is armed?"""
        events = read_trace(self.trace)
        begun = [at for at, each in enumerate(events) if "/guard arm" in each.get("command", "")]
        return bool(begun) and any(each["event"] == "end" for each in events[begun[0] :])


@pytest.fixture
def site(side_lab: "Lab", tmp_path: Path) -> Site:
    """A machine as after `up`."""
    side_lab.reset()
    return Site(side_lab, tmp_path)


def assert_refused(run: Any, *words: str) -> None:
    assert run.status == 1, run.said
    assert "Traceback" not in run.out + run.err
    for each in words:
        assert each in run.err, run.said


def test_a_wrong_address_cuts_ssh_and_comes_back_by_itself(site: Site) -> None:
    before = site.state
    run = site.run(NOWHERE, site.short)
    assert_refused(
        run,
        f"{site.name} enP7s7: expected",
        "found no answer from the inventory's address",
        "undone, files and addresses are as before [rolled_back]",
    )
    assert site.state == before


@pytest.mark.nightly
def test_killed_after_arming_then_confirmed_then_nothing_then_no_power(site: Site) -> None:
    before = site.state
    killed = start(site.trace, *site.approved(SAME, site.short))
    try:
        wait_until(lambda: site.is_armed() or killed.poll() is not None, 900, "the guard to be armed")
    finally:
        killed.kill()
        killed.wait()
    assert site.is_armed()
    undone = 'grep -q "^rolled-back no confirmation in" /run/sparks-guard/*/state'
    wait_until(lambda: site.answers(undone), 900, "the host to undo it by itself", pause=5)
    assert site.state == before

    run = site.run(SAME)
    assert run.status == 0, run.said
    assert "note: cleared a guard armed by spark from 10.99.0.2 at " in run.err
    begun = {
        verbs[-1]: each["local"]
        for each in read_trace(site.trace)
        if (verbs := re.findall(r"/guard (arm|commit)\b", each.get("command", "")))
    }
    assert begun["arm"] != begun["commit"], "the commit came over the connection that armed"
    left = site.on(
        "systemctl is-active sparks-guard.timer; ls /run/sparks-guard /run/netplan 2>/dev/null; "
        f"ls {OTHERS} 2>/dev/null; stat -c '%a %U %n' /etc/netplan/90-NM-* /var/lib/sparks /var/lib/sparks/reverted/*"
    )
    assert left.splitlines()[:2] == ["inactive", "lock"], left
    assert [line.split()[0] for line in left.splitlines()[2:]] == ["600", "700", "600"], left
    _nothing_is_left(site)
    site.lab.power_cycle(site.name)
    _nothing_is_left(site)


def _nothing_is_left(site: Site) -> None:
    before = site.state
    run = site.run(SAME)
    assert run.status == 0, run.said
    assert f"{site.name} is as desired" in run.err
    assert all("/guard " not in command for command in run.commands)
    assert site.state == before


@pytest.mark.nightly
def test_a_moved_address_is_confirmed_where_it_is_now(site: Site) -> None:
    moved = f"{site.machine.host}:{site.machine.moved_port}"
    site.is_at(site.machine.port, ssh_also_at=[moved])
    run = site.run(MOVED)
    assert run.status == 0, run.said
    assert f"answers at {moved} now; the inventory must say so for the next run" in run.err
    assert not site.answers("true"), "the old address should be silent"
    site.is_at(site.machine.moved_port)
    again = site.run(MOVED)
    assert again.status == 0, again.said
    assert f"{site.name} is as desired" in again.err
    assert all("/guard " not in command for command in again.commands)


def test_a_power_cut_in_the_window_ends_in_the_old_state(site: Site, tmp_path: Path) -> None:
    before = site.state
    with (tmp_path / "said").open("wb") as said:
        run = start(site.trace, *site.approved(NOWHERE, 3 * site.short), said=said)
        wait_until(lambda: site.is_armed() or run.poll() is not None, 900, "the guard to be armed")
        wait_until(lambda: not site.answers("true"), 3 * site.short, "the change to cut SSH", pause=2)
        site.lab.power_cycle(site.name)
        assert run.wait(timeout=RUN_SECONDS) == 1
    text = (tmp_path / "said").read_text()
    assert "undone, files and addresses are as before [rolled_back]" in text, text
    assert site.state == before


@pytest.mark.nightly
def test_without_a_timer_nothing_is_changed(site: Site) -> None:
    site.on("ln -s /dev/null /run/systemd/system/sparks-guard.timer; systemctl daemon-reload")
    before = site.state
    run = site.run(SAME)
    assert_refused(run, "expected the timer sparks-guard.timer to run, found it not active; nothing was changed")
    assert site.state == before
    assert site.on("ls /run/sparks-guard; ls /run | grep sparks-netplan || true") == "lock\n"


def test_what_cannot_be_undone_is_refused_before_anything(site: Site) -> None:
    site.on("ip addr add 10.99.0.77/24 dev enP7s7")
    before = site.state
    assert_refused(site.run(SAME), "addresses that some file explains, found 10.99.0.77/24 [cannot_be_undone]")
    assert site.state == before


@pytest.mark.nightly
def test_a_trial_of_somebody_else_is_named_and_left_alone(site: Site) -> None:
    site.on(
        "mkdir -p -m 700 /run/sparks-guard/t; cd /run/sparks-guard/t; echo tried > state; echo 60 > seconds; "
        "echo 'eve from 192.0.2.1 at noon' > by; systemd-run -q --unit=sparks-guard --on-active=600 true"
    )
    before = site.state
    assert_refused(site.run(SAME), "found one by eve from 192.0.2.1 at noon, undone within 60 s", "[guard_armed]")
    assert site.state == before


def test_the_fact_says_what_a_host_can_do(site: Site) -> None:
    run = pyinfra(site.trace, *site.wants(SAME, LONG)[:1], "fact", "facts.guard.Guard", "--json")
    assert run.status == 0, run.said
    assert json.loads(run.out)["facts.guard.Guard"][site.name]["missing"] == []
