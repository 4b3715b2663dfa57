"""The lock's scripts, played on a simulated Spark: what `operations/remote/lock.sh` and `held.sh` do, by their text."""

import hashlib
import re
import shlex
from dataclasses import dataclass

from fleet.generation import BEGUN, Begun
from operations.answer import LIMITS
from operations.lock_script import HELD
from tests.simulated.spark import CLIENT, SimulatedSpark, boot_id

_MARK = "the lock on the host. Each command is whole or not at all"
_VALUE = re.compile(r"^(token|head|over|place|wait|pid|ticks)=", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """How a script ended."""

    code: int = 0
    out: str = ""
    error: str = ""


def is_about_lock(script: str) -> bool:
    return _MARK in script


def is_change(script: str) -> bool:
    return script.replace(LIMITS, "", 1).startswith(f"export LC_ALL=C; set -eu\n{HELD}\n")


def command_of(script: str) -> str:
    """`take`, `release` or `unlock`: the first line after the functions."""
    return script.rpartition("\n}\n\n")[2].partition("\n")[0]


def mark_of(script: str) -> Begun | None:
    """What a run that takes the lock says of itself in the same breath."""
    if BEGUN not in script:
        return None
    words = shlex.split(script.rpartition("printf %s ")[2])
    return Begun.from_canonical(words[0])


def play(spark: SimulatedSpark, session: int, script: str) -> Said:
    """Take, release or unlock: each waits for what is at work on the host."""
    values = dict(each.partition("=")[::2] for each in shlex.split(script.partition("# Runs on")[0]) if "=" in each)
    spark.finish()
    command = command_of(script)
    held = _lines(spark.lock)
    if command == "take":
        return _take(spark, session, values, held)
    is_its = held.get("token") == values.get("token") if command == "release" else _digest(spark) == values["over"]
    if spark.lock is not None and not is_its and command == "unlock":
        return Said(76, error=f"expected the lock that was looked at, found one of {held['owner']}")
    if is_its:
        spark.lock = None
    return Said()


def _take(spark: SimulatedSpark, session: int, values: dict[str, str], held: dict[str, str]) -> Said:
    how = "taken"
    if held.get("token") == values["token"]:
        how = "kept"
    elif spark.lock is not None:
        if _digest(spark) != values["over"]:
            return Said(
                76, error=f"expected no other run on this host, found one of {held['owner']} since {held['since']}"
            )
        how = "over"
    since = held["since"] if how == "kept" else "2026-12-01 10:00:00 UTC"
    spark.lock = (
        f"{values['head']}from {CLIENT}\nsince {since}\nboot {boot_id(spark.boots)}\nholder {session} {session}\n"
    )
    return Said(out=how)


def refusal_to_change(spark: SimulatedSpark, session: int) -> Said | None:
    """What the first line of a change says where this connection does not hold the lock."""
    if _lines(spark.lock).get("holder") == f"{session} {session}":
        return None
    found = "expected the lock of this host held by this connection, found it is not; nothing was changed"
    return Said(75, error=found)


def as_seen(spark: SimulatedSpark) -> str:
    """The output of the look at the lock."""
    said = f"now {boot_id(spark.boots)}\n"
    if spark.unfinished is not None:
        said += "at-work\n"
    if spark.lock is None:
        return said
    lines = "".join(f"| {line}\n" for line in spark.lock.splitlines())
    lives = int(_lines(spark.lock)["holder"].split()[0]) in spark.sessions
    return f"{said}digest {_digest(spark).removeprefix('sha256:')}\n{lines}lives {'yes' if lives else 'no'}\n"


def _digest(spark: SimulatedSpark) -> str:
    return "sha256:" + hashlib.sha256((spark.lock or "").encode()).hexdigest()


def _lines(lock: str | None) -> dict[str, str]:
    return dict(line.partition(" ")[::2] for line in (lock or "").splitlines())
