"""Look at kernel modules and at paths that were asked for, and print one JSON line; {"error": …} where it cannot.

Of modprobe.d only options that were asked for leave the host.
"""

import glob
import grp
import json
import os
import pwd
import stat
import subprocess

DIRECTORIES = ("etc", "run", "usr/local/lib", "usr/lib", "lib")


class Blind(Exception):
    """Why something could not be seen."""


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def parameters(root, module, names):
    folder = os.path.join(root, "sys/module", module, "parameters")
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            yield name, {"value": read(path), "is_writable": bool(os.stat(path).st_mode & stat.S_IWUSR)}


def options(root, asked):
    """Every option that modprobe.d gives a module, by files' names; of one name the first directory wins."""
    found = {}
    for directory in DIRECTORIES:
        for path in glob.glob(os.path.join(root, directory, "modprobe.d/*.conf")):
            found.setdefault(os.path.basename(path), path)
    for name in sorted(found):
        for number, line in enumerate((read(found[name]) or "").splitlines(), start=1):
            words = line.split()
            module = words[1].replace("-", "_") if len(words) > 2 and words[0] == "options" else None
            for word in words[2:] if module in asked else ():
                key, _, value = word.partition("=")
                if key in asked[module]:
                    path = "/" + os.path.relpath(found[name], root)
                    yield {"path": path, "number": number, "key": f"{module}.{key}", "value": value}


def holds(path, names):
    """Is one of these modules in an initramfs? Its list takes seconds: asked for where options are declared."""
    try:
        done = subprocess.run(["lsinitramfs", path], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Blind(f"lsinitramfs: {type(error).__name__}") from error
    if done.returncode != 0:
        raise Blind(f"lsinitramfs {os.path.basename(path)}: failed")
    files = (os.path.basename(line) for line in done.stdout.splitlines() if ".ko" in line)
    return not set(names).isdisjoint(each.partition(".ko")[0].replace("-", "_") for each in files)


def initrds(root, names, own):
    written = os.stat(own).st_mtime if os.path.exists(own) else 0.0
    for path in sorted(glob.glob(os.path.join(root, "boot/initrd.img-*"))):
        release = os.path.basename(path).partition("-")[2]
        yield {"release": release, "holds": holds(path, names), "is_older": os.stat(path).st_mtime < written}


def modules(root, asked):
    wanted = asked["modules"]
    loaded = [each for each in wanted if os.path.isdir(os.path.join(root, "sys/module", each))]
    own = os.path.join(root, asked["own"].lstrip("/"))
    return {
        "loaded": {each: dict(parameters(root, each, wanted[each])) for each in loaded},
        "lines": list(options(root, wanted)),
        "initrds": list(initrds(root, wanted, own)) if wanted else [],
    }


def named(lookup, number):
    try:
        return lookup(number)[0]
    except KeyError:
        return str(number)


def found(path, asked_path):
    try:
        there = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"kind": "absent"}
    kind = "directory" if stat.S_ISDIR(there.st_mode) else "file" if stat.S_ISREG(there.st_mode) else "other"
    is_kernels = asked_path.startswith(("/sys/", "/proc/"))
    text = (read(path) or "").partition("\n")[0] if kind == "file" and is_kernels else None
    return {"kind": kind, "text": text, "mode": f"{stat.S_IMODE(there.st_mode):04o}",
            "user": named(pwd.getpwuid, there.st_uid), "group": named(grp.getgrgid, there.st_gid)}  # fmt: skip


def paths(root, asked):
    return {"paths": {each: found(os.path.join(root, each.lstrip("/")), each) for each in asked["paths"]}}


LOOKS = {"modules": modules, "paths": paths}


def main(text):
    asked = json.loads(text)
    try:
        print(json.dumps(LOOKS[asked["what"]](asked["root"] or "/", asked)))
    except (Blind, OSError) as blind:
        print(json.dumps({"error": str(blind)}))
