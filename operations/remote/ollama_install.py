"""Unpack one build of Ollama on this host, beside whatever runs; a failure is one line on stderr.

Nothing is unpacked of an archive whose digest is another. What a killed run left is gone on with, or goes.
"""

import hashlib
import http.client
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request

ATTEMPTS = 5
PAUSE_SECONDS = 3
"""Before a download that broke off goes on."""
SILENT_SECONDS = 60
"""After which a server that sends nothing has broken off."""
PIECE = 2**20
UNPACK_SECONDS = 1800


class Failed(Exception):
    """Why it did not happen, in one line."""


class Broken(Exception):
    """The download broke off, and may go on."""


def size_of(path):
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def download(asked):
    """The archive, from where an earlier try stopped."""
    for attempt in range(ATTEMPTS):
        if size_of(asked["part"]) >= asked["size"]:
            return
        try:
            receive(asked, size_of(asked["part"]))
            return
        except Broken as error:
            print(f"the download broke off ({error}); going on ({attempt + 1} of {ATTEMPTS})", flush=True)
            time.sleep(PAUSE_SECONDS)
    raise Failed(f"expected the download to end, found it broken off {ATTEMPTS} times; run again to go on")


def receive(asked, have):
    headers = {"Range": f"bytes={have}-"} if have else {}
    request = urllib.request.Request(asked["url"], headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=SILENT_SECONDS) as answer:
            written = have if answer.status == 206 else 0
            with open(asked["part"], "ab" if written else "wb") as file:
                copy(answer, file, written, asked["size"])
    except urllib.error.HTTPError as error:
        raise Failed(f"{asked['url']}: status {error.code}") from error
    except (OSError, http.client.HTTPException) as error:
        if getattr(error, "errno", None) in (28, 122):
            raise Failed(f"{asked['part']}: {error.strerror}") from error
        reason = getattr(error, "reason", error)
        raise Broken(str(getattr(reason, "strerror", None) or reason)[:200]) from error
    if size_of(asked["part"]) < asked["size"]:
        raise Broken("it ended early")


def copy(answer, file, written, size):
    shown = None
    while piece := answer.read(PIECE):
        if written + len(piece) > size:
            raise Failed(f"expected {size:,} bytes, found more; nothing was unpacked")
        file.write(piece)
        written += len(piece)
        if (tenth := 10 * written // size) != shown:
            print(f"downloaded {tenth}0% of {size:,} bytes", flush=True)
            shown = tenth


def verify(asked):
    """Before anything of it is unpacked. What is wrong is thrown away: it is no beginning of the right one."""
    found = hashlib.sha256()
    with open(asked["part"], "rb", buffering=0) as file:
        while piece := file.read(PIECE):
            found.update(piece)
    if "sha256:" + found.hexdigest() != asked["digest"]:
        size = size_of(asked["part"])
        os.unlink(asked["part"])
        raise Failed(
            f"expected {asked['digest']}, found sha256:{found.hexdigest()} ({size:,} bytes); nothing was unpacked"
        )


def digest_of(path):
    found = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return "sha256:" + found.hexdigest()


def unpack(asked, new):
    """GNU tar takes no member out of the folder, and finds out how it is compressed."""
    os.mkdir(new, 0o755)
    command = [
        "tar",
        "--extract",
        "--file",
        asked["part"],
        "--directory",
        new,
        "--no-same-owner",
        "--no-same-permissions",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=UNPACK_SECONDS, umask=0o022)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"tar: {type(error).__name__}") from error
    if done.returncode != 0:
        raise Failed("tar: " + (done.stderr.strip().splitlines() or ["failed"])[0][:200])
    program = os.path.join(new, "bin", "ollama")
    if not os.path.isfile(program) or not os.stat(program).st_mode & stat.S_IXUSR:
        raise Failed("expected bin/ollama in the archive, found none")
    record = {"archive_digest": asked["digest"], "version": asked["version"], "installed_digest": digest_of(program)}
    with open(os.path.join(new, "sparks.json"), "w", encoding="utf-8") as file:
        json.dump(record, file)


def flush(path):
    """All of the folder's files, and its name."""
    subprocess.run(["sync", "--file-system", path], check=True, timeout=UNPACK_SECONDS)


def install(asked):
    home = asked["home"]
    os.makedirs(home, 0o755, exist_ok=True)
    final, new, old = (os.path.join(home, each.format(asked["folder"])) for each in ("{}", ".{}.new", ".{}.old"))
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    if asked["url"] is not None:
        download(asked)
    verify(asked)
    print("verified; unpacking", flush=True)
    try:
        unpack(asked, new)
        flush(home)
        if os.path.exists(final):
            os.rename(final, old)
        os.rename(new, final)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    os.unlink(asked["part"])
    flush(home)


def main(text):
    asked = json.loads(text)
    os.umask(0o022)
    try:
        install(asked)
    except Failed as error:
        sys.exit(f"ollama {asked['version']}: {error}")
    except OSError as error:
        sys.exit(f"ollama {asked['version']}: {error.filename or asked['home']}: {error.strerror}")
