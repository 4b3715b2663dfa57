"""The guard on a host: whether it can be armed, and what it is at."""

from fleet.record import Record

HOME = "/run/sparks-guard"
"""Where trials are kept: memory, so a reboot ends them."""


class Trial(Record):
    """A change that is neither confirmed nor undone yet."""

    token: str
    by: str
    """Who armed it, from where and when."""
    seconds: int
    """How long it may wait for its confirmation."""
    is_armed: bool
    """Is there a timer that will undo it, or is that happening now?"""

    @property
    def script(self) -> str:
        """The script on the host that undoes it."""
        return f"{HOME}/{self.token}/guard"


class Guard(Record):
    """What a host says about guarded changes."""

    missing: tuple[str, ...] = ()
    """What it lacks to arm one: programs, or `systemd`."""
    trial: Trial | None = None
    ended: tuple[str, ...] = ()
    """Of earlier trials, who armed them and how they ended; the next one clears these."""


def parse_guard(text: str) -> Guard:
    """From lines `missing NAME`, `unit STATE` and `trial TOKEN SECONDS`, each trial followed by `state …` and `by …`.

    Raises ValueError for any other line.
    """
    missing: list[str] = []
    states: list[str] = []
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "missing":
            missing.append(rest)
        elif word == "unit":
            states.append(rest)
        elif word == "trial":
            token, seconds = rest.split()
            found.append({"token": token, "seconds": seconds})
        elif word in ("state", "by") and found:
            found[-1][word] = rest
        else:
            raise ValueError("guard: expected what is missing, units and trials, found another line")
    return Guard(missing=tuple(missing), trial=_trial(found, states), ended=tuple(_ended(found)))


def _has_ended(found: dict[str, str]) -> bool:
    return found.get("state", "").startswith(("committed", "rolled-back"))


def _trial(found: list[dict[str, str]], states: list[str]) -> Trial | None:
    is_armed = bool({"active", "activating"} & set(states))
    alive = next((each for each in found if not _has_ended(each)), None)
    if alive is None:
        return None
    return Trial(token=alive["token"], by=alive["by"], seconds=int(alive["seconds"]), is_armed=is_armed)


def _ended(found: list[dict[str, str]]) -> list[str]:
    return sorted(f"{each['by']}: {each['state']}" for each in found if _has_ended(each))
