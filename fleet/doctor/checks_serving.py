"""Checks of what a run of ours has left: its stamp, its process, its lock; and of what was drained."""

from collections.abc import Iterator

from fleet.doctor.check import Found, Host, HostCheck
from fleet.doctor.finding import Level
from fleet.generation import Generation, Origin, origin
from fleet.health import Finding as Health
from fleet.health import Verdict, health
from fleet.lock import LockState
from fleet.locked import is_left
from fleet.observation import known
from fleet.ollama.deployment import UNIT


def _health(asked: Host, code: str) -> Iterator[Found]:
    for each in health(asked.desired, asked.seen, None):
        if each.code == code and each.verdict is Verdict.DIFFERS:
            yield _of_health(each, asked)


def _of_health(finding: Health, asked: Host) -> Found:
    return Found(finding.subject, finding.expected, finding.found, f"sparks converge {asked.desired.name}")


def _stamp(asked: Host) -> Iterator[Found]:
    return _health(asked, "generation")


def _process(asked: Host) -> Iterator[Found]:
    return _health(asked, "serving_process") if asked.desired.ollama is not None else iter(())


def _unstamped(asked: Host) -> Iterator[Found]:
    running = known(asked.seen.invocation)
    if asked.desired.ollama is None or running.invocation is None or not running.may_serve:
        return
    if origin(running.invocation, known(asked.seen.generation)) is Origin.UNSTAMPED:
        yield Found(f"{asked.seen.host} {UNIT}", "a process that a run of ours left running", str(running.invocation),
                    f"sparks drain {asked.desired.name}, before what would interrupt it")  # fmt: skip


def _roster_moved(asked: Host) -> Iterator[Found]:
    stamp = known(asked.seen.generation).generation
    if isinstance(stamp, Generation) and stamp.desired != asked.desired.digest:
        yield Found(f"{asked.seen.host} stamp", "what the roster says now", f"what it said at {stamp.at:%F %T} UTC",
                    f"sparks plan {asked.desired.name}")  # fmt: skip


def _drained(asked: Host) -> Iterator[Found]:
    running = known(asked.seen.invocation).invocation
    if running is not None and running.digest in asked.drained:
        yield Found(f"{asked.seen.host} {UNIT}", "a process that serves", f"{running}, drained within the last hour",
                    f"sparks converge {asked.desired.name}")  # fmt: skip


def _lock(asked: Host) -> Iterator[Found]:
    state: LockState = known(asked.seen.lock)
    if is_left(state):
        yield Found(f"{asked.seen.host} lock", "none, since nobody runs", f"{state.held}; {state.gone}",
                    f"sparks converge {asked.desired.name}")  # fmt: skip


SERVING: tuple[HostCheck, ...] = (
    HostCheck(
        id="serving.stamp",
        level=Level.WARN,
        looks_for="A run that has begun on the Spark and has not come to its end, or a stamp that cannot be read.",
        why="A run that was killed, or whose host lost its power, may have done a part; the next one finishes it.",
        fix="`sparks converge`, after a look at the receipt: `sparks receipts show`.",
        find=_stamp,
        sections=("generation",),
    ),
    HostCheck(
        id="serving.process",
        level=Level.WARN,
        looks_for="The unit of Ollama without a process, another program at its address, or another program than the "
        "one that a run of ours left running.",
        why="Clients reach something else than what was proved at the end of the last run.",
        fix="`sparks converge`; where somebody else's program listens, it is not ours to stop.",
        find=_process,
        sections=("invocation", "generation"),
    ),
    HostCheck(
        id="serving.unstamped",
        level=Level.INFO,
        looks_for="A serving process with models loaded that no run of ours has started.",
        why="A step that would interrupt it is refused (`drain_needed`) until it was drained.",
        fix="Nothing, until a plan must interrupt it: then `sparks drain`. See ../health.md.",
        find=_unstamped,
        sections=("invocation", "generation"),
    ),
    HostCheck(
        id="serving.roster_moved",
        level=Level.INFO,
        looks_for="A stamp of a run for which the roster said something else about this Spark than it says now.",
        why="What was proved then was another desired state. It may be that nothing of the change needs a step.",
        fix="`sparks plan` tells what is due now.",
        find=_roster_moved,
        sections=("generation",),
    ),
    HostCheck(
        id="serving.drained",
        level=Level.INFO,
        looks_for="A serving process that was drained within the last hour and still runs.",
        why="Somebody has prepared a restart; Ollama takes requests all the same, and the drain counts for an hour.",
        fix="Carry out what it was drained for, or leave it: it goes on serving.",
        find=_drained,
        sections=("invocation",),
    ),
    HostCheck(
        id="serving.stale_lock",
        level=Level.WARN,
        looks_for="A lock on the host that a dead run of yours has left. Another's is `refused.locked`.",
        why="A run was cut off there: what it did is in its receipt, and perhaps not whole.",
        fix="The next `sparks converge` takes it over and finishes.",
        find=_lock,
        sections=("lock",),
    ),
)
