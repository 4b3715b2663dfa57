"""The site of the ring of four virtual Sparks, and a copy of it whose roster asks for no transit."""

import json
import runpy
from pathlib import Path

from tests.e2e.control import ROOT

INVENTORY = "inventories/virtual_ring.py"


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
