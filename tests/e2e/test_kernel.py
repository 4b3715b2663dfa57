"""Kernels on virtual Sparks that boot by GRUB: pinned, upgraded in vain, tried, returned from, and hung.

Real GRUB, dpkg, apt and three real kernels; x86-64 with a BIOS in place of arm64 with EFI.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import ROOT, wait_until
from tests.e2e.kernels import METAS, SAVED, Kernels

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.grub, pytest.mark.timeout(7200)]

ODD = """\
# by hand, at night
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX odd.one='a b'  odd.two=\\"c\\""	# keep
GRUB_CMDLINE_LINUX_DEFAULT=$GRUB_CMDLINE_LINUX_DEFAULT" odd.three"
"""
"""Quotes in quotes, two spaces, a tab before a comment, and a value that begins without a quote."""
BY_HAND = "/etc/default/grub.d/10-by-hand.cfg"
NEWER = "99.0-1"


@pytest.fixture(scope="module")
def fresh(grub: "Lab", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernels]:
    """As after `up`: the stock kernel runs and is the default."""
    grub.reset()
    yield Kernels(grub, tmp_path_factory.mktemp("kernels"))
    grub.reset()


@pytest.fixture(scope="module")
def pinned(fresh: Kernels) -> Kernels:
    """The running kernel is pinned, and a word added, on a Spark whose command line somebody has edited by hand."""
    fresh.on(f"mkdir -p /etc/default/grub.d; cat > {BY_HAND} <<'END'\n{ODD}END\nupdate-grub 2>/dev/null")
    fresh.wants(fresh.policy(fresh.stock, fresh.rt, add=["kho=off"]))
    fresh.converge(fresh.name, "kernel")
    return fresh


def test_a_kernel_that_is_pinned_needs_nothing_the_second_time(pinned: Kernels) -> None:
    again = pinned.sparks("plan", pinned.name, "--scope", "kernel")
    assert again.returncode == 0, again.stdout + again.stderr
    held = set(pinned.on("apt-mark showhold").split())
    assert {f"linux-image-{pinned.stock}", *METAS} <= held
    shown = pinned.shown()
    assert (shown["running"], shown["default"], shown["is_pinned"]) == (pinned.stock, pinned.stock, True)
    assert (shown["fallback"], shown["fallback_missing"], shown["one_shot"]) == (pinned.rt, "", None)


def test_what_somebody_wrote_by_hand_is_as_it_was_and_on_the_command_line(pinned: Kernels) -> None:
    assert pinned.on(f"cat {BY_HAND}") == ODD
    (line, *_) = pinned.on(f"grep -F '/boot/vmlinuz-{pinned.stock} ' /boot/grub/grub.cfg").splitlines()
    words = line.split("/boot/", 1)[1]
    assert "odd.one='a b'" in words
    assert " odd.three" in words
    assert words.split().count("kho=off") == 1


@pytest.mark.nightly
def test_no_upgrade_moves_what_is_pinned(pinned: Kernels) -> None:
    """Not by hand, not by the daily job: the packages are there, newer and trusted."""
    before = pinned.on("dpkg-query -W 'linux-image-*'"), pinned.on(SAVED)
    pinned.on(_repository(), seconds=1200)
    assert "kept back" in pinned.on("apt-get -s -o APT::Get::Show-User-Simulation-Note=no upgrade; true")
    forced = pinned.on("apt-get install -y linux-image-amd64 2>&1; echo status $?")
    assert "status 100" in forced
    daily = pinned.on("unattended-upgrade -v 2>&1; echo status $?", seconds=1200)
    assert "linux-image-amd64" in daily
    assert "status 0" in daily
    assert (pinned.on("dpkg-query -W 'linux-image-*'"), pinned.on(SAVED)) == before
    assert "99.0" not in pinned.on("ls /boot")
    again = pinned.sparks("plan", pinned.name, "--scope", "kernel")
    assert again.returncode == 0, again.stdout + again.stderr


def _repository() -> str:
    """A script that makes a repository in a folder of the machine: newer kernels, which only a hold keeps out."""
    release = NEWER.replace("-1", "-amd64")
    control = "Package: {name}\\nVersion: {version}\\nArchitecture: amd64\\nMaintainer: lab <lab@example.net>\\n" \
        "{depends}Description: a newer kernel\\n"  # fmt: skip
    image = control.format(name=f"linux-image-{release}", version=NEWER, depends="")
    meta = control.format(name="linux-image-amd64", version=NEWER, depends=f"Depends: linux-image-{release}\\n")
    return f"""
set -e
mkdir -p /opt/repo/image/DEBIAN /opt/repo/image/boot /opt/repo/meta/DEBIAN
printf '{image}' > /opt/repo/image/DEBIAN/control
printf '{meta}' > /opt/repo/meta/DEBIAN/control
echo kernel > /opt/repo/image/boot/vmlinuz-{release}
cd /opt/repo
for each in image meta; do dpkg-deb -b $each $each.deb >/dev/null; rm -r $each; done
for each in image meta; do
    dpkg-deb -f $each.deb; echo "Filename: ./$each.deb"; echo "Size: $(stat -c %s $each.deb)"
    echo "SHA256: $(sha256sum < $each.deb | cut -d' ' -f1)"; echo
