"""Shares on a played host: our lines of fstab and no others, mounted now, and what is used is never unmounted."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.host.decide import MOUNTS
from fleet.host.policy import HostPolicy
from tests.operations.played_host import PlayedHost

SOURCE, TARGET = "nas:/volume1/models", "/mnt/models"
POLICY = HostPolicy.model_validate({"mounts": {TARGET: {"source": SOURCE, "options": ("nconnect=8", "_netdev")}}})
OTHERS = "# /etc/fstab: made by hand\nUUID=1 /\text4\terrors=remount-ro 0 1\n//nas/x /mnt/smb cifs password=s3cr3t 0 0"
"""Without a newline at its end."""


class Nas(PlayedHost):
    """A host whose mounts are a list in a file; `mount` and `umount` change it, systemd reads fstab when it is told."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root, monkeypatch)
        self.write("/etc/fstab", OTHERS).chmod(0o640)
        self.write("/usr/sbin/mount.nfs", "")
        (root / "proc").mkdir()
        self.mounted()
        self.program("findmnt", f'[ "$1" = --fstab ] && exec /usr/bin/findmnt "$@"; cat {root}/mounts')
        made = '{"target": "\'"$1"\'", "source": "nas:/volume1/models", "fstype": "nfs4", "options": "rw,nconnect=8"}'
        self.program("mount", f'echo \'{{"filesystems": [{made}]}}\' > {root}/mounts; echo "mount $1" >> {root}/told')
        self.program("umount", f': > {root}/mounts; echo "umount $1" >> {root}/told')
        shown = f"cmp -s {root}/etc/fstab {root}/read && echo LoadState=loaded || echo LoadState=not-found"
        reload = f'cp {root}/etc/fstab {root}/read; echo "$1" >> {root}/told'
        self.program("systemctl", f'case "$1" in show) {shown};; daemon-reload) {reload};; esac')

    def mounted(self, *mounts: dict[str, Any]) -> None:
        """What findmnt shows."""
        plain = {"target": TARGET, "source": SOURCE, "fstype": "nfs4", "options": "rw,vers=4.2,nconnect=8"}
        self.write("/mounts", json.dumps({"filesystems": [plain | each for each in mounts]}) if mounts else "")

    def uses(self, path: str) -> None:
        folder = self.root / "proc/4121"
        (folder / "fd").mkdir(parents=True)
        (folder / "cwd").symlink_to(path)
        (folder / "comm").write_text("vllm\n")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nas:
    return Nas(tmp_path, monkeypatch)


def test_a_share_is_mounted_for_good_and_now(host: Nas) -> None:
    assert host.made_so(POLICY, MOUNTS) == ["write_fstab", "reload_systemd", "mount_now"]
    assert host.told == ["daemon-reload", f"mount {TARGET}"]
    text = host.read("/etc/fstab")
    assert text.startswith(OTHERS + "\n"), "every other line stays"
    assert f"\n{SOURCE} {TARGET} nfs4 nconnect=8,_netdev 0 0\n" in text
    assert (host.root / "etc/fstab").stat().st_mode & 0o777 == 0o640
    assert not list((host.root / "etc").glob(".fstab*"))
    assert host.made_so(POLICY, MOUNTS) == []


def test_a_share_that_is_only_mounted_now_is_made_to_last(host: Nas) -> None:
    host.mounted({})
    assert host.made_so(POLICY, MOUNTS) == ["write_fstab", "reload_systemd"]


def test_what_the_policy_has_no_more_leaves_fstab_as_it_was(host: Nas) -> None:
    host.made_so(POLICY, MOUNTS)
    assert host.made_so(HostPolicy(), MOUNTS) == ["write_fstab"]
    assert host.read("/etc/fstab") == OTHERS + "\n"


