"""The transcripts in docs/converge.md, docs/receipts.md and docs/doctor.md: what real commands say to simulated Sparks.

    make reference       # makes them anew, in all pages

Between `<!-- transcript NAME -->` and `<!-- end -->` a page has what `NAME` gave. What is real in them, and what is
simulated, stands in `tests/simulated/__init__.py`. Digests are cut short at `…`, long lines folded, and what was shown
before is left out.
"""

import json
import os
import re
import shutil
import signal
import socket
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import facts.controller
from fleet.processes import EngineProcesses
from fleet.step import Step
from tests.deploys.site import VALUES
from tests.fleet import observed
from tests.fleet.test_ledger import apps, memory
from tests.fleet.test_processes import process
from tests.forked import ROOT
from tests.simulated.controller import Ran, run
from tests.simulated.faults import Fault, Kind, Moment
from tests.simulated.lock import Said
from tests.simulated.site import Site
from tests.simulated.world import World

PAGES = tuple(ROOT / "docs" / name for name in ("converge.md", "receipts.md", "doctor.md"))
BLOCK = re.compile(r"(<!-- transcript (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
ROSTER: dict[str, Any] = json.loads(json.dumps(VALUES).replace('"a"', '"srv5"').replace('"b"', '"srv6"'))
CX7 = '{network: {version: 2, ethernets: {enp1s0f0np0: {addresses: ["10.9.9.9/24"]}}}}'
WIDTH = 116
_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")
_PLAN = re.compile(r"^plan sha256:.*?^(?:\d+ steps: [^\n]*|nothing is due)\n\n?", re.DOTALL | re.MULTILINE)
_DIFF = re.compile(r"(?:^ +(?:[-+]|@@)[^\n]*\n)+", re.MULTILINE)
"""What changes in the files of one step."""


@dataclass
class Signalled(World):
    """A run that gets Ctrl-C while one of its commands is at work."""

    at: int = 0

    def run(self, name: str, session: int, command: str, step: Step | None) -> Said:
        if len(self.commands) == self.at:
            os.kill(os.getpid(), signal.SIGINT)
        return super().run(name, session, command, step)


class Operator:
    """Somebody at a desk, who types commands."""

    def __init__(self, folder: Path) -> None:
        self.site = Site(folder, ROSTER)
        os.environ |= {"SPARKS_INVENTORY": str(self.site.inventory), "SPARKS_RECEIPTS": str(self.site.receipts)}
        self.plan, self.commands = "", [""]

    def type(self, world: World, command: str) -> Ran:
        """A command to its end."""
        return run(world, self.site.folder, *command.replace("PLAN", self.plan).split())

    def shown(self, ran: Ran, command: str, with_plan: bool = False) -> str:
        """A transcript; of a plan only the first diff."""
        there = ran.said.replace(f"{self.site.folder}/", "inventories/")
        first = _DIFF.search(there)
        said = there if with_plan else _PLAN.sub("…\n", there)
        if first is not None:
            head, tail = said[: first.end()], said[first.end() :]
            said = head + _DIFF.sub("      …\n", tail) if with_plan else said
        lines = [f"$ {command.replace('PLAN', self.plan)}", *said.rstrip().splitlines(), "$ echo $?", str(ran.status)]
        return "".join(f"    {each}".rstrip() + "\n" for line in lines for each in _folded(line))

    def said(self, world: World, command: str, with_plan: bool = False) -> str:
        """What a command says."""
        return self.shown(self.type(world, command), command, with_plan)

    def at(self, kind: str) -> int:
        """The number of the first command that carries such a step out."""
        return self.commands.index(f"srv5 {kind}")

    def faulty(self, kind: str, fault: Kind, moment: Moment = Moment.BEFORE) -> World:
        """The Sparks as they come, and what will happen at that step."""
        return self.site.world().next_run(Fault(fault, self.at(kind), moment))


CONVERGE = "sparks converge srv5"
APPROVED = f"{CONVERGE} --yes --plan PLAN"


def transcripts(ada: Operator) -> Iterator[tuple[str, str]]:
    """Each by its name, in the order in which they happen."""
    looked = ada.type(ada.site.world(), CONVERGE)
    ada.plan = re.findall(r"--plan (sha256:\w+)", looked.said)[0]
    yield "refused", ada.shown(looked, CONVERGE, with_plan=True)
    done = ada.type(looked.world.next_run(), APPROVED)
    ada.commands = done.world.commands
    yield "converged", ada.shown(done, APPROVED)
    again = ada.type(done.world.next_run(), CONVERGE)
    yield "found-as-desired", ada.shown(again, CONVERGE, with_plan=True)
    yield "readback", ada.said(again.world.next_run(), "sparks readback srv5")
    yield "differs", ada.said(ada.faulty("activate", Kind.LOST), APPROVED)
    cut = ada.type(ada.faulty("activate", Kind.POWER, Moment.AFTER), APPROVED)
    yield "failed", ada.shown(cut, APPROVED)
    yield "interrupted", ada.said(Signalled(ada.site.world().sparks, at=ada.at("activate")), APPROVED)
    ada.type(ada.faulty("activate", Kind.KILLED, Moment.AFTER), APPROVED)
    foreign = ada.site.world()
    spark = foreign.sparks["srv5"]
    spark.seen = observed.with_file(spark.seen, observed.netplan_file("/etc/netplan/40-cx7.yaml", CX7))
    yield "in-the-way", ada.said(foreign, CONVERGE)
    yield from _of_receipts(ada, ada.site.world())
    yield "doctor", ada.said(_ill(done.world), "sparks doctor srv5 srv6")


def _ill(converged: World) -> World:
    """The Sparks after a run, with what time brings: a lost GID, an orphan, a notebook, and one that is down."""
    world = converged.next_run()
    srv5, srv6 = world.sparks["srv5"], world.sparks["srv6"]
    orphan = process(4121, "engine", comm="VLLM::EngineCor", memory=memory(6 << 30))
    srv5.change(roce_gids=(), processes=EngineProcesses(processes=(orphan,)), gpu=apps(pid900=11 << 30))
    srv6.is_up = False
    return world


def _of_receipts(ada: Operator, nobody: World) -> Iterator[tuple[str, str]]:
    yield "list", ada.said(nobody, "sparks receipts list")
    yield "show", ada.said(nobody, "sparks receipts show 5")
    yield "unclosed", ada.said(nobody, "sparks receipts show 7")
    yield "verify", ada.said(nobody, "sparks receipts verify")
    first, second, _, fourth, *_ = sorted(ada.site.receipts.glob("*.jsonl"))
    first.write_text(first.read_text().replace('"by":', '"By":', 1).replace("ada", "eve", 1))
    second.unlink()
    fourth.write_text("".join(fourth.read_text().splitlines(keepends=True)[:-1]))
    yield "tampered", ada.said(nobody, "sparks receipts verify")


def _folded(line: str) -> list[str]:
    """A line as it fits on the page: digests cut short, its rest below it."""
    line = _DIGEST.sub(r"\1…", line)
    start = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line, WIDTH, subsequent_indent=start, break_long_words=False, break_on_hyphens=False, drop_whitespace=True,
        replace_whitespace=False, expand_tabs=False,
    ) or [""]  # fmt: skip