done > Packages
{{ echo "Origin: Lab"; echo "Label: Lab"; echo "Suite: lab"; echo "Date: $(date -Ru)"; echo "SHA256:"
  echo " $(sha256sum < Packages | cut -d' ' -f1) $(stat -c %s Packages) Packages"; }} > Release
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/opt/repo ./' > /etc/apt/sources.list.d/lab.list
echo 'Unattended-Upgrade::Origins-Pattern {{ "origin=Lab"; }};' > /etc/apt/apt.conf.d/99lab
apt-get update >/dev/null
"""


@pytest.fixture(scope="module")
def serving(grub: "Lab", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernels]:
    """A Spark with rails to the other one and a model that is served, all as desired; its fallback is the default."""
    grub.reset()
    site = Kernels(grub, tmp_path_factory.mktemp("serving"))
    site.wants(site.policy(site.rt, site.stock, add=["kho=off"]), whole=True)
    other = grub.state.machines[1].name
    site.converge(other, "fabric")
    site.converge("small", "serve")
    site.converge(site.name, "kernel")
    assert site.shown()["default"] == site.stock
    yield site
    grub.reset()


@pytest.mark.nightly
def test_a_kernel_without_rdma_does_not_qualify_and_the_spark_returns(serving: Kernels) -> None:
    serving.wants(serving.policy(serving.cloud, serving.stock), whole=True)
    serving.converge(serving.name, "kernel")
    saved = serving.on(SAVED)
    done = serving.trial("--settle", "0")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no such device [trial_rdma_pin]" in done.stdout + done.stderr
    assert (serving.running, serving.on(SAVED), serving.pending) == (serving.stock, saved, "")
    assert serving.receipt()[-1]["data"]["outcome"] == "failed"
    assert [each["data"]["operation"] for each in serving.receipt() if each["event"] == "operation_begun"] == [
        "drain", "one-shot boot", "qualify", "return",
    ]  # fmt: skip


@pytest.mark.nightly
def test_a_kernel_that_hangs_is_left_by_a_power_cycle(serving: Kernels) -> None:
    """The initramfs is cut to one byte: the kernel finds no disk, and stands still in a panic."""
    serving.wants(serving.policy(serving.rt, serving.stock, add=["kho=off"]), whole=True)
    serving.converge(serving.name, "kernel")
    path = f"/boot/initrd.img-{serving.rt}"
    serving.on(f"cp {path} /root/initrd; printf x > {path}; sync")
    done = serving.trial("--boot-timeout", "120")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "cut its power and give it back" in done.stdout
    console = serving.lab.directory / serving.name / "serial.log"
    wait_until(lambda: b"Kernel panic" in console.read_bytes()[-20000:], 600, "the kernel to hang", pause=1)
    serving.lab.power_cycle(serving.name)
    assert (serving.running, serving.pending) == (serving.stock, "")
    serving.on(f"cp /root/initrd {path}; sync")
    shown = serving.shown()
    assert (shown["running"], shown["default"], shown["next_boot"]) == (serving.stock,) * 3


@pytest.mark.nightly
def test_interrupted_while_it_drains_nothing_was_changed(serving: Kernels) -> None:
    asked = serving.sparks("kernel", "trial", serving.name)
    digest = asked.stderr.rsplit("plan sha256:", 1)[1].split(" ", 1)[0]
    said = serving.folder / "said"
    with said.open("wb") as stream:
        child = subprocess.Popen(
            [sys.executable, "-c", "from lab.cli import main; main()", "kernel", "trial", serving.name,
             "--quiet-seconds", "600", "--yes", "--plan", f"sha256:{digest}", "-i", serving.inventory],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
        )  # fmt: skip
        wait_until(lambda: b": drain" in said.read_bytes(), 900, "the drain", pause=1)
        child.send_signal(signal.SIGINT)
        status = child.wait(300)
    assert status == 130, said.read_text()
    assert "nothing was changed" in said.read_text()
    assert (serving.running, serving.pending) == (serving.stock, "")


@pytest.mark.nightly
def test_a_kernel_that_qualifies_becomes_the_default_and_stays_it(serving: Kernels) -> None:
    serving.wants(serving.policy(serving.rt, serving.stock, add=["kho=off"]), whole=True)
    done = serving.trial()
    assert done.returncode == 0, done.stdout + done.stderr
    assert serving.running == serving.rt
    shown = serving.shown()
    assert (shown["default"], shown["is_pinned"], shown["one_shot"]) == (serving.rt, True, None)
    again = serving.trial()
    assert again.returncode == 0, again.stdout + again.stderr
    assert "found_as_desired" in again.stdout
    serving.lab.power_cycle(serving.name)
    assert serving.running == serving.rt
    verified = serving.sparks("receipts", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
