"""The site of the ring of four virtual Sparks, and a copy of it whose roster asks for no transit."""

import json
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.control import ROOT, on

if TYPE_CHECKING:
    from virtual.lab import Lab

INVENTORY = "inventories/virtual_ring.py"
FABRIC = (INVENTORY, "deploys/fabric.py")
SPARKS = ("vspark1", "vspark2", "vspark3", "vspark4")
RUNS_DOCKER = "for i in 1 2 3; do systemctl start docker.service && exit 0; sleep 5; done; exit 1"
"""On a busy host it can take longer to start than systemd gives it."""


def together(lab: "Lab", script: str, names: tuple[str, ...] = SPARKS) -> None:
    """The script on several Sparks at once."""
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: on(lab, name, script, seconds=600), names))


def without_transit(folder: Path) -> str:
    """The path of the copy's inventory, written into a folder."""
    roster = runpy.run_path(str(ROOT / "group_data" / "virtual_ring.py"))["roster"]
    fabrics = {name: fabric | {"transit": False} for name, fabric in roster["fabrics"].items()}
    inventory = folder / Path(INVENTORY).name
    inventory.write_text((ROOT / INVENTORY).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "group_data").mkdir()
    written = f"import json\n\nroster = json.loads({json.dumps(roster | {'fabrics': fabrics})!r})\n"
    (folder / "group_data" / inventory.name).write_text(written, encoding="utf-8")
    return str(inventory)