def made() -> dict[str, str]:
    """Every transcript, by name; whoever looks for this machine finds `desk`."""
    there = {name: getattr(place, name) for place, name in _PLACES}
    before = dict(os.environ)
    folder = Path(tempfile.mkdtemp())
    try:
        for place, name in _PLACES:
            setattr(place, name, lambda name=name: {"gethostname": "desk"}.get(name, "ada"))
        os.environ["LOGNAME"] = "ada"
        return dict(transcripts(Operator(folder)))
    finally:
        for place, name in _PLACES:
            setattr(place, name, there[name])
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder)


_PLACES: tuple[tuple[Any, str], ...] = ((socket, "gethostname"), (facts.controller, "_user"))
"""Where a run learns who runs it, and where."""


def shown() -> dict[str, str]:
    """Every transcript as the pages have it, by name."""
    blocks = [found for page in PAGES for found in BLOCK.finditer(page.read_text())]
    return {found["name"]: found[0].removeprefix(found[1]).removesuffix(found[3]) for found in blocks}


def masked(text: str) -> str:
    """A transcript without what is another in each run, and however it is folded."""
    for pattern, name in _MASKS:
        text = re.sub(pattern, name, text, flags=re.DOTALL)
    return text.strip()


_MASKS = (
    (r"sha256:[0-9a-f]+…?", "DIGEST"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z| UTC)", "TIME"),
    (r"\d{8}T\d{6}Z", "TIME"),
    (r"\bpid \d+", "PID"),
    (r"\+?\d+\.\d+ s\b", "SECONDS"),
    (r"versions .*? receipt before", "VERSIONS"),
    (r"\s+", " "),
)


def main() -> None:
    """Make every transcript anew, and put each in its place where any says something else than its page."""
    found, before = made(), shown()
    if all(masked(text) == masked(before.get(name, "")) for name, text in found.items()):
        return
    for page in PAGES:
        text = BLOCK.sub(lambda block: f"{block[1]}\n{found[block['name']]}\n{block[3]}", page.read_text())
        page.write_text(text)


if __name__ == "__main__":
    main()
