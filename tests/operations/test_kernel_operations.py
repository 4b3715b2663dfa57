"""The scripts about the kernel on a directory: real sh and GRUB tools, a played dpkg, apt and update-grub."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import group_data.ring
import operations.kernel_script
from facts.boot import GrubBoot
from facts.kernels import InstalledKernels, KernelPackages
from fleet.kernel.decide import KERNEL_PARTS, kernel_steps
from fleet.kernel.defaults import FILE
from fleet.kernel.dropins import DEFAULT_PATH, DEFAULT_TEXT, WORDS_PATH
from fleet.kernel.kho import Kho
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.step import Step
from tests import forked
from tests.fleet.kernel.host import NEW_VERSION, OLD_VERSION, PLAIN, PlayedHost, packages_of
from tests.fleet.kernel.menus import NEW, OLD
from tests.fleet.observed import blank

DESIRED = Roster.read(group_data.ring.roster, "group_data/ring.py").desired_for("dgx1")
META = "linux-nvidia-hwe-24.04"
PLAYED = ("dpkg-query", "dpkg", "apt-get", "apt-mark", "update-grub", "update-initramfs", "grub-set-default")


def ids(release: str) -> str:
    """How an entry of the played menu is chosen."""
    return f"gnulinux-advanced-u>gnulinux-{release}-advanced-u"


NEEDED = "grub2-common is in virtual/host-packages.txt: run `make host-packages`"
pytestmark = pytest.mark.skipif(shutil.which("grub-editenv") is None, reason=NEEDED)


class PlayedDisk:
    """A host below a directory."""

    def __init__(self, root: Path) -> None:
        self.root, self.running = root, OLD
        script = Path(__file__).with_name("played_apt.sh")
        (root / "bin").mkdir()
        for name in PLAYED:
            program = root / "bin" / name
            program.write_text(f'#!/bin/sh\nexec sh {script} {root} {name} "$@"\n')
            program.chmod(0o755)
        for name, version in packages_of(OLD, OLD_VERSION).items():
            self.put(f"state/packages/{name}", f"install|{version}|\n")
        self.put(f"state/packages/{META}", f"install|{OLD_VERSION}|linux-image-{OLD}\n")
        self.offers("available")
        for path in (f"boot/vmlinuz-{OLD}", f"boot/initrd.img-{OLD}", f"lib/modules/{OLD}/modules.dep", "boot/grub/x"):
            self.put(path, "x")
        self.put(FILE, PLAIN)
        self.sh("update-grub; grub-editenv boot/grub/grubenv create")

    def put(self, path: str, text: str) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def offers(self, where: str) -> None:
        for name, version in packages_of(NEW, NEW_VERSION).items():
            self.put(f"state/{where}/{name}", version)

    @property
    def packages(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in (self.root / "state/packages").iterdir()}

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"PATH": f"{self.root / 'bin'}:/usr/sbin:{os.environ['PATH']}", "COLUMNS": "200"}

    def sh(self, script: str) -> subprocess.CompletedProcess[str]:
        text = f"export LC_ALL=C; set -eu\n{script}"
        return subprocess.run(
            ["sh", "-c", text], cwd=self.root, env=self.environment, capture_output=True, text=True, check=False
        )

    def look(self, fact: Any, **arguments: str) -> Any:
        return fact.read(self.sh(str(fact.command(**arguments))).stdout)

    def seen(self) -> Observation:
        root = str(self.root)
        return blank("dgx1").replaced(
            packages=self.look(KernelPackages()),
            kernels=self.look(InstalledKernels(), root=root),
            boot=self.look(GrubBoot(), root=root),
            kho=Kho(is_built_in=False),
            kernel=PlayedHost(running=self.running).seen().kernel,
        )

    @property
    def outcomes(self) -> tuple[Step | Refusal, ...]:
        seen = self.seen()
        return tuple(each for part in KERNEL_PARTS for each in kernel_steps(part, DESIRED, seen))

    def carry_out(self, step: Step) -> subprocess.CompletedProcess[str]:
        return self.sh(operations.kernel_script.script(step))

    def converge(self) -> None:
        for step in self.outcomes:
            assert isinstance(step, Step), step
            done = self.carry_out(step)
            assert done.returncode == 0, done.stderr
        assert self.outcomes == ()

    def due(self, kind: str) -> Step:
        (found,) = (each for each in self.outcomes if isinstance(each, Step) and each.kind == kind)
        return found

    def text(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedDisk:
    monkeypatch.setattr(operations.kernel_script, "ROOT", str(tmp_path))
    return PlayedDisk(tmp_path)


def test_a_host_comes_to_its_kernel_and_then_nothing_is_due(disk: PlayedDisk) -> None:
    disk.converge()
    boot = known(disk.seen().boot)
    assert (boot.next.source, boot.next.release, boot.next.is_pinned) == ("saved", OLD, True)
    assert (disk.text(FILE), disk.text(DEFAULT_PATH)) == (PLAIN, DEFAULT_TEXT)
    assert (disk.root / WORDS_PATH[1:]).stat().st_mode & 0o777 == 0o644
    assert boot.next.entry is not None
    assert [each.value for each in boot.next.entry.parameters if each.name == "kho"] == ["off"]
    packages = disk.packages
    assert {packages[name] for name in packages_of(NEW, "")} == {f"hold|{NEW_VERSION}|\n"}
    assert packages[META].startswith("hold|")
    assert packages.keys() >= packages_of(OLD, "").keys()
    calls = disk.text("calls").splitlines()
    assert all("--no-remove" in each and "--allow-downgrades" not in each for each in calls)
    assert not list(disk.root.rglob("*.new"))


def test_words_are_cut_out_of_a_file_of_somebody_and_its_mode_stays(disk: PlayedDisk) -> None:
    """The stock file of Debian and Ubuntu runs something too, for another variable."""
    stock = "GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`\n"
    odd = stock + "GRUB_CMDLINE_LINUX=\"x='1  2'  kho=on\"\t# kho=on stays here\nGRUB_CMDLINE_LINUX_DEFAULT=kho=on\n"
    path = disk.root / FILE[1:]
    path.write_text(odd)
    path.chmod(0o640)
    assert disk.carry_out(disk.due("kernel_words")).returncode == 0
    cut = odd.replace(' kho=on"', '"').replace("DEFAULT=kho=on", "DEFAULT=")
    assert path.read_text() == cut
    assert path.stat().st_mode & 0o777 == 0o640
    path.write_text("GRUB_CMDLINE_LINUX_DEFAULT=kho'=on'\n")
    (refusal,) = (each for each in disk.outcomes if isinstance(each, Refusal))
    assert refusal.code == "word_not_removable"


def test_a_file_that_changed_since_it_was_looked_at_is_not_cut(disk: PlayedDisk) -> None:
    path = disk.root / FILE[1:]
    path.write_text('GRUB_CMDLINE_LINUX_DEFAULT="quiet kho=on"\n')
    step = disk.due("kernel_words")
    path.write_text('GRUB_CMDLINE_LINUX_DEFAULT="other quiet kho=on"\n')
    done = disk.carry_out(step)
    assert done.returncode == 75
    assert "expected it as it was looked at, found it changed since" in done.stderr
    assert path.read_text() == 'GRUB_CMDLINE_LINUX_DEFAULT="other quiet kho=on"\n'


def test_an_id_that_is_nowhere_is_never_set(disk: PlayedDisk) -> None:
    """Without the kernel the entry that it will have is not there yet: grub-set-default alone would take it."""
    disk.running = NEW
    step = disk.due("next_boot")
    done = disk.carry_out(step)
    assert done.returncode == 69
    assert "found it absent; the default stays" in done.stderr
    assert known(disk.seen().boot).environment.saved_entry is None
    assert disk.sh(f"grub-set-default '{ids(NEW)}'").returncode == 0


def test_a_one_shot_is_cleared_and_the_saved_entry_stays(disk: PlayedDisk) -> None:
    disk.converge()
    disk.sh(f"grub-editenv boot/grub/grubenv set next_entry='{ids(NEW)}'")
    assert known(disk.seen().boot).next.release == NEW
    disk.running = NEW
    disk.converge()
    boot = known(disk.seen().boot)
    assert (boot.environment.next_entry, boot.next.source, boot.next.release) == (None, "saved", NEW)


def test_an_initramfs_is_made_and_comes_into_the_menu(disk: PlayedDisk) -> None:
    disk.converge()
    (disk.root / f"boot/initrd.img-{OLD}").unlink()
    assert disk.carry_out(disk.due("make_initramfs")).returncode == 0
    assert disk.outcomes == ()


@pytest.mark.parametrize(
    ("path", "text", "status", "said"),
    [
        (
            "lock",
            "process 1234 (unattended-upgr)",
            75,
            "free within 120 s, found it held by process 1234 (unattended-upgr); run",
        ),
        (f"available/linux-image-{NEW}", "1", 70, f"E: Version '{NEW_VERSION}' for 'linux-image-{NEW}'"),
        (
            "brings",
            "linux-image-9.0.0-1-nvidia",
            69,
            "expected no other kernel than the policy names, found linux-image-9",
        ),
        (f"later/linux-image-{NEW}", "", 70, "Packages were downgraded"),
        ("menu-fails", "", 70, "the installation"),
    ],
)
def test_why_nothing_is_installed(disk: PlayedDisk, path: str, text: str, status: int, said: str) -> None:
    step = disk.due("install_kernel")
    disk.put(f"state/{path}", text)
    done = disk.carry_out(step)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_lock_that_apt_mark_does_not_wait_for_is_waited_for(disk: PlayedDisk) -> None:
    (disk.root / "bin/sleep").write_text("#!/bin/sh\n")
    (disk.root / "bin/sleep").chmod(0o755)
    disk.put("state/busy", "")
    assert disk.carry_out(disk.due("hold_packages")).returncode == 0
    assert disk.packages[META].startswith("hold|")


def test_versions_that_apt_does_not_know_yet_are_asked_for_once(disk: PlayedDisk) -> None:
    disk.offers("upstream")
    (disk.root / f"state/available/linux-image-{NEW}").unlink()
    assert disk.carry_out(disk.due("install_kernel")).returncode == 0


def test_an_older_version_is_installed_where_the_plan_says_so(disk: PlayedDisk) -> None:
    disk.put(f"state/packages/linux-tools-{NEW}", "install|7.0.0-1020.1|\n")
    disk.put(f"state/later/linux-tools-{NEW}", "")
    assert disk.carry_out(disk.due("install_kernel")).returncode == 0
    assert "--allow-downgrades" in disk.text("calls")


def test_a_menu_that_cannot_be_made_is_told_in_one_line(disk: PlayedDisk) -> None:
    disk.carry_out(disk.due("install_kernel"))
    disk.put("state/menu-fails", "")
    done = disk.carry_out(disk.due("kernel_words"))
    assert done.returncode == 70
    assert done.stderr.startswith("update-grub: expected it to end well, found status 1 and: /usr/sbin/grub-probe")
    (disk.root / "state/menu-fails").unlink()
    assert disk.carry_out(disk.due("kernel_words")).returncode == 0


DEPLOY = """
from tests.forked import everywhere
import facts.look, fleet.lock
everywhere(fleet.lock.PLACE, {root!r} + "/run-sparks")
everywhere(facts.look.as_root, lambda command, otherwise="": command)
import facts.boot, facts.kernels, operations.kernel, operations.kernel_script
for look in (facts.boot.GrubBoot, facts.kernels.InstalledKernels):
    look.command = lambda self, looked=look.command: looked(self, root={root!r})
operations.kernel_script.ROOT = {root!r}
from fleet.desired import DesiredSpark

desired = DesiredSpark.from_canonical({desired!r})
operations.kernel.cmdline(name="kernel command line", desired=desired)
operations.kernel.next_boot(name="next boot", desired=desired)
operations.kernel.pinned(name="kernel packages", desired=desired)
"""


@pytest.mark.nightly
def test_the_operations_in_a_run_of_pyinfra(disk: PlayedDisk) -> None:
    deploy = disk.root / "deploy.py"
    deploy.write_text(DEPLOY.format(root=str(disk.root), desired=DESIRED.canonical))

    def run() -> str:
        done = forked.ran(forked.pyinfra_command, "@local", deploy, "-y", environment=disk.environment)
        assert done.returncode == 0, done.stderr
        return done.stderr

    run()
    found = known(disk.seen().boot).next
    assert (found.is_pinned, found.entry is not None and "kho" in {each.name for each in found.entry.parameters}) == (
        True,
        True,
    )
    before = disk.text("calls")
    assert "No changes" in run()
    assert disk.text("calls") == before
