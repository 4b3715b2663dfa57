"""Every code that a refusal can have: what it means and what to do. `docs/reference/refusals.md` is made from this."""

from collections.abc import Mapping

from fleet.codes.acting import AFTER_ACTING
from fleet.codes.approval import APPROVAL
from fleet.codes.candidate import CANDIDATE
from fleet.codes.fabric import FABRIC, HOST
from fleet.codes.guard import GUARD
from fleet.codes.health import HEALTH
from fleet.codes.host import HOST_POLICY, HOST_WALLS
from fleet.codes.kernel import KERNEL, KERNEL_WALLS
from fleet.codes.lock import LOCK
from fleet.codes.memory import MEMORY, MEMORY_WALLS
from fleet.codes.ollama import OLLAMA
from fleet.codes.ollama_walls import OLLAMA_WALLS
from fleet.codes.others import DECLARED, OTHERS
from fleet.codes.roster import ROSTER
from fleet.codes.target import TARGET
from fleet.codes.transit import TRANSIT
from fleet.codes.trial import TRIAL
from fleet.record import Record

Codes = Mapping[str, tuple[str, str]]
"""By code: what it means, and what to do about it."""


class Section(Record):
    """One part of the page."""

    title: str
    intro: str
    codes: dict[str, tuple[str, str]]


SECTIONS = (
    Section(
        title="Before any host is contacted",
        intro="The roster (see [roster.md](roster.md)), the hosts of the inventory and the limits are checked while "
        "the inventory loads. These complaints name the file and the key. What is of a wrong type, missing or unknown "
        "says so without a code.",
        codes=ROSTER | OLLAMA_WALLS | DECLARED | KERNEL_WALLS | HOST_WALLS,
    ),
    Section(title="What a command is about", intro="", codes=TARGET),
    Section(title="What was seen of a host", intro="", codes=HOST),
    Section(title="One run at a time", intro="See [lock.md](../lock.md).", codes=LOCK),
    Section(title="The fabric", intro="", codes=FABRIC),
    Section(title="What is not ours on the fabric", intro="", codes=OTHERS),
    Section(title="Transit", intro="", codes=TRANSIT),
    Section(title="The kernel", intro="See [kernel.md](../kernel.md).", codes=KERNEL),
    Section(title="Changes that may cut SSH", intro="See [deadman.md](../deadman.md).", codes=GUARD),
    Section(title="The rest of a host", intro="See [host.md](../host.md).", codes=HOST_POLICY),
    Section(title="Trying a kernel", intro="See [kernel-trial.md](../kernel-trial.md).", codes=TRIAL),
    Section(title="Ollama", intro="", codes=OLLAMA),
    Section(
        title="Memory",
        intro="See [memory.md](../memory.md). The last of these are of values that cannot be, in a roster or in code.",
        codes=MEMORY | MEMORY_WALLS,
    ),
    Section(
        title="What goes together",
        intro="A deployment is possible where an artefact, a runtime, the kernels, a split and a transport are known "
        "to go together, each by exact digests. A missing one is refused by its own name.",
        codes=CANDIDATE,
    ),
    Section(title="Approval", intro="", codes=APPROVAL),
    Section(
        title="After acting",
        intro="These are said by an operation that acted, looked again, and did not find what it had made. The run "
        "ends with status 1.",
        codes=AFTER_ACTING,
    ),
    Section(
        title="Health at the end of a run",
        intro="Findings about each host, after everything else. See [health.md](../health.md).",
        codes=HEALTH,
    ),
)
