"""Ask systemd about a host, one thing for each call, and print one JSON line; {"error": …} where it cannot.

Of configuration files only lines with the keys that were asked for leave the host.
"""

import glob
import json
import os
import pwd
import shlex
import subprocess
import time

DIRECTORIES = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
LOGIN = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")
TIMESYNC = ("org.freedesktop.timesync1", "/org/freedesktop/timesync1", "org.freedesktop.timesync1.Manager")
PROPERTIES = (
    "Id,LoadState,ActiveState,UnitFileState,FragmentPath,DropInPaths,NeedDaemonReload,MainPID,TriggeredBy,OOMPolicy,"
    "OOMScoreAdjust,Type,RemainAfterExit"
)


class Blind(Exception):
    """Why something could not be seen."""


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def run(*command, failing=False):
    """What a program says; one that fails is no answer, but where it says so by its status."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=40)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Blind(f"{command[0]} {command[1]}: {type(error).__name__}") from error
    if done.returncode != 0 and not failing:
        said = done.stderr.strip().splitlines() or ["failed"]
        raise Blind(f"{command[0]} {command[1]}: {said[-1][:200]}")
    return done.stdout


def pairs(text):
    return dict(line.partition("=")[::2] for line in text.splitlines())


def shown(names, properties):
    """Blocks in the order in which they were asked for."""
    if not names:
        return []
    blocks = run("systemctl", "show", *names, "--property", properties).rstrip("\n").split("\n\n")
    if len(blocks) != len(names):
        raise Blind(f"systemctl show: expected {len(names)} units, found {len(blocks)}")
    return [pairs(block) for block in blocks]


def conf_lines(root, paths, keys):
    for path in paths:
        for number, line in enumerate((read(os.path.join(root, path.lstrip("/"))) or "").splitlines(), start=1):
            key, found, value = line.strip().partition("=")
            if found and key.strip() in keys:
                yield {"path": path, "number": number, "key": key.strip(), "value": value.strip()}


def conf_paths(root, name):
    """The file itself and its drop-ins, in the order in which systemd reads them (systemd-system.conf(5))."""
    places = [f"/{each}/systemd/{name}" for each in DIRECTORIES]
    own = [each for each in places if os.path.exists(os.path.join(root, each.lstrip("/")))]
    found = {}
    for directory in DIRECTORIES:
        for path in glob.glob(os.path.join(root, directory, f"systemd/{name}.d/*.conf")):
            found.setdefault(os.path.basename(path), "/" + os.path.relpath(path, root))
    return own[:1] + [found[each] for each in sorted(found)]


def oom_score(root, pid):
    said = read(os.path.join(root, f"proc/{pid}/oom_score_adj")) if pid else None
    return None if said is None else int(said)


def unit(root, name, block, active):
    paths = [block.get("FragmentPath", ""), *block.get("DropInPaths", "").split()]
    pid = int(block.get("MainPID") or 0)
    return {
        "name": name, "id": block.get("Id", name), "load_state": block["LoadState"],
        "file_state": block.get("UnitFileState", ""), "active_state": block["ActiveState"],
        "is_momentary": block.get("Type") == "oneshot" and block.get("RemainAfterExit") != "yes",
        "fragment": paths[0], "triggers": [each for each in block.get("TriggeredBy", "").split() if each in active],
        "needs_reload": block.get("NeedDaemonReload") == "yes", "main_pid": pid, "oom_score": oom_score(root, pid),
        "oom_policy": block.get("OOMPolicy", ""), "oom_score_adjust": int(block.get("OOMScoreAdjust") or 0),
        "oom_lines": list(conf_lines(root, [each for each in paths if each], ("OOMPolicy", "OOMScoreAdjust"))),
    }  # fmt: skip


def units(root, asked):
    blocks = shown(asked["names"], PROPERTIES)
    triggers = sorted({each for block in blocks for each in block.get("TriggeredBy", "").split()})
    states = zip(triggers, shown(triggers, "ActiveState"), strict=True)
    active = {name for name, block in states if block["ActiveState"] in ("active", "activating")}
    return {"units": [unit(root, name, block, active) for name, block in zip(asked["names"], blocks, strict=True)]}


def watchdogs(root):
    for path in sorted(glob.glob(os.path.join(root, "sys/class/watchdog/watchdog*"))):
        said = {name: (read(os.path.join(path, name)) or "").strip() for name in ("identity", "timeout", "state")}
        timeout = int(said["timeout"]) if said["timeout"].isdigit() else None
        yield {"name": os.path.basename(path), "identity": said["identity"], "timeout_seconds": timeout,
               "state": said["state"]}  # fmt: skip


def manager(root, asked):
    shown = pairs(run("systemctl", "show", "--property", "RuntimeWatchdogUSec"))
    return {
        "default_target": run("systemctl", "get-default").strip(),
        "watchdog_seconds": shown["RuntimeWatchdogUSec"],
        "devices": list(watchdogs(root)),
        "lines": list(conf_lines(root, conf_paths(root, "system.conf"), ("RuntimeWatchdogSec",))),
    }


def is_user(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def logins(root, asked):
    running = pairs(run("systemctl", "show", "systemd-logind.service", "--property", "ActiveState"))
    said = run("busctl", "get-property", *LOGIN, "RemoveIPC").split() if running["ActiveState"] == "active" else None
    if said is not None and said[:1] != ["b"]:
        raise Blind("busctl: expected a truth for RemoveIPC, found another answer")
    folder = os.path.join(root, "var/lib/systemd/linger")
    return {
        "removes_ipc": None if said is None else said[1] == "true",
        "lingering": sorted(os.listdir(folder)) if os.path.isdir(folder) else [],
        "users": {name: is_user(name) for name in asked["users"]},
        "lines": list(conf_lines(root, conf_paths(root, "logind.conf"), ("RemoveIPC",))),
    }


def guard(root, asked):
    pid = int(pairs(run("systemctl", "show", asked["unit"], "--property", "MainPID")).get("MainPID") or 0)
    argv = (read(os.path.join(root, f"proc/{pid}/cmdline")) or "").split("\0")[:-1] if pid else []
    said = read(os.path.join(root, asked["state"].lstrip("/")))
    try:
        sample = json.loads(said) if said else None
    except ValueError:
        sample = None
    return {"argv": argv, "sample": sample, "age_seconds": time.time() - sample["at"] if sample else None}


def timesyncd(root, asked, active):
    """It is asked only where it runs: who asks the bus for one that does not would start it."""
    said = shlex.split(run("busctl", "get-property", *TIMESYNC, "SystemNTPServers")) if active else None
    if said is not None and said[:1] != ["as"]:
        raise Blind("busctl: expected a list for SystemNTPServers, found another answer")
    lines = list(conf_lines(root, conf_paths(root, "timesyncd.conf"), ("NTP",)))
    return {"running": None if said is None else said[2:], "lines": lines}


def words(root, path, name):
    """The arguments of every line of chrony's with this directive."""
    lines = map(str.split, (read(os.path.join(root, path.lstrip("/"))) or "").splitlines())
    return [line[1:] for line in lines if line[:1] == [name]]


