"""Plays `systemctl`, `busctl` and their kin on a JSON file: enough of each for what a host policy asks and does.

Units that the file does not have are not found. What changes something is written down in `told`. A script's calls are
written down by a program on its path, and played after it: only `show` it answers, with the text of `shown`.
"""

import json
from pathlib import Path
from typing import Any

PLAIN = {"LoadState": "loaded", "ActiveState": "inactive", "UnitFileState": "disabled", "FragmentPath": "",
         "DropInPaths": "", "NeedDaemonReload": "no", "MainPID": "0", "TriggeredBy": "", "OOMPolicy": "stop",
         "OOMScoreAdjust": "0", "Type": "simple", "RemainAfterExit": "no"}  # fmt: skip


class Systemd:
    """The state in the file, and what each program does to it."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "systemd.json"
        self.state: dict[str, Any] = json.loads(self.path.read_text())

    @property
    def units(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = self.state["units"]
        return found

    def save(self, *told: str) -> None:
        self.path.write_text(json.dumps(self.state))
        with (self.root / "told").open("a") as file:
            file.write(" ".join(told) + "\n")

    def shown(self, name: str) -> dict[str, str]:
        if name not in self.units:
            return {"Id": name, "LoadState": "not-found", "ActiveState": "inactive", "UnitFileState": ""}
        shown = {"Id": name} | PLAIN | self.units[name]
        own = self.root / f"etc/systemd/system/{name}.d/90-sparks-host.conf"
        if own.exists():
            shown["DropInPaths"] = f"{shown['DropInPaths']} /{own.relative_to(self.root)}".strip()
            read = self.units[name].get("read") == own.read_text()
            lines = [line.partition("=") for line in own.read_text().splitlines() if not line.startswith("#")]
            shown |= {key: value for key, found, value in lines if found} if read else {"NeedDaemonReload": "yes"}
        return shown

    def show(self, arguments: list[str]) -> int:
        at = arguments.index("--property")
        names, wanted = arguments[:at], arguments[at + 1].split(",")
        if not names:
            print(f"{wanted[0]}={self.state[wanted[0]]}")
        elif "--value" in arguments:
            print(self.shown(names[0]).get(wanted[0], ""))
        else:
            print("\n\n".join("\n".join(f"{k}={v}" for k, v in self.shown(n).items() if k in wanted) for n in names))
        return 0

    def reload(self) -> int:
        for name, unit in self.units.items():
            own = self.root / f"etc/systemd/system/{name}.d/90-sparks-host.conf"
            unit["read"] = own.read_text() if own.exists() else ""
        self.save("daemon-reload")
        return 0

    def change(self, verb: str, name: str) -> int:
        unit = self.units[name]
        if verb in ("enable", "disable"):
            unit["UnitFileState"] = f"{verb}d"
        elif verb == "mask":
            unit |= {"UnitFileState": "masked", "LoadState": "masked"}
        elif verb == "unmask" and unit.get("removed"):
            del self.units[name]
        elif verb == "unmask":
            unit |= {"UnitFileState": "disabled", "LoadState": "loaded"} if unit.get("LoadState") == "masked" else {}
        elif verb == "kill":
            self.state["RemoveIPC"] = self._logind().strip() not in ("no", "false")
        elif verb in ("start", "restart", "stop"):
            if name == "systemd-timesyncd.service":
                self._reread()
            unit["ActiveState"] = "inactive" if verb == "stop" else "active"
        else:
            return 0
        self.save(verb, name)
        return 0

    def systemctl(self, arguments: list[str]) -> int:
        verb, *rest = [each for each in arguments if each != "--quiet"]
        if verb == "show":
            return self.show(rest)
        if verb == "get-default":
            print(self.state["default"])
            return 0
        if verb == "set-default":
            self.state["default"] = rest[0]
            self.save(verb, *rest)
            return 0
        return self.reload() if verb == "daemon-reload" else self.change(verb, rest[-1])

    def _logind(self) -> str:
        """What logind's files say, as far as they are played."""
        found = sorted((self.root / "etc/systemd/logind.conf.d").glob("*.conf"))
        return found[-1].read_text().rpartition("RemoveIPC=")[2] if found else "yes"

    @property
    def asked(self) -> list[str]:
        """Whom the service that keeps the time asks."""
        found: list[str] = self.state.setdefault("asked", ["pool.ntp.org"])
        return found

    def _reread(self) -> None:
        """timesyncd's files add to each other, an empty value empties; chrony keeps what its other files say."""
        conf = sorted((self.root / "etc/systemd/timesyncd.conf.d").glob("*.conf"))
        sources = sorted((self.root / "etc/chrony/sources.d").glob("*.sources"))
        self.state["asked"] = ["pool.ntp.org"] if sources or not conf else []
        for line in "".join(each.read_text() for each in (*conf, *sources)).splitlines():
            if line.startswith("NTP="):
                added = line.removeprefix("NTP=").split()
                self.state["asked"] = self.state["asked"] + added if added else []
            elif line.startswith("server "):
                self.state["asked"].append(line.split()[1])

    def chronyc(self, arguments: list[str]) -> int:
        if "sources" in arguments and "reload" not in arguments:
            told = [each for each in self.asked if "-a" in arguments or each not in self.state.get("unresolved", ())]
            print("\n".join(["#,*,PPS0,0,4,377,1,0,0,0", *(f"^,?,{each},0,6,0,1,0,0,0" for each in told)]))
            return 0
        self._reread()
        self.save("chronyc", *arguments)
        return 0

    def loginctl(self, arguments: list[str]) -> int:
        verb, user = arguments
        folder = self.root / "var/lib/systemd/linger"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / user).touch()
        self.save(verb, user)
        return 0

    def busctl(self, arguments: list[str]) -> int:
        if arguments[-1] == "SystemNTPServers":
            print(f"as {len(self.asked)} {' '.join(map(json.dumps, self.asked))}")
            return 0
        if arguments[0] == "get-property":
            print(f"b {str(self.state['RemoveIPC']).lower()}")
            return 0
        verb, *_, name, _, value = arguments
        self.state[name] = f"{int(value) // 1_000_000}s"
        self.save(verb, name, value)
        return 0


def main(root: str, program: str, *arguments: str) -> int:
    found: int = getattr(Systemd(Path(root)), program)(list(arguments))
    return found
