"""Receipts that tests write, in this process or in one that can be killed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from fleet.outcome import Outcome
from fleet.receipt.acts import OperationBegun, OperationDone
from fleet.receipt.events import Opening
from fleet.target import Scope
from lab.receipts.journal import opened
from lab.receipts.ledger import Ledger, read_folder

ROOT = Path(__file__).resolve().parents[3]
ABOUT = Opening(
    kind="converge", target="srv5", hosts=("srv5",), scope=Scope.SERVE, command=("sparks", "converge", "srv5")
)
BEGUN = OperationBegun(host="srv5", operation="rail documents")
DONE = OperationDone(host="srv5", operation="rail documents", changed=True)

PREAMBLE = """
import os, sys, time
from pathlib import Path
from tests.lab.receipts.writing import *
folder = Path(sys.argv[1])
"""


def write(folder: Path, outcome: Outcome = Outcome.CONVERGED) -> str:
    """A whole receipt; its name."""
    with opened(folder, ABOUT) as journal:
        journal.say(BEGUN)
        journal.say(DONE)
        journal.close(outcome)
        return journal.name


def started(folder: Path, code: str, **options: Any) -> "subprocess.Popen[str]":
    """A process that runs the code with `folder` and all of this module; what it prints can be read."""
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + code, str(folder)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def sound(folder: Path) -> Ledger:
    """The folder, in which nothing is wrong."""
    ledger = read_folder(folder)
    assert ledger.faults == ()
    return ledger
