"""Look at what makes a host forward between its rails and print one JSON line; what could not be read is {"error": …}.

Of sysctl files only the lines about forwarding leave the host.
"""

import glob
import hashlib
import json
import os
import pwd
import re
import stat
import subprocess

SYSCTL_DIRECTORIES = ("etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d")
FORWARDING = re.compile(r"\s*-?\s*net[./]ipv4[./](ip_forward|conf[./][^=\s]+[./](forwarding|rp_filter))\s*=")


class Blind(Exception):
    """Why something could not be seen."""


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Blind(f"{path}: {error.strerror}") from error


def own_file(path):
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        owner = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        owner = str(found.st_uid)
    digest = None
    if stat.S_ISREG(found.st_mode):
        with open(path, "rb") as file:
            digest = "sha256:" + hashlib.sha256(file.read()).hexdigest()
    return {"content_digest": digest, "mode": stat.S_IMODE(found.st_mode), "owner": owner}


def sysctl_files(root):
    """In systemd's order: by name; of one name the first directory wins, and an empty file hides the others."""
    found = {}
    for directory in SYSCTL_DIRECTORIES:
        for path in glob.glob(os.path.join(root, directory, "*.conf")):
            found.setdefault(os.path.basename(path), path)
    for name in sorted(found):
        lines = [line.strip() for line in (read(found[name]) or "").splitlines() if FORWARDING.match(line)]
        if lines:
            yield {"path": "/" + os.path.relpath(found[name], root), "lines": lines}


def settings(root, interfaces):
    keys = ["net/ipv4/ip_forward", "net/ipv4/conf/default/rp_filter"]
    keys += [f"net/ipv4/conf/{each}/{name}" for each in interfaces for name in ("forwarding", "rp_filter")]
    found = {key: read(os.path.join(root, "proc/sys", key)) for key in keys}
    return {key: value.strip() for key, value in found.items() if value is not None}


def shown(*names):
    command = ["systemctl", "show", *names, "--property", "LoadState,NeedDaemonReload,WantedBy"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=40)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Blind(f"systemctl show: {type(error).__name__}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["failed"]
        raise Blind(f"systemctl show: {said[-1][:200]}")
    return [dict(line.partition("=")[::2] for line in block.splitlines()) for block in done.stdout.split("\n\n")]


def unit(asked):
    """systemd is asked only where something of the unit lies on disk."""
    file, is_linked = own_file(asked["unit_path"]), os.path.islink(asked["wants_path"])
    if file is None and not is_linked:
        return {"file": None, "is_linked": False, "need_daemon_reload": False}
    own, docker = shown(asked["unit"], "docker.service")
    is_known = docker["LoadState"] != "loaded" or "docker.service" in own.get("WantedBy", "").split()
    stale = own["NeedDaemonReload"] == "yes" or (is_linked and not is_known)
    return {"file": file, "is_linked": is_linked, "need_daemon_reload": stale}


def look(asked):
    root = asked["root"] or "/"
    return {
        "now": settings(root, asked["interfaces"]),
        "sysctl": own_file(asked["sysctl_path"]),
        "unit": unit(asked),
        "sysctl_files": list(sysctl_files(root)),
    }


def main(text):
    try:
        print(json.dumps(look(json.loads(text))))
    except Blind as blind:
        print(json.dumps({"error": str(blind)}))
