"""A step: one change of one subject, with the state it expects to find and the state it leaves."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from fleet.record import Record


class Found:
    """Marks a field of a step that follows from what was found, as `Annotated[str, FOUND]`: see `Step.act`."""


FOUND = Found()

TOUCH_PORTS = frozenset({"remove_file", "reload_profiles", "write_document", "activate", "renew_gid", "guarded_change"})
"""The kinds of steps after which another port may show something else: to bring one profile up makes NetworkManager
load all that netplan generates, so a neighbour's may come by itself, and one whose file has gone goes."""


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
    NEXT_BOOT = "at the next boot"
    """It takes effect when the host boots, and the step does not boot it."""
    REMOVE = "remove"
    """Something goes; of what was another owner's a copy is kept."""


class Step(Record):
    """The base of every step; a subclass adds a literal `kind` and the values that acting needs."""

    is_planned: ClassVar[bool] = True
    """Does a plan hold it? If not it needs no approval: it writes down what was done."""
    follows: ClassVar[frozenset[str]] = frozenset()
    """The kinds of steps that may move what this one finds, once they were carried out before it in the same run."""
    stands_for: ClassVar[frozenset[str]] = frozenset()
    """The kinds of steps in whose place it may then be due."""

    kind: str
    subject: str
    """What changes, host first, as in a refusal: `srv5 /etc/netplan/90-NM-….yaml`."""
    before: Annotated[str, FOUND]
    """What was found, in words and digests; an operation looks again and decides again before it acts."""
    after: Annotated[str, FOUND]
    """What will be found once it is done, where it differs from what was; already found, there is nothing to do."""
    reason: Annotated[str, FOUND]
    """Why it is due, in the operator's words."""
    effect: Effect

    @property
    def act(self) -> dict[str, Any]:
        """What carrying it out does, as plain JSON types: all of it but what follows from what was found."""
        plain: dict[str, Any] = self.to_json()
        fields = type(self).model_fields
        return {
            name: plain[name]
            for name, field in fields.items()
            if name != "kind" and not any(isinstance(each, Found) for each in field.metadata)
        }

    def __str__(self) -> str:
        return f"{self.subject}: {self.before} -> {self.after} ({self.effect}: {self.reason})"