def chrony(root, asked, active):
    """Sources by the names they were given (`-N`, chrony 4.0); clocks of the host itself are none.

    With `-a` also those whose name has no address yet: chrony looks for it after it has been told of them.
    """
    rows = [line.split(",") for line in run("chronyc", "-N", "-c", "sources", "-a").splitlines()] if active else []
    conf, own = "/etc/chrony/chrony.conf", asked["own"]
    more = glob.glob(os.path.join(root, "etc/chrony/conf.d/*.conf"))
    read_too = [each.rstrip("/") for path in (conf, *("/" + os.path.relpath(each, root) for each in more))
                for line in words(root, path, "sourcedir") for each in line]  # fmt: skip
    return {
        "running": sorted({row[2] for row in rows if row[0] in ("^", "=")}) if active else None,
        "own": [line[0] for line in words(root, own, "server") if line],
        "reads_ours": read(os.path.join(root, conf.lstrip("/"))) is None or os.path.dirname(own) in read_too,
    }


def time_servers(root, asked):
    state = pairs(run("systemctl", "show", asked["unit"], "--property", "ActiveState"))["ActiveState"]
    told = {"timesyncd": timesyncd, "chrony": chrony}[asked["service"]](root, asked, state == "active")
    return {"service": asked["service"], **told}


LOOKS = {"guard": guard, "units": units, "manager": manager, "logins": logins, "time_servers": time_servers}


def main(text):
    asked = json.loads(text)
    try:
        print(json.dumps(LOOKS[asked["what"]](asked["root"] or "/", asked)))
    except Blind as blind:
        print(json.dumps({"error": str(blind)}))
