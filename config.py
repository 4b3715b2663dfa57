"""Read by pyinfra before anything else when it runs from this folder.

The packages here are called what a pyinfra user types: `facts`, `operations`, `deploys`. pyinfra puts the
working directory last on `sys.path`, so an installed namesake would win; here it does not, and one that was
imported already (`pyinfra … fact` imports its facts before this file) is refused. An inventory file that is not
there is refused too: pyinfra would run on no host and call it success (3.10.0).
"""

import sys
from pathlib import Path

import click
from pyinfra import config
from pyinfra.api.exceptions import PyinfraError

config.FAIL_PERCENT = 0

_context = click.get_current_context(silent=True)
_inventory = str(_context.params.get("inventory") or "") if _context else ""
if _inventory.endswith(".py") and not Path(_inventory).is_file():
    raise PyinfraError(f"{_inventory}: expected an inventory file, found none")

_ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(_ROOT))

for _name in ("deploys", "facts", "fleet", "lab", "operations"):
    _module = sys.modules.get(_name)
    _file = getattr(_module, "__file__", None)
    if _module is not None and (_file is None or _ROOT not in Path(_file).resolve().parents):
        raise PyinfraError(
            f"{_name}: expected the package in {_ROOT}, found {_file or 'a namesake'}; run PYTHONPATH={_ROOT} pyinfra …"
        )
