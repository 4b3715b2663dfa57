"""Plays `systemctl` for one unit in a directory: enough of it to start a stand-in as systemd would.

Run as `played_systemctl.py DIRECTORY VERB …`; the unit's process gets the environment of the files on disk as
of the last daemon-reload, and nothing else.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fleet.ollama.units import effective_environment
from tests.virtual.standin import PROGRAM

UNIT = "ollama.service"


def on_disk(root: Path) -> list[str]:
    paths = [root / UNIT, *sorted((root / f"{UNIT}.d").glob("*.conf"))]
    return [path.read_text() for path in paths]


def is_alive(pid: int) -> bool:
    try:
        return pid > 0 and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def show(root: Path, state: dict[str, object]) -> None:
    pid = int(str(state["pid"]))
    alive = is_alive(pid)
    environment = effective_environment(*json.loads(str(state["loaded"])))
    properties = {
        "LoadState": state["load_state"],
        "ActiveState": "active" if alive else "inactive",
        "SubState": "running" if alive else "dead",
        "UnitFileState": state["enabled"],
        "NeedDaemonReload": "no" if json.loads(str(state["loaded"])) == on_disk(root) else "yes",
        "MainPID": pid if alive else 0,
        "ExecMainStartTimestampMonotonic": pid,
        "User": "root",
        "ExecStart": "{ path=/usr/local/bin/ollama ; argv[]=/usr/local/bin/ollama serve ; }",
        "FragmentPath": root / UNIT,
        "Environment": " ".join(f'"{name}={value}"' for name, value in environment.items()),
    }
    residents = {"LoadState": "loaded", "UnitFileState": state["residents"], "NeedDaemonReload": "no"}
    blocks = ("".join(f"{name}={value}\n" for name, value in each.items()) for each in (properties, residents))
    print("\n".join(blocks), end="")


def restart(state: dict[str, object]) -> None:
    pid = int(str(state["pid"]))
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            pass
    environment = effective_environment(*json.loads(str(state["loaded"])))
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-S", str(PROGRAM), "serve"]
    process = subprocess.Popen(
        command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    state["pid"] = process.pid


def main(root: Path, verb: str, unit: str = UNIT) -> None:
    path = root / "state.json"
    first = {"pid": 0, "enabled": "disabled", "residents": "disabled", "load_state": "loaded"}
    first["loaded"] = json.dumps(on_disk(root))
    state = json.loads(path.read_text()) if path.exists() else first
    with (root / "verbs").open("a") as verbs:
        verbs.write("" if verb == "show" else f"{verb}\n" if unit == UNIT else f"{verb}-residents\n")
    if verb == "show":
        show(root, state)
    elif verb == "daemon-reload":
        state["loaded"] = json.dumps(on_disk(root))
    elif verb == "enable":
        state["enabled" if unit == UNIT else "residents"] = "enabled"
    elif verb == "restart":
        restart(state)
    path.write_text(json.dumps(state))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *[each for each in sys.argv[2:] if not each.startswith("-")][:2])
