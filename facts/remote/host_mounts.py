"""Look at a host's mounts, or at how its files lie, and print one JSON line; {"error": …} where it cannot.

No mount point is entered, for one whose server is gone would hold the look up; of options no secret leaves the host.
"""

import json
import os
import re
import subprocess

AWAY = ("/proc", "/sys", "/dev", "/run", "/snap", "/var/lib/docker", "/var/lib/containers", "/var/snap")
LOCAL = ("ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "zfs", "f2fs")
SECRET = re.compile(r"(?i)(pass|pwd|cred|secret|token|key|cookie|user|login|auth)")


class Blind(Exception):
    """Why something could not be seen."""


def run(*command, failing=False):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=110)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Blind(f"{command[0]}: {type(error).__name__}") from error
    if done.returncode != 0 and not failing:
        said = done.stderr.strip().splitlines() or ["failed"]
        raise Blind(f"{command[0]}: {said[-1][:200]}")
    return done


def plain(options):
    """Options without the values of secrets."""
    pairs = (each.partition("=") for each in options.split(","))
    return ",".join(f"{name}=<redacted>" if found and SECRET.search(name) else name + found + value
                    for name, found, value in pairs)  # fmt: skip


def is_away(target):
    return any(target == each or target.startswith(f"{each}/") for each in AWAY)


def shown(filesystems):
    """Without what the system mounts for itself; what lies below such a mount stays, for it may be anybody's."""
    for each in filesystems:
        below = list(shown(each.get("children", ())))
        if is_away(each["target"]):
            yield from below
        else:
            kept = {name: each[name] for name in ("target", "source", "fstype")}
            yield {**kept, "options": plain(each["options"]), "children": below}


def mounted():
    said = run("findmnt", "--json", "--output", "TARGET,SOURCE,FSTYPE,OPTIONS", failing=True).stdout
    return list(shown(json.loads(said)["filesystems"])) if said.strip() else []


def fstab(text, marks):
    """The lines that are no comments, by their fields, and where our marks stand."""
    lines, found = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() in marks:
            found.append(number)
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            fields[3:4] = [plain(each) for each in fields[3:4]]
            lines.append({"number": number, "fields": fields[:7], "ours": len(found) == 1})
    return lines, found


def every(filesystems):
    for each in filesystems:
        yield each
        yield from every(each["children"])


def spaces(root, filesystems):
    for each in {each["target"]: each for each in every(filesystems)}.values():
        if each["fstype"] in LOCAL:
            found = os.statvfs(os.path.join(root, each["target"].lstrip("/")))
            yield {"target": each["target"], "size_bytes": found.f_blocks * found.f_frsize, "inodes": found.f_files,
                   "available_bytes": found.f_bavail * found.f_frsize, "inodes_available": found.f_favail}  # fmt: skip


def held(root, target):
    """Processes that stand below a target, run from there or have a file open there; no link of theirs is followed."""
    for pid in sorted(filter(str.isdigit, os.listdir(os.path.join(root, "proc"))), key=int):
        base = os.path.join(root, "proc", pid)
        try:
            links = [f"{base}/{name}" for name in ("cwd", "root", "exe")]
            links += [f"{base}/fd/{each}" for each in os.listdir(f"{base}/fd")]
            places = [os.readlink(each) for each in links if os.path.islink(each)]
            if any(place == target or place.startswith(f"{target}/") for place in places):
                with open(f"{base}/comm", encoding="utf-8", errors="replace") as file:
                    yield {"pid": int(pid), "program": file.read().strip()}
        except OSError:
            continue


def units(asked):
    pairs = list(zip(asked["targets"], asked["units"], strict=True))
    for target, unit in pairs:
        said = run("systemctl", "show", unit, "--property", "LoadState,NeedDaemonReload").stdout
        found = dict(line.partition("=")[::2] for line in said.splitlines())
        yield {
            "target": target,
            "load_state": found["LoadState"],
            "needs_reload": found.get("NeedDaemonReload") == "yes",
        }


def mounts(root, asked):
    filesystems = mounted()
    path = os.path.join(root, "etc/fstab")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines, marks = fstab(file.read(), asked["marks"])
    except FileNotFoundError:
        lines, marks = [], []
    there = {each["target"] for each in every(filesystems) if each["fstype"] != "autofs"}
    return {
        "mounts": filesystems,
        "fstab": lines,
        "fstab_marks": marks,
        "fstab_is_file": not os.path.islink(path),
        "has_nfs": any(os.path.exists(os.path.join(root, each)) for each in ("sbin/mount.nfs", "usr/sbin/mount.nfs")),
        "spaces": list(spaces(root, filesystems)),
        "units": list(units(asked)),
        "holders": {each: list(held(root, each)) for each in asked["targets"] if each in there},
    }


def fragmentation(root, asked):
    path = os.path.realpath(asked["path"])
    filesystem = run("findmnt", "--noheadings", "--output", "FSTYPE", "--target", path).stdout.split()
    found = {"path": path, "filesystem": filesystem[-1] if filesystem else "unknown"}
    if found["filesystem"] != "ext4":
        return found
    if not os.path.exists(path):
        raise Blind(f"{path}: expected a file or a directory, found none")
    done = run("e4defrag", "-c", path, failing=True)
    return {**found, "out": done.stdout, "err": done.stderr}


LOOKS = {"mounts": mounts, "fragmentation": fragmentation}


def main(text):
    asked = json.loads(text)
    try:
        print(json.dumps(LOOKS[asked["what"]](asked["root"] or "/", asked)))
    except (Blind, OSError) as blind:
        print(json.dumps({"error": str(blind)}))
