"""The roster for which the observations were recorded, kept with them."""

import json
from pathlib import Path

roster = json.loads((Path(__file__).parents[1] / "roster.json").read_text())
