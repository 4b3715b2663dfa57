"""Look at what files say of a host, one thing for each call, and print one JSON line; {"error": …} where it cannot.

Of other people's files only what was asked for by name leaves the host.
"""

import ctypes
import fnmatch
import glob
import hashlib
import json
import os
import pwd
import re
import stat
import struct

SYSCTL_DIRECTORIES = ("etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d")
ASSIGNMENT = re.compile(r"\s*(?P<minus>-?)\s*(?P<key>[^\s=#;-][^\s=]*)\s*(?:(?P<set>=)\s*(?P<value>.*?))?\s*$")


class Blind(Exception):
    """Why something could not be seen."""


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Blind(f"{path}: {error.strerror}") from error


def owner(found):
    try:
        return pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        return str(found.st_uid)


def own_file(root, path):
    found = os.lstat(path)
    shown = {"path": "/" + os.path.relpath(path, root), "mode": stat.S_IMODE(found.st_mode), "owner": owner(found)}
    if stat.S_ISLNK(found.st_mode):
        return {**shown, "link": os.readlink(path)}
    if stat.S_ISREG(found.st_mode):
        with open(path, "rb") as file:
            shown["content_digest"] = "sha256:" + hashlib.sha256(file.read()).hexdigest()
    return shown


def files(root, asked):
    """Everything that lies under the names of ours."""
    found = {path for each in asked["patterns"] for path in glob.glob(os.path.join(root, each.lstrip("/")))}
    return {"files": [own_file(root, path) for path in sorted(found)]}


def canonical(key):
    """A setting below /proc/sys: where the first separator is a dot, dots and slashes change places."""
    separators = [character for character in key if character in "./"]
    return key.translate(str.maketrans("./", "/.")) if separators[:1] == ["."] else key


def is_about(pattern, keys):
    parts = pattern.split("/")
    for each in (key.split("/") for key in keys):
        if len(parts) == len(each) and all(map(fnmatch.fnmatchcase, each, parts)):
            return True
    return False


def assignments(path, keys):
    """The lines about these settings; a line without a value only counts with its `-`."""
    for number, line in enumerate((read(path) or "").splitlines(), start=1):
        found = ASSIGNMENT.match(line)
        if found and (found["set"] or found["minus"]) and is_about(canonical(found["key"]), keys):
            yield {"number": number, "key": canonical(found["key"]), "value": found["value"]}


def sysctl_files(root):
    """In systemd's order: by name; of one name the first directory wins, and an empty file hides the others."""
    found = {}
    for directory in SYSCTL_DIRECTORIES:
        for path in glob.glob(os.path.join(root, directory, "*.conf")):
            found.setdefault(os.path.basename(path), path)
    return [found[name] for name in sorted(found)]


def sysctls(root, asked):
    keys = asked["keys"]
    now = {key: read(os.path.join(root, "proc/sys", key)) for key in keys}
    at_boot, apart = sysctl_files(root), os.path.join(root, "etc/sysctl.conf")
    is_linked = any(os.path.realpath(path) == os.path.realpath(apart) for path in at_boot)
    shown = [{"path": "/" + os.path.relpath(path, root), "lines": list(assignments(path, keys))} for path in at_boot]
    lone = [] if is_linked else list(assignments(apart, keys))
    aside = [{"path": "/etc/sysctl.conf", "lines": lone}] if lone else []
    return {"now": now, "files": [each for each in shown if each["lines"]], "aside": aside}


def huge_pages(root, asked):
    found = {name: read(os.path.join(root, asked["directory"], name)) for name in asked["names"]}
    return {"page_size": os.sysconf("SC_PAGESIZE"), "files": found}


def governors(root, asked):
    """CPUs that are offline have no such directory, or one that cannot be read."""
    cpus = []
    for path in glob.glob(os.path.join(root, asked["directory"], "cpu[0-9]*/cpufreq")):
        said = {"governor": read(f"{path}/scaling_governor"), "available": read(f"{path}/scaling_available_governors")}
        if said["governor"] is not None:
            cpu = int(os.path.basename(os.path.dirname(path)).removeprefix("cpu"))
            cpus.append({"cpu": cpu, **{name: value or "" for name, value in said.items()}})
    return {"cpus": sorted(cpus, key=lambda each: each["cpu"])}


def max_error():
    """Microseconds by which the kernel's clock may be off; nothing is set (adjtimex(2), struct timex of 64 bits)."""
    timex = ctypes.create_string_buffer(512)
    if ctypes.CDLL(None, use_errno=True).adjtimex(timex) < 0:
        raise Blind(f"adjtimex: {os.strerror(ctypes.get_errno())}")
    return struct.unpack_from("l", timex, 24)[0]


def clock(root, asked):
    zone = os.path.join(root, "etc/localtime")
    return {
        "max_error_seconds": max_error() / 1e6,
        "is_local": (read(os.path.join(root, "etc/adjtime")) or "").splitlines()[2:3] == ["LOCAL"],
        "timezone": os.readlink(zone).rpartition("zoneinfo/")[2] if os.path.islink(zone) else "",
    }


def swap_head(path):
    """The page size for which a swap file was made, at whose end its mark is (mkswap(8)); None where it is no swap."""
    with open(path, "rb") as file:
        start = file.read(65536)
    return next((size for size in (4096, 16384, 65536) if start[size - 10 : size] == b"SWAPSPACE2"), None)


def filesystem_of(root, folder):
    """The type of what is mounted at or above a folder; of several at one place the last counts."""
    found = ("", "")
    for line in (read(os.path.join(root, "proc/self/mountinfo")) or "").splitlines():
        left, _, right = line.partition(" - ")
        target = left.split()[4]
        if (folder == target or folder.startswith(target.rstrip("/") + "/")) and len(target) >= len(found[0]):
            found = (target, right.split()[0])
    return found[1]


def swap(root, asked):
    path = os.path.join(root, asked["path"].lstrip("/"))
    folder = os.path.dirname(path)
    file = None
    if os.path.isfile(path) and not os.path.islink(path):
        found = os.stat(path)
        file = {"size_bytes": found.st_size, "mode": stat.S_IMODE(found.st_mode), "page_size_bytes": swap_head(path)}
    room = os.statvfs(folder) if os.path.isdir(folder) else None
    state = {
        "file": file, "page_size_bytes": os.sysconf("SC_PAGESIZE"),
        "filesystem": filesystem_of(root, os.path.dirname(asked["path"])),
        "available_bytes": room.f_bavail * room.f_frsize if room else 0,
    }  # fmt: skip
    return {"swaps": read(os.path.join(root, "proc/swaps")) or "Filename", "state": state}


LOOKS = {
    "clock": clock,
    "swap": swap,
    "files": files,
    "sysctls": sysctls,
    "huge_pages": huge_pages,
    "governors": governors,
}


def main(text):
    asked = json.loads(text)
    try:
        print(json.dumps(LOOKS[asked["what"]](asked["root"] or "/", asked)))
    except Blind as blind:
        print(json.dumps({"error": str(blind)}))
