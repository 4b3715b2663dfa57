"""One played host for `operations/remote/guard.sh`: directories of its own, a stand-in systemd, netplan and nmcli."""

import os
import stat
import subprocess
from pathlib import Path

from fleet.guard import GuardedChange, ToUp, Undoing
from fleet.netplan.document import NetplanDocument
from operations.guard_script import Trial

NEW, OLD, TEXT = "90-NM-new.yaml", "50-mgmt.yaml", "network: {new: 'a'}\n"
STEP = GuardedChange(
    subject="a enP7s7", before="x", after="y", reason="z",
    documents=(NetplanDocument(path=f"/etc/netplan/{NEW}", text=TEXT, interface="enP7s7", uuid="u-new"),),
    removed=(f"/etc/netplan/{OLD}",),
    profiles=(ToUp(uuid="u-new", interface="enP7s7"),),
    undoing=(Undoing(interface="enP7s7", uuid="u-old", was_up=True),),
    window_seconds=60,
)  # fmt: skip
BEFORE = {f"etc/{OLD}": "the old one\n", f"etc/{NEW}": "an older version\n", "etc/01-x.yaml": "x\n"}
AFTER = {f"etc/{NEW}": TEXT, "etc/01-x.yaml": "x\n"}

# Each stand-in notes what it was asked. Units are files below `units`: what they would run.
_STANDINS = {
    "systemctl": r"""
echo "systemctl $*" >> "$P/said"
case "$*" in
    *"is-active "*) eval "unit=\${$#}"
        [ -e "$P/units/$unit" ] && state=active || state=inactive
        case "$*" in --quiet*) ;; *) echo $state ;; esac
        [ $state = active ] ;;
    "stop "*) rm -f "$P/units/$2" ;;
    show*) if [ -e "$P/dead" ]; then echo; else echo 1min; fi ;;
    "--no-block start "*) : > "$P/asked" ;;
esac
""",
    "systemd-run": r"""
echo "systemd-run $*" >> "$P/said"
[ ! -e "$P/refuse" ] || { echo "Failed to start transient unit" >&2; exit 1; }
for word; do case $word in --unit=*) unit=${word#--unit=} ;; --on-active=*) unit=$unit.timer ;; esac; done
case "$*" in *--on-active*) unit=${unit%.timer}.timer ;; esac
[ ! -e "$P/units/$unit" ] || exit 1
echo "$*" > "$P/units/$unit"
""",
    "netplan": r"""
echo "netplan $*" >> "$P/said"
[ ! -e "$P/bad" ]
""",
    "nmcli": r"""
echo "nmcli $*" >> "$P/said"
case "$*" in *"connection up uuid $(cat "$P/broken" 2>/dev/null || echo none) "*) exit 4 ;; esac
""",
    "sleep": "",
}
_FAULTY = ("cp", "mv", "rm", "sync", "cmp", "mkdir")
"""Programs at each call of which the script may be killed."""


class Played:
    """A host's directories, and the script on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("etc", "units", "bin", "home"):
            (root / name).mkdir()
        for name, text in _STANDINS.items():
            self._program(name, text)

    def _program(self, name: str, text: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{text.strip()}\n")
        path.chmod(0o755)

    def run(self, script: str) -> "subprocess.CompletedProcess[str]":
        """A script as root's shell would run it there."""
        environment = {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "P": str(self.root)}
        environment |= {"SSH_CONNECTION": "10.0.0.2 1 10.0.0.1 22", "SUDO_USER": "spark"}
        return subprocess.run(
            ["sh", "-c", f"set -eu\n{script}"], env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    def arm(self, step: GuardedChange) -> Trial:
        """A guard that is armed; its trial has not begun."""
        trial = Trial(step)
        done = self.run(trial.arm)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return trial

    def tried(self, step: GuardedChange) -> Trial:
        """A guard whose trial stands."""
        trial = self.arm(step)
        self.run(trial.call("try"))
        (self.root / "units" / "sparks-guard-trial").unlink()
        assert self.state(trial) == "tried"
        return trial

    def state(self, trial: Trial) -> str:
        """How the host's guard says it stands."""
        return self.run(trial.call("state")).stdout.strip()

    def kill_at(self, number: int) -> None:
        """From now on the script dies by SIGKILL at that call of a program that changes files; 0: never."""
        (self.root / "calls").write_text("0")
        for name in _FAULTY:
            real = next(f"{d}/{name}" for d in ("/usr/bin", "/bin") if Path(d, name).exists())
            count = f'n=$(($(/bin/cat "$P/calls") + 1)); echo $n > "$P/calls"; [ $n != {number} ] || kill -9 $PPID'
            self._program(name, f'{count}\nexec {real} "$@"')

    @property
    def calls(self) -> int:
        """How many such calls there were since `kill_at`."""
        return int((self.root / "calls").read_text())

    def files(self, *places: str) -> dict[str, str]:
        """Every file below these directories with its text."""
        found = [path for place in places for path in (self.root / place).rglob("*") if path.is_file()]
        return {str(path.relative_to(self.root)): path.read_text() for path in found}

    def mode(self, path: str) -> int:
        """The permission bits of a file."""
        return stat.S_IMODE((self.root / path).stat().st_mode)

    @property
    def said(self) -> list[str]:
        """What the stand-ins were asked since the last time, without questions."""
        path = self.root / "said"
        lines = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return [line for line in lines if "is-active" not in line and " show " not in line]

    @property
    def is_armed(self) -> bool:
        """Does the timer run?"""
        return (self.root / "units" / "sparks-guard.timer").exists()
