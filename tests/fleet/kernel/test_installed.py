"""What is installed: dpkg's states, releases in their order, DKMS, and what moves a kernel by itself."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.kernel.dkms import DkmsModule, parse_dkms
from fleet.kernel.files import KernelFiles, parse_installed
from fleet.kernel.kho import Kho, parse_kho
from fleet.kernel.packages import Package, Packages, parse_packages
from fleet.kernel.running import parse_command_line
from fleet.kernel.upgrades import parse_upgrades
from fleet.kernel.versions import flavour, is_newer, release_order
from tests.conftest import CaseText

VERSIONS = st.from_regex(r"[0-9]{1,2}([.+~a-b-][0-9]{0,3}){0,3}", fullmatch=True).filter(
    lambda each: not each.endswith("-")
)


def as_asked(text: str) -> str:
    """Lines of the cases in the order of fields that our fact asks for."""
    rows = (line.split("|") for line in text.splitlines() if line)
    return "".join("|".join((row[4], row[1], row[2], row[3], "")) + "\n" for row in rows)


def test_every_state_of_dpkg(case: CaseText) -> None:
    found = parse_packages(as_asked(case("110", "input.txt")))
    assert [each.release or each.name for each in found.packages if each.is_installed] == [
        "6.14.0-1015-nvidia-64k", "6.17.0-1008-nvidia", "6.17.0-1029-nvidia", "6.17.0-1031-nvidia",
        "linux-image-nvidia-hwe-24.04", "6.17.0-1028-nvidia",
    ]  # fmt: skip
    assert [each.release for each in found.broken] == [
        "6.17.0-1032-nvidia",
        "6.17.0-1033-nvidia",
        "7.0.0-1019-nvidia-64k",
    ]
    assert [each.release for each in found.packages if each.is_held] == ["6.17.0-1031-nvidia", None]
    assert found.words("linux-image-6.17.0-1030-nvidia") == found.words("nobody") == "absent"
    assert found.words("linux-image-6.17.0-1031-nvidia") == "6.17.0-1031.31, held"
    assert [each.kind for each in found.packages][-1] == "image-unsigned"


def test_a_meta_is_no_kernel_and_an_unsigned_image_is_one(case: CaseText) -> None:
    rows = case("113", "input.dpkg.txt").splitlines()
    depends = case("113", "input.depends.txt").strip()
    lines = [f"install ok installed|{row.split('|')[1]}|{row.split('|')[2]}|arm64|" for row in rows if row]
    found = parse_packages("\n".join([*lines[:-1], lines[-1] + depends]))
    assert [each.release for each in found.images] == ["6.11.0-1014-nvidia", "6.17.0-1021-nvidia", "6.17.0-1026-nvidia"]
    (meta,) = found.movers
    assert (meta.name, meta.pulls) == ("linux-image-nvidia-hwe-24.04", ("6.17.0-1029-nvidia",))
    running = case("113", "input.uname.txt").strip()
    assert running not in [each.release for each in found.images]


@pytest.mark.parametrize(
    ("name", "kind", "release"),
    [
        ("linux-modules-nvidia-580-open-7.0.0-1019-nvidia-64k", "modules-nvidia-580-open", "7.0.0-1019-nvidia-64k"),
        ("linux-headers-6.12.118+deb13-amd64", "headers", "6.12.118+deb13-amd64"),
        ("linux-image-6.1.0-13-amd64", "image", "6.1.0-13-amd64"),
        ("linux-nvidia-64k-hwe-24.04", None, None),
        ("linux-libc-dev", None, None),
        ("linux-headers-nvidia-6.17", None, None),
    ],
)
def test_what_a_name_says(name: str, kind: str | None, release: str | None) -> None:
    found = Package(name=name, version="1", want="install", status="installed")
    assert (found.kind, found.release) == (kind, release)


def test_a_dependency_that_is_no_kernel_makes_no_meta() -> None:
    line = (
        "install ok installed|linux-tools-common|6.17|all|hwdata, lib (>= 6.17.0-1), linux-image-6.17.0-9-a (= 1) | x"
    )
    (found,) = parse_packages(line).packages
    assert found.pulls == ("6.17.0-9-a",)
    with pytest.raises(ValueError, match="expected a status of three words"):
        parse_packages("ok|x")


def test_releases_from_old_to_new(case: CaseText) -> None:
    releases = case("112", "input.txt").split()
    assert sorted(releases, key=release_order) == [
        "6.9.0-1-nvidia", "6.17.0-999-nvidia", "6.17.0-1008-nvidia", "6.17.0-1031-nvidia", "7.0.0-1019-nvidia-64k",
    ]  # fmt: skip
    own = [each for each in releases if flavour(each) == "nvidia"]
    assert max(own, key=release_order) == "6.17.0-1031-nvidia"
    assert release_order("odd") < release_order("6.1.0")
    assert flavour("6.12.118+deb13-amd64") == "+deb13-amd64"


def test_a_backport_is_older_than_what_it_is_of() -> None:
    assert is_newer("7.0.0-1019.19", "7.0.0-1019.19~24.04.1")
    assert is_newer("7.0.0-1019.19~24.04.2", "7.0.0-1019.19~24.04.1")
    assert is_newer("1:1", "2")
    assert not is_newer("1.0-0", "1.0")


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(VERSIONS, VERSIONS), min_size=8, max_size=8))
def test_dpkg_says_the_same(pairs: list[tuple[str, str]]) -> None:
    script = "".join(f"dpkg --compare-versions '{a}' gt '{b}'; echo $?\n" for a, b in pairs)
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert [line == "0" for line in done.stdout.split()] == [is_newer(*pair) for pair in pairs]


def test_dkms_of_both_formats(case: CaseText) -> None:
    new, old = parse_dkms(case("115", "input.v3.txt")), parse_dkms(case("115", "input.v2.txt"))
    assert [(each.name, each.version, each.state) for each in old.modules] == [
        ("nvidia", "580.95.05", "installed"), ("mlnx-ofed-kernel", "25.07", "added"),
    ]  # fmt: skip
    assert old.modules[0].kernel == "6.11.0-1016-nvidia"
    assert [each.state for each in new.modules] == ["installed", "built", "added", "installed", "installed", "broken"]
    assert new.modules[3] == DkmsModule(
        name="i915-sriov-dkms", version="2025.03.26", kernel="6.11.11-2-pve", architecture="x86_64", state="installed",
        note="WARNING! Diff between built and installed module!",
    )  # fmt: skip
    assert [each.note for each in new.modules if each.note and "original" in each.note] == ["original_module exists"]
    assert len(new.notes) == 3
    assert new.lacking("7.0.0-1019-nvidia-64k") == ("i915-sriov-dkms", "nvidia")
    assert new.lacking("6.17.0-1031-nvidia") == ("i915-sriov-dkms",)


def test_a_kernel_is_bootable_with_all_three_parts() -> None:
    pairs = ("image=", "initrd=10", "modules=", "package=linux-image-unsigned-1.2.3-a")
    text = "".join(f"1.2.3-a\t{pair}\n" for pair in pairs) + "9.0.0\timage=\n"
    found = parse_installed(text)
    assert [each.release for each in found.kernels] == ["1.2.3-a", "9.0.0"]
    assert found.of("1.2.3-a").is_bootable
    assert found.of("9.0.0").missing == "initramfs, modules"
    assert found.of("8") == KernelFiles(release="8")
    with pytest.raises(ValueError, match="expected a release, a tab"):
        parse_installed("odd")


@pytest.mark.parametrize(
    ("built_in", "default", "line", "on"),
    [
        (True, True, "quiet", True),
        (True, True, "kho=off", False),
        (True, True, "kho=off kho=on", True),
        (True, False, "quiet", False),
        (True, False, "kho", True),
        (False, False, "kho=on", False),
        (None, False, "quiet", None),
        (None, False, "kho=n", False),
    ],
)
def test_kho_is_on_by_what_was_built_and_by_what_is_said(
    built_in: bool | None, default: bool, line: str, on: bool | None
) -> None:
    assert Kho(is_built_in=built_in, is_default=default).is_on(parse_command_line(line)) is on


def test_kho_of_a_configuration() -> None:
    text = "config=there\nCONFIG_KEXEC_HANDOVER=y\nCONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT=y\ncrash=268435456\n"
    assert parse_kho(text) == Kho(is_built_in=True, is_default=True, crash_bytes=268435456)
    assert parse_kho("config=absent\n") == Kho(is_built_in=None)
    with pytest.raises(ValueError, match="kho"):
        parse_kho("")


def test_what_moves_a_kernel_by_itself() -> None:
    text = (
        "timer=apt-daily-upgrade.timer enabled\ntimer=fwupd-refresh.timer \nprogram=yes\nreboot=yes\n"
        "reboot-package=linux-base\nreboot-package=linux-base\n"
        'APT::Periodic::Unattended-Upgrade "1";\nUnattended-Upgrade::Allowed-Origins:: "Ubuntu:noble";\n'
        'Unattended-Upgrade::Package-Blacklist:: "linux-";\nUnattended-Upgrade::Package-Blacklist:: "(";\n'
    )
    found = parse_upgrades(text)
    assert found.is_active
    assert found.moves("grub-common")
    assert not found.moves("linux-image-nvidia-hwe-24.04")
    assert (found.origins, found.reboot_packages) == (("Ubuntu:noble",), ("linux-base",))
    assert found.timers["fwupd-refresh.timer"] == "not-found"
    assert not parse_upgrades("program=no\nreboot=no\n").is_active
    assert not found.replaced(every_days="0").moves("grub-common")
    with pytest.raises(ValueError, match="upgrades"):
        parse_upgrades("program=yes\n")


def test_no_package_is_an_answer() -> None:
    assert parse_packages("") == Packages(packages=())
