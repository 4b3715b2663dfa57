"""Find the processes of engines on this host. Carried as text, beside `engines`.

The texts of `fleet/engine_argv.py` and `ollama_invocation.py` come with the arguments: the host knows an engine, and
what of its words may leave, by the very code that the controller tests.
"""

import contextlib
import functools
import glob
import hashlib
import os
import pwd
import re
import types

LARGEST = 256 * 2**20
"""Bytes of an executable that a look reads for its digest."""
CONTAINER = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
SOCKETS = ("server", "runner", "rpc")
"""Roles of those that take connections."""
DIGESTS: dict[tuple[int, int, int], str] = {}
"""Of executables by their file: it is read once for all that run it."""


class Blind(Exception):
    """Why something could not be seen."""


@functools.cache
def loaded(name, text):
    module = types.ModuleType(name)
    exec(text, module.__dict__)
    return module


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def stat_of(pid):
    """Name, state, parent and start of a process."""
    head, _, rest = text_of(f"/proc/{pid}/stat").rpartition(")")
    words = rest.split()
    return {
        "pid": pid,
        "comm": head.partition("(")[2],
        "state": words[0],
        "ppid": int(words[1]),
        "start_ticks": int(words[19]),
    }


def amounts(path):
    """`Name: number kB` lines in bytes."""
    return {name: int(number) * 1024 for name, number in re.findall(r"(?m)^(\w+):\s+(\d+) kB$", text_of(path))}


def every(asked):
    """Every process with its words and its anonymous memory; those that end meanwhile are left out."""
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            process = stat_of(pid)
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                process["arguments"] = file.read()
            process["status"] = amounts(f"/proc/{pid}/status")
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError as error:
            raise Blind(f"process {pid}: {error.strerror}") from error
        process["exe"] = executable(pid)
        words = process["arguments"].decode("utf-8", "replace").rstrip("\0").split("\0")
        process["words"] = words if words != [""] else []
        argv = loaded("argv", asked["argv"])
        process["engine"] = argv.engine_of(process["comm"], process["words"], process["exe"] or "")
        found[pid] = process
    return found


def executable(pid):
    """The file that it was started from, as its link says; None for the kernel's own and for what has ended."""
    try:
        return os.fsencode(os.readlink(f"/proc/{pid}/exe")).decode("utf-8", "replace")
    except OSError:
        return None


def ancestors(pid, processes):
    seen = {pid}
    while (pid := processes[pid]["ppid"] if pid in processes else 0) in processes and pid not in seen:
        seen.add(pid)
        yield processes[pid]


def engines(processes):
    """Those that are engines, and whatever they have started: each with the engine above it."""
    own = {pid for pid, process in processes.items() if process["engine"]}
    found = []
    for pid, process in processes.items():
        above = next((each for each in ancestors(pid, processes) if each["pid"] in own), None)
        if pid not in own and above is None:
            continue
        runtime, role = process["engine"] or (above["engine"][0], "child")
        if above is not None and above["engine"][0] == "ollama" and runtime == "llama.cpp":
            runtime, role = "ollama", "runner"
        found.append({**process, "runtime": runtime, "role": role, "under": above["pid"] if above else None})
    return sorted(found, key=lambda process: process["pid"])


def described(process, asked):
    """What is told of one; None where it has ended meanwhile."""
    pid, exe = process["pid"], process["exe"]
    argv, look = loaded("argv", asked["argv"]), loaded("invocation", asked["invocation"])
    options = argv.options_of(process["runtime"], process["role"], process["words"])
    told = {name: process[name] for name in ("pid", "ppid", "start_ticks", "comm", "state", "runtime", "role", "under")}
    arguments = process["arguments"]
    try:
        return {
            **told,
            **owner(pid),
            **place(pid, look),
            "exe": exe.removesuffix(" (deleted)") if exe else None,
            "exe_deleted": bool(exe) and exe.endswith(" (deleted)"),
            "executable_digest": digest_of(pid, exe, look),
            "argv_digest": "sha256:" + hashlib.sha256(arguments).hexdigest() if arguments.strip(b"\0") else None,
            "options": options,
            "artifacts": artifacts(pid, options) if process["role"] == "runner" else [],
            "memory": memory(pid, process["status"]),
            "listens": listens(pid, look) if process["role"] in SOCKETS and process["state"] != "Z" else [],
        }
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError as error:
        raise Blind(f"process {pid}: {error.strerror}") from error


def owner(pid):
    uid = int(re.search(r"(?m)^Uid:\s+\d+\s+(\d+)", text_of(f"/proc/{pid}/status")).group(1))
    try:
        return {"uid": uid, "user": pwd.getpwuid(uid).pw_name}
    except KeyError:
        return {"uid": uid, "user": None}


def place(pid, look):
    """Its unit, or its container, and whether its network is that of the host."""
    container = CONTAINER.search(text_of(f"/proc/{pid}/cgroup"))
    try:
        shared = os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/1/ns/net")
    except (FileNotFoundError, PermissionError):
        shared = None
    unit = None if container else look.unit(pid)
    return {"container_id": container.group(0) if container else None, "unit": unit, "host_network": shared}


def digest_of(pid, exe, look):
    """Of the bytes that it was started from; None for an interpreter, and for a file too large to read each time."""
    if not exe or re.match(r"(python|pypy|node|ruby|perl|bash|dash|sh)[0-9.]*$", os.path.basename(exe)):
        return None
    found = os.stat(f"/proc/{pid}/exe")
    if found.st_size > LARGEST:
        return None
    key = (found.st_dev, found.st_ino, found.st_mtime_ns)
    if key not in DIGESTS:
        DIGESTS[key] = look.digest_of_file(f"/proc/{pid}/exe")
    return DIGESTS[key]


def memory(pid, status):
    """By the kernel's count; the proportional one is None for what has ended and waits to be buried."""
    try:
        rollup = amounts(f"/proc/{pid}/smaps_rollup")
    except (FileNotFoundError, ProcessLookupError):
        rollup = {}
    return {
        "rss_bytes": status.get("VmRSS", 0),
        "rss_file_bytes": status.get("RssFile", 0),
        "pss_bytes": rollup.get("Pss"),
        "pss_file_bytes": rollup.get("Pss_File"),
        "swap_bytes": rollup.get("SwapPss", status.get("VmSwap", 0)),
    }


def listens(pid, look):
    return sorted(look.spelled(each) for each in look.listening(pid, look.sockets(pid, Blind), Blind))


def artifacts(pid, options):
    """The Ollama manifests that have the weights of this runner: by these /api/ps names it."""
    path = re.fullmatch(r"(/.*)/blobs/sha256-([0-9a-f]{64})", options.get("model", ""))
    if path is None:
        return []
    store, weights = f"/proc/{pid}/root{path.group(1)}", f'"sha256:{path.group(2)}"'.encode()
    found = set()
    for manifest in glob.glob(os.path.join(glob.escape(store), "manifests", "*", "*", "*", "*")):
        with contextlib.suppress(OSError), open(manifest, "rb") as file:
            content = file.read(2**20)
            if weights in content:
                found.add("sha256:" + hashlib.sha256(content).hexdigest())
    return sorted(found)


def look(asked):
    processes = every(asked)
    found = engines(processes)
    own = {process["pid"] for process in found}
    others = sum(process["status"].get("RssAnon", 0) for pid, process in processes.items() if pid not in own)
    told = [each for each in (described(process, asked) for process in found) if each is not None]
    return {"processes": told, "others_anonymous_bytes": others}
