"""Runs on a Spark: the netplan files as `netplan_tree` reads them, and beside them what netplan makes of them.

The text of `netplan_tree.py` comes with the arguments, so both views go through one redaction. It only asks
`netplan get`, which opens nothing for writing (strace, 0.106); `netplan status` starts systemd-networkd.
"""

import json
import os
import re
import shutil
import subprocess
import types

LIMIT_SECONDS = 120
"""`netplan get` took 0.4 s on a quiet machine, and 47 s on an emulated CPU that others kept busy (2026-11-29)."""
KINDS = {"Error in network definition": "rejected", "Invalid YAML": "invalid_yaml"}
REFUSED = ("Command failed", *KINDS)
"""What netplan says where it takes none of the files: with status 1 (0.106) or 0 (1.1.2)."""


def loaded(text):
    module = types.ModuleType("netplan_tree")
    exec(text, module.__dict__)
    return module


def stamps(tree, root):
    """What tells that nobody wrote a file while it was read twice; None where they cannot be listed."""
    try:
        return [(path, stamp(path)) for path, _, _ in tree.listed(root)]
    except OSError:
        return None


def stamp(path):
    try:
        status = os.stat(path)
    except OSError as error:
        return error.errno
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def version():
    """The package's, None where dpkg knows of none: netplan itself does not tell."""
    try:
        command = ["dpkg-query", "-W", "-f", "${Version}", "netplan.io"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def ask(root):
    """Output, complaints and status of `netplan get`, which must not even leave byte code behind."""
    program = shutil.which("netplan")
    if program is None:
        return None
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [program, "get", *(["--root-dir", root] if root else [])]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, env=environment
    )


def complaint(said, files):
    """Which file netplan blames, and where; its sentence quotes the file and stays here."""
    for path, shown, _ in files:
        found = re.search(re.escape(path) + r":(?:(\d+):(\d+):)? (" + "|".join(KINDS) + ")", said)
        if found:
            line, column = (int(part) if part else None for part in found.groups()[:2])
            return {"path": shown, "kind": KINDS[found[3]], "line": line, "column": column}
    return {"path": None, "kind": "rejected", "line": None, "column": None}


def netplans_word(tree, asked, root):
    done = ask(root)
    if done is None:
        return {"failure": "no_netplan"}
    said = done.stderr.decode("utf-8", "replace")
    if any(word in said for word in REFUSED):
        return {"refused": complaint(said, list(tree.listed(root)))}
    if done.returncode != 0:
        return {"failure": "get_failed", "code": f"status {done.returncode}"}
    if not done.stdout.strip():
        return {"merged": None}
    return {"merged": tree.tree_of(done.stdout, asked["allowed"])}


def look(asked):
    tree, root = loaded(asked["tree"]), asked.get("root", "").rstrip("/")
    before, answer = stamps(tree, root), tree.answer(asked)
    if "failure" in answer:
        return answer
    try:
        answer |= {"version": version(), **netplans_word(tree, asked, root)}
    except tree.Bad:
        return {"failure": "get_unreadable"}
    except subprocess.TimeoutExpired:
        return {"failure": "get_failed", "code": f"no answer in {LIMIT_SECONDS} s"}
    except OSError as error:
        return {"failure": "get_failed", "code": type(error).__name__}
    return answer if stamps(tree, root) == before else {"failure": "changed"}


def main(arguments):
    print(json.dumps(look(json.loads(arguments)), separators=(",", ":")))
