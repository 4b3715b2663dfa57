"""The netplan of this machine, asked about many directories by one process; the fact made from its answers."""

import functools
import json
import subprocess
from pathlib import Path
from typing import Any, Self
from unittest import mock

from facts.look import SENTINEL, source_of
from facts.netplan import NetplanEffective
from facts.remote import netplan_get
from fleet.netplan import NetplanEffective as Effective
from fleet.netplan.harmless import ALLOWED

READER: Any = netplan_get
VERSION = functools.cache(READER.version)

SERVER = """
import json, os, sys, tempfile
sys.path.insert(0, "/usr/share/netplan")
try:
    from netplan_cli.cli.core import Netplan
    import netplan_cli.cli.commands
except ImportError:
    from netplan.cli.core import Netplan
    import netplan.cli.commands

def get(root):
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
        sys.argv, code = ["netplan", "get", "--root-dir", root], 0
        try:
            Netplan().main()
        except Exception as error:
            print(error, file=sys.stderr)
            code = 1
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out.seek(0), err.seek(0)
    return out.read().decode(), err.read().decode(), code

for line in sys.stdin:
    print(json.dumps(get(json.loads(line))), flush=True)
"""
"""`netplan get` in a fork, since to start it costs half a second."""


class Netplan:
    """The netplan of this machine, without its start for every question."""

    def __enter__(self) -> Self:
        command = ["/usr/bin/python3", "-c", SERVER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate()

    def get(self, root: str) -> "subprocess.CompletedProcess[bytes]":
        """As `netplan_get.ask`."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps(root), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, "expected netplan on this machine (apt-get install netplan.io), found none that answers"
        out, err, code = json.loads(line)
        return subprocess.CompletedProcess([], code, out.encode(), err.encode())

    def said(self, root: Path) -> str:
        """What leaves the host about what is below `root`: by the reader that runs there."""
        asked = {"root": str(root), "allowed": ALLOWED, "tree": source_of("netplan_tree")}
        with mock.patch.multiple(READER, ask=self.get, version=VERSION):
            return json.dumps(READER.look(asked))

    def effective(self, root: Path) -> Effective:
        """The fact's value."""
        return NetplanEffective().process([self.said(root), SENTINEL])
