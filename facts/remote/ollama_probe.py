"""Look at Ollama on a host and print one JSON line; what could not be read is {"error": …}.

The texts of `fleet/ollama/grammar.py`, `fleet/ollama/units.py`, `ollama_store.py` and `ollama_systemd.py` come with the
arguments: the host reads OLLAMA_HOST and unit files with the very code that the controller tests.
"""

import functools
import glob
import hashlib
import ipaddress
import json
import os
import pwd
import re
import time
import types
import urllib.parse


@functools.cache
def loaded(name, text):
    module = types.ModuleType(name)
    exec(text, module.__dict__)
    return module


class Host:
    """The unit and what it leads to."""

    def __init__(self, arguments, store):
        self.arguments = arguments
        self.units = loaded("units", arguments["units"])
        self.grammar = loaded("grammar", arguments["grammar"])
        self.store = store
        self.systemd = loaded("systemd", arguments["systemd"])
        self.show, self.loader = self.systemd.shown((arguments["unit"], arguments["residents"]), store.Blind)
        self.active = self.show["ActiveState"] == "active" and self.show["MainPID"] != "0"

    def process_environment(self):
        """What the process was started with; None where it does not run (or has ended since)."""
        if not self.active:
            return None
        process = self.show["MainPID"]
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                pairs = file.read().decode("utf-8", "backslashreplace").split("\0")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.store.Blind(f"environment of process {process}: {error.strerror}") from error
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def redacted(self, environment):
        visible, mark = self.arguments["visible"], self.arguments["redacted"]
        return {name: value if name in visible else mark for name, value in sorted(environment.items())}

    def settings_file(self, path):
        text = self.store.read(path)
        resets, environment = self.units.file_environment(text)
        return {
            "path": path,
            "content_digest": "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(),
            "resets": resets,
            "specifiers": self.units.specified(text),
            "managed": text.startswith("# Managed by sparks"),
            "environment": self.redacted(environment),
        }

    def drop_ins(self):
        """On disk, in systemd's order: by name; of one name the first directory wins."""
        found = {}
        for directory in self.arguments["directories"]:
            for of in (self.arguments["unit"], "service"):
                for path in glob.glob(f"{directory}/{of}.d/*.conf"):
                    found.setdefault(os.path.basename(path), path)
        return [self.settings_file(found[name]) for name in sorted(found)]

    def environment_files(self):
        found = []
        for line in self.show["EnvironmentFiles"].splitlines():
            pattern = re.sub(r" \(ignore_errors=(yes|no)\)$", "", line)
            for path in sorted(glob.glob(pattern)):
                environment = self.redacted(self.units.environment_file(self.store.read(path)))
                found.append({"path": path, "environment": environment})
        return found

    def manager_environment(self, process, files):
        """What is not the unit's own: asked for where it may matter, since systemd is slow to answer on a busy host."""
        passed = [name for name in self.show["PassEnvironment"].split() if name.startswith("OLLAMA_")]
        said = {name for each in files for name in each["environment"]}
        if not passed and all(name in said for name in process or {} if name.startswith("OLLAMA_")):
            return {}
        return self.redacted(self.systemd.of_manager(passed, self.units, self.store.Blind))

    def service(self):
        process = self.process_environment()
        path = re.search(r"path=(\S+)", self.show["ExecStart"])
        kept = {name: self.show[name] for name in self.show if not name.startswith(("Environment", "ExecStart"))}
        fragment = self.settings_file(self.show["FragmentPath"]) if self.show["FragmentPath"] else None
        drop_ins, environment_files = self.drop_ins(), self.environment_files()
        files = [*([fragment] if fragment else []), *drop_ins, *environment_files]
        return {
            "show": kept,
            "exec_start": path.group(1) if path else None,
            "fragment": fragment,
            "drop_ins": drop_ins,
            "environment_files": environment_files,
            "manager_environment": self.manager_environment(process, files),
            "unset": self.units.split_words(self.show["UnsetEnvironment"], lenient=True),
            "unit_environment": self.redacted(self.units.shown_environment(self.show["Environment"])),
            "process_environment": None if process is None else self.redacted(process),
            "residents": self.residents(),
        }

    def residents(self):
        """The unit that loads what stays resident, on disk and as systemd has it."""
        path = self.arguments["residents_path"]
        there = os.path.exists(path)
        return {
            "content_digest": self.settings_file(path)["content_digest"] if there else None,
            "enabled": self.loader["UnitFileState"] == "enabled",
            "need_daemon_reload": self.loader["NeedDaemonReload"] == "yes",
            "has_curl": os.access(self.arguments["curl"], os.X_OK),
        }

    def models(self):
        environment = self.process_environment()
        directory = self.directory(environment)
        wanted = self.arguments["directory"]
        if self.serves(environment) and (wanted is None or os.path.realpath(wanted) == os.path.realpath(directory)):
            body = self.store.ask(self.arguments["endpoint"], "/api/tags")
            return {
                "source": "api", "endpoint": self.arguments["endpoint"], "directory": directory, "body": body,
            }  # fmt: skip
        directory = wanted or directory
        body = self.store.stored(directory)
        return {"source": "store", "endpoint": None, "directory": directory, "body": body}

    def registry(self):
        """What is published under the tags of models that are not here, as the pins have them."""
        look = loaded("registry", self.arguments["registry"])
        held = self.models()
        here = {each["name"]: each["digest"] for each in json.loads(held["body"])["models"] or []}
        blobs = os.path.join(held["directory"], "blobs")
        absent = [name for name, digest in self.arguments["pins"] if here.get(name) != digest.removeprefix("sha256:")]
        return look.published(absent, blobs, self.process_environment() or {})

    def residency(self):
        if not self.serves(self.process_environment()):
            return {"source": "stopped"}
        body = self.store.ask(self.arguments["endpoint"], "/api/ps")
        return {
            "source": "api",
            "endpoint": self.arguments["endpoint"],
            "now": int(time.time()),
            "body": body,
        }

    def invocation(self):
        """Its process; where it listens is asked of the kernel, since a restart may be due for another port."""
        look = loaded("invocation", self.arguments["invocation"])
        parts = urllib.parse.urlsplit(self.arguments["endpoint"])
        try:
            wanted = (str(ipaddress.ip_address(parts.hostname)), parts.port)
        except ValueError:
            wanted = None
        return look.seen(int(self.show["MainPID"]) if self.active else None, wanted, self.store)

    def serves(self, environment):
        """Whether the endpoint must answer: the unit's process listens there, or there is no unit."""
        if self.show["LoadState"] == "not-found":
            return not (self.fresh_home and self.store.is_silent(self.arguments["endpoint"]))
        if environment is None:
            return False
        there = self.grammar.connect_url(environment.get("OLLAMA_HOST", ""))
        return there == self.grammar.connect_url(self.arguments["endpoint"])

    @property
    def fresh_home(self):
        """Where models will be on a host without a unit that is to get one; None elsewhere."""
        return self.arguments.get("home") if self.show["LoadState"] == "not-found" else None

    def directory(self, environment):
        if environment is None:
            environment = self.units.shown_environment(self.show["Environment"])
            for line in self.environment_files():
                environment.update({k: v for k, v in line["environment"].items() if k == "OLLAMA_MODELS"})
        if set_to := self.grammar.unquoted(environment.get("OLLAMA_MODELS", "")):
            return set_to
        home = environment.get("HOME") or self.home()
        return os.path.join(home, ".ollama", "models")

    def home(self):
        if self.fresh_home:
            return self.fresh_home
        user = self.show["User"] or "root"
        try:
            return pwd.getpwnam(user).pw_dir
        except KeyError as error:
            raise self.store.Blind(f"expected user {user} on the host, found none") from error


def main(text):
    arguments = json.loads(text)
    store = loaded("store", arguments["store"])
    try:
        found = getattr(Host(arguments, store), arguments["look"])()
    except store.Blind as error:
        found = {"error": str(error)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        found = {"error": f"expected models, found none ({type(error).__name__})"}
    print(json.dumps(found))
