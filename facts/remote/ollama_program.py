"""Look at Ollama's program on this host: where the link leads, which builds are unpacked, who would run it."""

import hashlib
import json
import os
import pwd
import re
import types


class Blind(Exception):
    """Why it could not be looked at, in one line."""


def digest(path):
    """Of a file's bytes; None where there is no such file."""
    found = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(2**20):
                found.update(piece)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Blind(f"{path}: {error.strerror}") from error
    return found.hexdigest()


def link(path):
    try:
        return os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    except OSError:
        return None


def executable(show, link):
    """What the unit runs, where there is one."""
    found = re.search(r"path=(\S+)", show["ExecStart"])
    return found.group(1) if found and show["LoadState"] == "loaded" else link


def running(show, asked):
    """The executable of its process, and what the server says of its version."""
    process = show["MainPID"] or "0"
    try:
        path = os.readlink(f"/proc/{process}/exe")
    except OSError:
        return {"runs": None, "version": None}
    store = types.ModuleType("store")
    exec(asked["store"], store.__dict__)
    try:
        return {"runs": path, "version": {"body": store.ask(asked["endpoint"], "/api/version")}}
    except store.Blind as error:
        return {"runs": path, "version": {"error": str(error)}}


def trees(home):
    """Every build that was unpacked to its end: its record is written last."""
    found = []
    for folder in sorted(os.listdir(home)) if os.path.isdir(home) else []:
        path = os.path.join(home, folder, "sparks.json")
        if folder.startswith(".") or not os.path.exists(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                record = json.load(file)
            kept = {name: record[name] for name in ("archive_digest", "version", "installed_digest")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Blind(f"{path}: expected a record of ours, found none ({type(error).__name__})") from error
        found.append(kept | {"folder": folder, "executable_digest": digest(os.path.join(home, folder, "bin/ollama"))})
    return found


def has_user(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def room(path):
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def main(text):
    asked = json.loads(text)
    try:
        systemd = types.ModuleType("systemd")
        exec(asked["systemd"], systemd.__dict__)
        (show,) = systemd.shown((asked["unit"],), Blind)
        path = executable(show, asked["link"])
        found = running(show, asked) | {
            "link": link(asked["link"]),
            "executable": path,
            "executable_digest": digest(path),
            "trees": trees(asked["trees"]),
            "has_user": has_user(asked["user"]),
            "room_bytes": room(asked["trees"]),
        }
    except Blind as error:
        found = {"error": str(error)}
    print(json.dumps(found))
