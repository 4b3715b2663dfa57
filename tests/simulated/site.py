"""A site whose Sparks are simulated, and what its operator does there."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet.receipt.receipt import Receipt, read_receipt
from fleet.roster import Roster
from tests.deploys.site import VALUES
from tests.simulated.controller import Ran, run
from tests.simulated.spark import SimulatedSpark
from tests.simulated.world import World

ROSTER = Roster.read(VALUES, "site")
TARGET = "a"
"""The Spark that has rails and serves."""
INVENTORY = """
from lab.site import site
elsewhere = site(__file__, {hosts!r}, known_hosts={known_hosts!r})
"""
PLAN = re.compile(rf"(?:--plan |plan (?=\S+ for {TARGET}\n))(sha256:[0-9a-f]{{64}})")
"""As `sparks` names it where nobody said yes, and pyinfra for that target."""
HOST = {"ssh_hostname": "simulated.invalid", "ssh_user": "spark"}


@dataclass(frozen=True)
class Looked:
    """A plan was made and shown, and nothing done."""

    ran: Ran

    @property
    def plan(self) -> str | None:
        """The digest of what is due; None where nothing is."""
        found = PLAN.search(self.ran.said)
        return found and found[1]


class Site:
    """A site's folder.

    + values: of its roster
    """

    def __init__(self, folder: Path, values: dict[str, Any] = VALUES) -> None:
        self.roster = Roster.read(values, "site")
        self.folder, self.receipts = folder, folder / "receipts"
        self.inventory = folder / "inventories" / "elsewhere.py"
        data = folder / "inventories" / "group_data" / "elsewhere.py"
        data.parent.mkdir(parents=True)
        data.write_text(f"roster = {values!r}\n")
        hosts = dict.fromkeys(self.roster.enrolled, HOST)
        self.inventory.write_text(INVENTORY.format(hosts=hosts, known_hosts=str(folder / "known_hosts")))

    def world(self) -> World:
        """Its Sparks as they come."""
        each = map(self.roster.desired_for, self.roster.enrolled)
        return World({desired.name: SimulatedSpark.as_it_comes(desired) for desired in each})

    def pyinfra(self, world: World, *arguments: str, limit: str | None = TARGET) -> Ran:
        """`pyinfra INV deploys/serve.py …` to its end."""
        limited = () if limit is None else ("--limit", limit)
        return run(world, self.folder, "pyinfra", str(self.inventory), "deploys/serve.py", *limited, *arguments)

    def sparks(self, world: World, *arguments: str) -> Ran:
        """`sparks converge a …` to its end."""
        command = ("converge", TARGET, "-i", str(self.inventory), "--receipts", str(self.receipts))
        return run(world, self.folder, "sparks", *command, *arguments)

    def clear_receipts(self) -> None:
        """Each run reads those before it."""
        shutil.rmtree(self.receipts, ignore_errors=True)

    def last_receipt(self) -> Receipt | None:
        """The newest one."""
        newest = max(self.receipts.glob("*.jsonl"), default=None)
        return None if newest is None else read_receipt(newest.name, newest.read_bytes())


class Natively:
    """With pyinfra's own command."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def look(self, world: World) -> Looked:
        return Looked(self.site.pyinfra(world, "--dry"))

    def carry_out(self, world: World, looked: Looked) -> Ran:
        """Exactly what was shown; where nothing was, nothing is due."""
        approved = () if looked.plan is None else ("--data", f"plan={looked.plan}")
        return self.site.pyinfra(world, *approved, "-y")


class Converging:
    """With `sparks converge`."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def look(self, world: World) -> Looked:
        """Nobody is there to be asked."""
        return Looked(self.site.sparks(world))

    def carry_out(self, world: World, looked: Looked) -> Ran:
        approved = () if looked.plan is None else ("--yes", "--plan", looked.plan)
        return self.site.sparks(world, *approved)
