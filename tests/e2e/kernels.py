"""A pair of virtual Sparks that boot by GRUB, as a site of its own whose roster a test chooses."""

import copy
import json
import re
import runpy
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e.control import ROOT, on, sparks

if TYPE_CHECKING:
    from virtual.lab import Lab

PLAN = re.compile(r"^plan (sha256:[0-9a-f]{64})", re.MULTILINE)
METAS = ("linux-image-amd64", "linux-image-rt-amd64", "linux-image-cloud-amd64")
"""The packages of Debian that follow the newest kernel of each flavour."""
SAVED = "grub-editenv - list | sed -n 's/^saved_entry=//p'"


class Kernels:
    """The site. Its first Spark has a kernel policy; the other one is there for the rails."""

    def __init__(self, lab: "Lab", folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.name = lab.state.machines[0].name
        self.inventory = str(folder / "site.py")
        (folder / "group_data").mkdir(exist_ok=True)
        known = lab.state
        hosts = {
            each.name: {"ssh_hostname": each.host, "ssh_port": each.port, "ssh_user": known.user, "ssh_key": known.key}
            for each in known.machines
        }
        text = f"from lab.site import site\nboth = site(__file__, {hosts!r}, known_hosts={known.known_hosts!r})\n"
        Path(self.inventory).write_text(text)
        listed = self.on("ls /boot/vmlinuz-*").split()
        self.stock, self.cloud, self.rt = sorted(each.removeprefix("/boot/vmlinuz-") for each in listed)

    def version(self, release: str) -> str:
        """Of the installed image of a release."""
        return self.on(f"dpkg-query -W -f '${{Version}}' linux-image-{release}").strip()

    def policy(self, release: str, fallback: str | None, **words: list[str]) -> dict[str, Any]:
        """A policy for a release that is installed."""
        return {
            "release": release,
            "packages": {f"linux-image-{release}": self.version(release)},
            "metas": list(METAS),
            "fallback": fallback,
            "command_line": words,
        }

    def wants(self, kernel: Mapping[str, Any], whole: bool = False) -> None:
        """Write the roster: that kernel, and with `whole` the fabric and what is served as `group_data/virtual.py`."""
        given = runpy.run_path(str(ROOT / "group_data" / "virtual.py"))["roster"]
        roster = copy.deepcopy(given) if whole else {"sparks": copy.deepcopy(given["sparks"])}
        roster["kernels"] = {"one": dict(kernel)}
        roster["sparks"][self.name]["kernel"] = "one"
        if whole:
            del roster["deployments"]["smaller"]
        (self.folder / "group_data" / "site.py").write_text(f"roster = {roster!r}\n")

    def sparks(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """A command of ours about this site."""
        done = sparks(*arguments, "-i", self.inventory)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def converge(self, target: str, scope: str) -> None:
        """Look at the plan, and carry it out to its end."""
        shown = self.sparks("plan", target, "--scope", scope)
        if shown.returncode == 0:
            return
        assert shown.returncode == 2, shown.stdout + shown.stderr
        digest = PLAN.findall(shown.stdout + shown.stderr)[-1]
        done = self.sparks("converge", target, "--scope", scope, "--yes", "--plan", digest)
        assert done.returncode == 0, done.stdout + done.stderr

    def trial(self, *options: str) -> "subprocess.CompletedProcess[str]":
        """Look at what a trial is going to do, and let it."""
        asked = self.sparks("kernel", "trial", self.name)
        found = PLAN.findall(asked.stderr)
        if not found or asked.returncode == 0:
            return asked
        return self.sparks("kernel", "trial", self.name, "--quiet-seconds", "2", "--yes", "--plan", found[-1], *options)

    def shown(self) -> dict[str, Any]:
        """What `sparks kernel show` has of the first Spark."""
        done = self.sparks("kernel", "show", self.name, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)["hosts"][0]
        return found

    def receipt(self) -> list[dict[str, Any]]:
        """The lines of the newest receipt."""
        newest = max((self.folder / "receipts").glob("*.jsonl"))
        return [json.loads(line) for line in newest.read_text().splitlines()]

    def on(self, script: str, seconds: float = 600) -> str:
        """What a script prints as root on the first Spark."""
        return on(self.lab, self.name, script, seconds)

    @property
    def pending(self) -> str:
        """What is chosen for the next boot alone; GRUB leaves an empty value behind when it has used one."""
        return self.on("grub-editenv - list | sed -n 's/^next_entry=//p'").strip()

    @property
    def running(self) -> str:
        """The release that runs."""
        return self.on("uname -r").strip()
