"""Plays `iptables`, `iptables-restore` and `systemctl` on a directory: enough of each to run the unit as systemd would.

Run as `played_transit.py DIRECTORY PROGRAM ARGUMENT…`. The filter table is `table.json`: each chain's rules by name.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

UNIT = "sparks-transit.service"


class Table:
    """The filter table, kept in a file."""

    def __init__(self, root: Path) -> None:
        self.path = root / "table.json"
        self.chains: dict[str, list[str]] = json.loads(self.path.read_text())

    def save(self) -> None:
        self.path.write_text(json.dumps(self.chains))

    def do(self, verb: str, *arguments: str) -> int:
        if verb == "-V":
            print("iptables v1.8.11 (nf_tables)")
        elif verb == "-S":
            return self.show(*arguments)
        elif verb in ("-F", "-X"):
            return self.empty_or_remove(verb, *arguments)
        else:
            return self.change(verb, arguments[0], list(arguments[1:]))
        return 0

    def show(self, only: str | None = None) -> int:
        for name in self.chains if only is None else [only]:
            if name not in self.chains:
                return 1
            print("-P FORWARD DROP" if name == "FORWARD" else f"-N {name}")
            print("".join(f"-A {name} {rule}\n" for rule in self.chains[name]), end="")
        return 0

    def empty_or_remove(self, verb: str, name: str) -> int:
        if verb == "-F":
            self.chains[name] = []
        elif self.chains[name] or any(f"-j {name}" in rule for rules in self.chains.values() for rule in rules):
            return 1
        else:
            del self.chains[name]
        return 0

    def change(self, verb: str, name: str, rest: list[str]) -> int:
        if name not in self.chains:
            return 1
        at = int(rest.pop(0)) - 1 if rest[0].isdigit() else 0
        rule = " ".join(rest)
        if verb == "-A":
            self.chains[name].append(rule)
        elif verb == "-I":
            self.chains[name].insert(at, rule)
        elif rule in self.chains[name]:
            self.chains[name].remove(rule)
        else:
            return 1
        return 0

    def restore(self) -> int:
        for line in sys.stdin.read().splitlines():
            if line.startswith(":"):
                self.chains[line[1:].split()[0]] = []
            elif line.startswith("-") and self.do(*line.split()):
                return 2
        return 0


def lines_of(unit: Path, key: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.read_text().splitlines() if line.startswith(f"{key}=")]


def start(unit: Path) -> int:
    if subprocess.run(
        shlex.split(lines_of(unit, "ExecCondition")[0]), stdout=subprocess.DEVNULL, check=False
    ).returncode:
        return 0
    for before in lines_of(unit, "ExecStartPre"):
        subprocess.run(shlex.split(before), check=True)
    given = "\n".join(lines_of(unit, "StandardInputText")) + "\n"
    return subprocess.run(shlex.split(lines_of(unit, "ExecStart")[0]), input=given, text=True, check=False).returncode


def systemctl(root: Path, verb: str, *units: str) -> int:
    with (root / "verbs").open("a") as verbs:
        verbs.write("" if verb == "show" else f"{verb}\n")
    unit, link = root / "units" / UNIT, root / "units" / "docker.service.wants" / UNIT
    if verb == "show":
        shown = {"LoadState": "loaded", "ActiveState": "inactive", "NeedDaemonReload": "no"}
        shown["WantedBy"] = "docker.service" if link.is_symlink() else ""
        print("\n".join("".join(f"{key}={value}\n" for key, value in shown.items()) for _ in units), end="")
    elif verb == "enable":
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(unit)
    elif verb == "disable":
        link.unlink(missing_ok=True)
    elif verb == "start":
        return start(unit)
    return 0


def main(root: Path, program: str, *arguments: str) -> int:
    plain = [each for each in arguments if each not in ("-w", "10", "--noflush", "--quiet")]
    if program == "systemctl":
        return systemctl(root, plain[0], *[each for each in plain[1:] if each.endswith(".service")])
    if os.path.exists(root / "broken"):
        return 4
    table = Table(root)
    status = table.restore() if program == "iptables-restore" else table.do(*plain)
    if status == 0:
        table.save()
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
