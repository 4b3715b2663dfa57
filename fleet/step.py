"""A step: one change of one subject, with the state it expects to find and the state it leaves."""

from enum import StrEnum

from fleet.record import Record


class Effect(StrEnum):
    """What carrying a step out does to a host, from harmless to costly."""

    WRITE = "write"
    ACTIVATE = "activate"
    GUARDED = "guarded"
    """It may cut SSH, and undoes itself unless a fresh connection confirms it."""
    LOAD = "load"
    RESTART = "restart"
    DOWNLOAD = "download"
    EVICT = "evict"
    REMOVE = "remove"
    """Something goes; of what was another owner's a copy is kept."""


class Step(Record):
    """The base of every step; a subclass adds a literal `kind` and the values that acting needs."""

    kind: str
    subject: str
    """What changes, host first, as in a refusal: `srv5 /etc/netplan/90-NM-….yaml`."""
    before: str
    """What was found, in words and digests; an operation looks again and decides again before it acts."""
    after: str
    """What will be found once it is done; already found when acting, there is nothing to do."""
    reason: str
    """Why it is due, in the operator's words."""
    effect: Effect

    def __str__(self) -> str:
        return f"{self.subject}: {self.before} -> {self.after} ({self.effect}: {self.reason})"
