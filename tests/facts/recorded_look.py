"""A look at this machine of which every program that it starts, and every file that its Python opens, is written down.

Programs are found in a folder of recorders: each writes down its arguments and runs the real one, or says nothing
where this machine has none, so that a script goes on. Python on the way loads a hook (PEP 578) by `sitecustomize`.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RECORDER = """\
#!/bin/sh
name=${0##*/}
between=$(printf '\\037') said=$name
for word in "$@"; do said=$said$between$word; done
printf '%s\\036' "$said" >> "$LOOK_LOG"
[ "$name$*" = id-u ] && { echo 0; exit 0; }
[ "$name" = python3 ] && exec "$LOOK_PYTHON" "$@"
PATH=$LOOK_PATH; export PATH
command -v "$name" > /dev/null || exit 0
PATH=$LOOK_RECORDERS; export PATH
exec "$(PATH=$LOOK_PATH command -v "$name")" "$@"
"""
HOOK = """\
import os, sys
_log = os.open(os.environ["LOOK_EVENTS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_KINDS = ("os.", "shutil.", "tempfile.", "socket.bind", "socket.sendto", "http.client.send", "ctypes.")
_READS = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr", "os.putenv", "os.unsetenv",
          "os.killpg")
def _hook(event, arguments):
    said = None
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
        said = "open for writing: %s" % (arguments[0],)
    elif event == "http.client.send":
        said = "http " + bytes(arguments[1]).split(b" ")[0].decode("ascii", "replace")
    elif event.startswith(_KINDS) and event not in _READS:
        said = "%s %r" % (event, arguments)
    if said is not None:
        os.write(_log, said.encode("utf-8", "replace") + b"\\n")
sys.addaudithook(_hook)
"""
NAMES = (
    "apt-cache", "apt-config", "apt-mark", "awk", "basename", "cat", "chronyc", "cmp", "cp", "curl", "cut", "date",
    "dd", "df", "dirname", "dkms", "dpkg", "dpkg-query", "e4defrag", "efibootmgr", "env", "find", "findmnt",
    "firewall-cmd", "fwupdmgr", "getconf", "grep", "grub-editenv", "grub-mkconfig", "grub-reboot", "head", "hostname",
    "ibv_devinfo", "id", "install", "ip", "iptables", "iptables-legacy", "iptables-nft", "iptables-save", "journalctl",
    "kill", "ln", "loginctl", "ls", "lsblk", "lsmod", "lspci", "mkdir", "modinfo", "modprobe", "mokutil", "mount", "mv",
    "needrestart", "netplan", "nft", "nmcli", "nvidia-smi", "nvme", "od", "pgrep", "ps", "python3", "rdma",
    "readlink", "realpath", "rm", "sed", "sha256sum", "sleep", "sort", "ss", "stat", "sudo", "swapon", "sync", "sysctl",
    "systemctl", "systemd-analyze", "tail", "tee", "test", "timedatectl", "timeout", "touch", "tr", "umount", "uname",
    "uniq", "wc", "xargs", "zgrep",
)  # fmt: skip
"""Programs that a look may start, and those that it must not: what is not here is not found at all, and fails."""


@dataclass(frozen=True)
class Recorded:
    """What one look did."""

    started: tuple[tuple[str, ...], ...]
    """Every program with its arguments."""
    events: tuple[str, ...]
    """What its Python did that reading does not need."""
    out: str
    error: str


def recorded(command: str, folder: Path, stdin: str = "") -> Recorded:
    """Carry a look's command out in an empty folder, as root would."""
    bin, home = folder / "bin", folder / "home"
    _recorders(bin, folder / "python")
    home.mkdir(exist_ok=True)
    log, events = folder / "log", folder / "events"
    log.write_bytes(b"")
    events.write_bytes(b"")
    environment = {
        "PATH": str(bin), "LOOK_PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "LOOK_RECORDERS": str(bin),
        "LOOK_LOG": str(log), "LOOK_EVENTS": str(events), "PYTHONPATH": str(folder / "python"), "HOME": str(home),
        "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1", "LOOK_PYTHON": sys.executable,
    }  # fmt: skip
    done = subprocess.run(["/bin/sh", "-c", command], cwd=home, env=environment, input=stdin, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    started = tuple(tuple(each.split("\x1f")) for each in log.read_text(errors="replace").split("\x1e")[:-1])
    return Recorded(started, tuple(events.read_text(errors="replace").splitlines()), done.stdout, done.stderr)


def _recorders(bin: Path, python: Path) -> None:
    if bin.exists():
        return
    bin.mkdir()
    python.mkdir()
    (bin / "sh").symlink_to("/bin/sh")
    recorder = bin / ".recorder"
    recorder.write_text(RECORDER)
    recorder.chmod(0o755)
    for name in NAMES:
        (bin / name).symlink_to(recorder)
    (python / "sitecustomize.py").write_text(HOOK)


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder with its content, mode and times: equal where nobody wrote."""
    found = {}
    for path in sorted(folder.rglob("*")):
        known = path.lstat()
        content = path.read_bytes().hex() if path.is_file() and not path.is_symlink() else ""
        link = os.readlink(path) if path.is_symlink() else ""
        found[str(path.relative_to(folder))] = json.dumps([content, link, known.st_mode, known.st_mtime_ns])
    return found
