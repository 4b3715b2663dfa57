"""`sparks` on Sparks that are only observations (see `tests.deploys.played`); what is declared resident answers.

python -m tests.lab.converging WORLD COMMAND …
"""

import os
import sys
from pathlib import Path
from typing import Any

from tests.deploys.played import World, play  # patches for gevent before pyinfra is imported

from facts.bundle import Wanted  # isort: skip
from facts.completion import Completions  # isort: skip
from facts.desired import roster_for  # isort: skip
from fleet.completion import Completion  # isort: skip
from lab.cli import main  # isort: skip


class Answering(World):
    """A world whose residents answer."""

    def look(self, host: Any, wanted: tuple[Wanted, ...]) -> dict[Wanted, Any]:
        found = super().look(host, wanted)
        for each in (look for look in wanted if look.fact is Completions):
            desired = roster_for(host).desired_for(host.name).ollama
            assert desired is not None
            found[each] = tuple(
                Completion(model=pin.model, kind="completion", asked=True, count=1, failure=None)
                for pin in desired.residents
            )
        return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    play(Answering(folder))
    if (folder / "patch.py").exists():
        exec((folder / "patch.py").read_text())
    sys.argv = ["sparks", *sys.argv[2:]]
    os.environ["PYINFRA_PROGRESS"] = "off"
    main(prog_name="sparks")
