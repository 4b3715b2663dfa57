"""Write down on a host which plan was carried out there, and what that left running."""

from collections.abc import Callable, Generator
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation, stamp_looks
from fleet.desired import DesiredSpark
from fleet.generation import BEGUN, HOME, STAMP, Begun
from fleet.generation_due import WriteStamp, stamp_step
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from operations.acting import act, read_back, refuse, write_file
from operations.lock import under_lock

SHOWS_WITHIN_SECONDS = 30.0
"""A file shows at once; a serving process that starts again just then is looked at once more."""


@operation()
def stamp(desired: DesiredSpark, applied: Callable[[], Begun | None]) -> Generator[Any, None, None]:
    """
    Stamp the host with the plan that was carried out: `/var/lib/sparks/generation.json`, for anybody to read. The last
    operation of a deploy; where nothing was due on this host it does nothing.

    + desired: what the host should be
    + applied: gives the approved plan where it has steps for this host, else None. It is asked each time: a plan stands
      only once all operations of all hosts are known

    .. code:: python

        generation.stamp(name="generation", desired=desired, applied=lambda: applied_to(host))
    """
    match (yield from under_lock(host, lambda: stamp_step(desired, applied(), _seen(desired)))):
        case None:
            host.noop("nothing was due here, so the stamp stays")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case WriteStamp() as step:
            yield from act(host, _script(step), step)
            yield from read_back(lambda _: _difference(step), SHOWS_WITHIN_SECONDS)


def _seen(desired: DesiredSpark | None) -> Observation:
    return observation(host, host.name, stamp_looks(desired))


def begin(applied: Begun) -> str:
    """The script that says on a host that a run begins to act: before its first change."""
    return f"{_there()}\n({write_file(BEGUN, applied.canonical, 0o644)})"


def _there() -> str:
    return f"[ -d {HOME} ] || mkdir -p -m 0755 {HOME}"


def _script(step: WriteStamp) -> str:
    """Killed anywhere, the next run finds `BEGUN` and stamps again."""
    return f"{_there()}\n({write_file(STAMP, step.generation.text, 0o644)})\nrm -f {quote(BEGUN)}\nsync {quote(HOME)}"


def _difference(step: WriteStamp) -> Refusal | None:
    """A write that the host lost is none."""
    seen = _seen(None)
    if blind := seen.unobserved("generation"):
        return blind
    found = known(seen.generation)
    if found.generation == step.generation and found.begun is None:
        return None
    shown = "no such stamp" if found.known is None else f"plan {found.known.plan} of {found.known.at:%F %T} UTC"
    return Refusal(code="not_stamped", subject=step.subject, expected=step.after, found=shown)
