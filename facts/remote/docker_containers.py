"""Ask Docker's API on its socket about every container, and print one JSON line. It is never started for that.

Of labels and of the environment only what an allow-list names leaves the host, of arguments only their digest.
"""

import hashlib
import http.client
import json
import os
import socket
import subprocess
import urllib.parse

LIMIT_BYTES = 16 * 2**20


class Blind(Exception):
    """Why nothing could be seen, in one line."""


class Gone(Exception):
    """What was asked about is not there any more."""


class Socket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, seconds):
        super().__init__("docker", timeout=seconds)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Docker:
    """One connection to the daemon; without a version in the path it answers in its newest."""

    def __init__(self, path, seconds):
        self.path = path
        self.seconds = seconds
        self.connection = Socket(path, seconds)

    def ask(self, path):
        try:
            self.connection.request("GET", path)
            answer = self.connection.getresponse()
            body = answer.read(LIMIT_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise Blind(f"{self.path}: {self.plain(error)}") from error
        if answer.status == 404:
            raise Gone
        if answer.status != 200:
            raise Blind(f"docker{path}: status {answer.status}")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Blind(f"docker{path}: expected JSON, found another text") from error

    def plain(self, error):
        if isinstance(error, TimeoutError):
            return f"no answer in {self.seconds} s"
        if isinstance(error, FileNotFoundError):
            return "no daemon listens there"
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return text.splitlines()[0][:200].lower()


def states():
    """systemd's words for the daemon and its socket; None for one that is not there. No systemd, no units."""
    command = ("systemctl", "show", "docker.service", "docker.socket", "--property", "LoadState,ActiveState")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=45)
    except FileNotFoundError:
        return None, None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Blind(f"systemctl show: {type(error).__name__}") from error
    if done.returncode != 0:
        return None, None
    blocks = [dict(line.partition("=")[::2] for line in block.splitlines()) for block in done.stdout.split("\n\n")]
    return [each["ActiveState"] if each["LoadState"] == "loaded" else None for each in blocks]


def refuse_to_start(path):
    """Raises Blind where no daemon runs: to connect to a socket that systemd holds would start one."""
    service, activation = states()
    if activation == "active" and service != "active":
        raise Blind(f"docker.service is {service or 'not there'}, and to ask would start it")
    if not os.path.exists(path):
        raise Blind("docker is not installed" if service is None else f"docker.service is {service}")


def redacted(pairs, visible, mark):
    named = dict(pair.partition("=")[::2] for pair in pairs or ())
    return {name: value if name in visible else mark for name, value in sorted(named.items())}


def told(found, image, asked):
    """One container, of what /containers/ID/json says."""
    config, host, state = found["Config"], found["HostConfig"], found["State"]
    labels = (config.get("Labels") or {}).items()
    arguments = b"".join(word.encode() + b"\0" for word in (found["Path"], *(found.get("Args") or ())))
    policy = host.get("RestartPolicy") or {}
    return {
        "name": found["Name"].removeprefix("/"),
        "id": found["Id"],
        "image": config["Image"],
        "image_id": found["Image"],
        "repo_digests": sorted(image or ()),
        "labels": {name: value for name, value in sorted(labels) if name.startswith(tuple(asked["labels"]))},
        "environment": redacted(config.get("Env"), asked["visible"], asked["redacted"]),
        "argv_digest": "sha256:" + hashlib.sha256(arguments).hexdigest(),
        "mounts": [mount(each) for each in found.get("Mounts") or ()],
        "restart": policy.get("Name") or "no",
        "restart_most": policy.get("MaximumRetryCount") or 0,
        "network": host["NetworkMode"],
        "memory_limit_bytes": host.get("Memory") or None,
        "state": state["Status"],
        "pid": state.get("Pid") or None,
        "started_at": state["StartedAt"],
        "exit_code": state["ExitCode"],
        "oom_killed": state["OOMKilled"],
        "health": (state.get("Health") or {}).get("Status"),
        "restarts": found.get("RestartCount", 0),
    }


def mount(found):
    return {
        "type": found["Type"],
        "source": found.get("Name") or found["Source"],
        "target": found["Destination"],
        "writable": found["RW"],
    }


def look(asked):
    refuse_to_start(asked["path"])
    docker, images, found = Docker(asked["path"], asked["seconds"]), {}, []
    for listed in docker.ask("/containers/json?all=1"):
        try:
            container = docker.ask(f"/containers/{urllib.parse.quote(listed['Id'])}/json")
        except Gone:
            continue
        name = container["Image"]
        if name not in images:
            images[name] = digests(docker, name)
        found.append(told(container, images[name], asked))
    return {"containers": found}


def digests(docker, name):
    """The digests under which registries have an image; none where it was only made or loaded here, or is gone."""
    try:
        return docker.ask(f"/images/{urllib.parse.quote(name)}/json").get("RepoDigests")
    except Gone:
        return []


def main(text):
    try:
        print(json.dumps(look(json.loads(text))))
    except Blind as blind:
        print(json.dumps({"error": str(blind)}))
    except (KeyError, TypeError, AttributeError) as error:
        print(json.dumps({"error": f"docker: expected another shape, found {type(error).__name__}: {error}"[:200]}))