def test_a_line_of_somebody_else_that_nobody_can_read_keeps_ours_from_nothing(host: Nas) -> None:
    """findmnt 2.41.5 of Debian 13 warns of such a line and dies."""
    dies = 'for each; do case $each in */.fstab.*) grep -q "[^ ] # " "$each" && kill -SEGV $$;; esac; done'
    (host.bin / "findmnt").write_text((host.bin / "findmnt").read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{dies}\n"))
    text = OTHERS + "\nnas:/x /mnt/y nfs defaults # ours\n"
    host.write("/etc/fstab", text)
    assert "write_fstab" in host.made_so(POLICY, MOUNTS)
    assert host.read("/etc/fstab").startswith(text)
    assert host.made_so(HostPolicy(), MOUNTS) == ["write_fstab"]
    assert host.read("/etc/fstab") == text
    assert [each.name for each in (host.root / "etc").iterdir()] == ["fstab"]


def test_a_line_of_somebody_else_that_says_the_same_is_enough(host: Nas) -> None:
    host.write("/etc/fstab", f"{SOURCE}\t{TARGET} nfs _netdev,nconnect=8\n")
    host.mounted({})
    assert host.made_so(POLICY, MOUNTS) == ["reload_systemd"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"{SOURCE} {TARGET} nfs ro 0 0", SOURCE),
        (f"old:/x {TARGET} nfs nconnect=8,_netdev 0 0", "old:/x"),
        (f"{SOURCE} {TARGET} nfs nconnect=8,_netdev # mine", "a comment inside the line"),
    ],
)
def test_another_line_for_the_place_is_refused_by_its_number(host: Nas, line: str, found: str) -> None:
    host.write("/etc/fstab", f"# one\n{line}\n")
    (said,) = host.refusals(POLICY, MOUNTS)
    assert said.endswith(f"found {found} by /etc/fstab line 2 [fstab_conflict]")
    assert host.told == []


def test_what_is_used_is_not_unmounted(host: Nas) -> None:
    host.mounted({"source": "old:/models"})
    host.uses(f"{TARGET}/qwen")
    (said,) = host.refusals(POLICY, MOUNTS)
    assert said.endswith("found old:/models (nfs4), used by pid 4121 (vllm) [mount_busy]")
    assert host.read("/etc/fstab") == OTHERS


def test_what_nobody_uses_is_mounted_anew(host: Nas) -> None:
    host.mounted({"source": "old:/models"})
    host.uses("/mnt/models-of-another")
    assert host.made_so(POLICY, MOUNTS) == ["write_fstab", "reload_systemd", "unmount", "mount_now"]
    assert host.told == ["daemon-reload", f"umount {TARGET}", f"mount {TARGET}"]


@pytest.mark.parametrize(("options", "due"), [("rw,vers=4.2,nconnect=4", True), ("rw,vers=4.2,nconnect=8", False)])
def test_options_that_the_kernel_tells_count(host: Nas, options: str, due: bool) -> None:
    host.mounted({"options": options})
    assert ("unmount" in host.made_so(POLICY, MOUNTS)) is due


def test_connections_are_those_of_the_first_share_of_a_server(host: Nas) -> None:
    """nfs(5): another share of the server uses the connections that are there, whatever it asks for."""
    host.mounted({"options": "rw,nconnect=4"}, {"target": "/mnt/other", "source": "nas:/volume2", "options": "rw"})
    assert host.made_so(POLICY, MOUNTS) == ["write_fstab", "reload_systemd"]


def test_a_share_that_is_mounted_on_the_first_look_waits_for_it(host: Nas) -> None:
    mount = {"source": SOURCE, "options": ("x-systemd.automount",)}
    policy = HostPolicy.model_validate({"mounts": {TARGET: mount}})
    kinds = [each.kind for each in host.outcomes(policy, MOUNTS) if not hasattr(each, "code")]
    assert kinds == ["write_fstab", "reload_systemd", "mount_now"]
    host.mounted({"source": "systemd-1", "fstype": "autofs", "options": "rw"})
    assert host.made_so(policy, MOUNTS) == ["write_fstab", "reload_systemd"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda host: (host.root / "usr/sbin/mount.nfs").unlink(), "[nfs_missing]"),
        (lambda host: host.write("/etc/fstab", "# sparks: end\n"), "expected both marks of ours, or none, found 1"),
    ],
)
def test_what_stands_in_the_way_is_refused(host: Nas, change: Any, said: str) -> None:
    change(host)
    assert said in host.refusals(POLICY, MOUNTS)[0]
