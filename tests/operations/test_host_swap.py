"""A swap file and logins on a played host; mkswap is this machine's own."""

import os
from pathlib import Path

import pytest

from fleet.host.decide import LOGINS, SWAP
from fleet.host.policy import HostPolicy
from fleet.host.swap import SwapPolicy
from fleet.host.swap_step import swap_files
from tests.operations.played_host import PlayedHost

HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
POLICY = HostPolicy(swap=SwapPolicy(size_gib=1))
FILE = "/sparks-swap.img"
PAGE = os.sysconf("SC_PAGESIZE")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    played = PlayedHost(tmp_path, monkeypatch)
    played.write("/proc/swaps", f"{HEAD}/swap.img file 8388604 0 -2\n")
    played.write("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /mnt rw - tmpfs t rw\n")
    used = "printf '%s file 1048572 0 -2\\n' " + FILE
    played.program("swapon", f"{used} >> {tmp_path}/proc/swaps")
    played.program("fallocate", 'truncate -s "$2" "$3"')
    return played


def test_a_swap_file_is_made_whole_then_lasting_then_used(host: PlayedHost) -> None:
    assert host.made_so(POLICY, SWAP) == ["make_swap", "write_host_file", "write_host_file", "use_swap"]
    file = host.root / FILE.lstrip("/")
    assert (file.stat().st_size, file.stat().st_mode & 0o777) == (2**30, 0o600)
    with file.open("rb") as opened:
        assert opened.read(PAGE).endswith(b"SWAPSPACE2"), "the real mkswap has written it"
    assert host.made_so(POLICY, SWAP) == []


def test_a_file_that_was_made_for_another_page_size_is_made_again(host: PlayedHost) -> None:
    host.made_so(POLICY, SWAP)
    host.write("/proc/swaps", HEAD)
    with (host.root / FILE.lstrip("/")).open("r+b") as file:
        file.seek(PAGE - 10)
        file.write(bytes(10))
        file.seek(65536 - 10)
        file.write(b"SWAPSPACE2")
    (step, *_) = host.outcomes(POLICY, SWAP)
    assert "1.0 GiB for pages of 64 KiB, mode 0600 -> 1 GiB for pages of 4 KiB" in str(step)
    assert host.made_so(POLICY, SWAP) == ["make_swap", "use_swap"]


def test_a_boot_that_does_not_use_it_is_mended(host: PlayedHost) -> None:
    host.made_so(POLICY, SWAP)
    for file in swap_files(POLICY):
        (host.root / file.path.lstrip("/")).unlink()
    assert host.made_so(POLICY, SWAP) == ["write_host_file", "write_host_file"]
    assert host.made_so(HostPolicy(), SWAP) == ["remove_host_file", "remove_host_file"]


def test_the_unit_has_the_name_that_systemd_wants() -> None:
    assert swap_files(POLICY)[0].path == r"/etc/systemd/system/sparks\x2dswap.img.swap"


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (SwapPolicy(size_gib=2), "found 1.0 GiB for pages of 4 KiB, mode 0600, in use [swap_in_use]"),
        (SwapPolicy(size_gib=1, path="/mnt/sparks-swap.img"), "found tmpfs [swap_filesystem]"),
    ],
)
def test_what_cannot_be_swap_is_refused(host: PlayedHost, policy: SwapPolicy, said: str) -> None:
    host.made_so(POLICY, SWAP)
    (found,) = host.refusals(HostPolicy(swap=policy), SWAP)
    assert found.endswith(said)


def test_a_disk_without_room_is_refused(host: PlayedHost) -> None:
    (found,) = host.refusals(HostPolicy(swap=SwapPolicy(size_gib=1024)), SWAP)
    assert found.endswith("GiB [no_room]")


KEPT = HostPolicy(remove_ipc=False, linger=("root",))


@pytest.fixture
def logins(host: PlayedHost) -> PlayedHost:
    host.systemd(**{"systemd-logind.service": {"ActiveState": "active"}})
    return host


def test_a_logout_leaves_an_engine_alone_for_good_and_now(logins: PlayedHost) -> None:
    kinds = ["write_host_file", "reload_logind", "enable_linger"]
    assert logins.made_so(KEPT, LOGINS) == kinds
    assert logins.told == ["kill systemd-logind.service", "enable-linger root"]
    assert "RemoveIPC=no" in logins.read("/etc/systemd/logind.conf.d/90-sparks-host.conf")


def test_an_older_way_to_say_the_same_later_is_no_conflict(logins: PlayedHost) -> None:
    path = "/etc/systemd/logind.conf.d/99-mine.conf"
    logins.write(path, "[Login]\nRemoveIPC=false\n")
    assert logins.made_so(KEPT, LOGINS)
    logins.write(path, "[Login]\nRemoveIPC=yes\n")
    (said,) = logins.refusals(KEPT, LOGINS)
    assert said == f"a RemoveIPC at boot: expected no, found yes by {path} line 2 [conf_overridden]"


def test_a_user_that_does_not_exist_is_refused(logins: PlayedHost) -> None:
    (said,) = logins.refusals(HostPolicy(linger=("nobody-of-this",)), LOGINS)
    assert said == "a user nobody-of-this: expected a user of that name, found none [user_missing]"
