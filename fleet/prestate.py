"""What the decisions about a host rest on, by section: digests that tell a host that moved from one that did not.

What changes by itself is no part of them (`VOLATILE`, `comes_and_goes`). Where a decision rests on it all the same, as
on a port's carrier, the steps of the plan say so by what they find and do, or the plan is refused.
"""

from fleet.observation import HOST, NOT_LOOKED, SERVING, Observation
from fleet.record import Digest, Record, Unobserved, canonical_json, sha256_digest
from fleet.target import Scope


class Unseen(Record):
    """A section of an observation that could not be observed, and on which no decision of the plan rests."""

    section: str
    reason: str


def sections(seen: Observation, scope: Scope) -> dict[str, Record | tuple[Record, ...]]:
    """What was looked at of what a scope asks about, by name; a section may be `Unobserved`."""
    names = (name for name in type(seen).model_fields if name != "host")
    asked = {SERVING: scope.includes(Scope.SERVE), HOST: scope.includes(Scope.HOST)}
    left_out = frozenset().union(*(group for group, is_asked in asked.items() if not is_asked))
    return {name: found for name in names if name not in left_out and (found := getattr(seen, name)) != NOT_LOOKED}


def prestate(seen: Observation, scope: Scope) -> dict[str, Digest]:
    """The digest of what is stable in each section: equal while nobody acts on the host and it does not boot."""
    stable: dict[str, object] = seen.stable
    return {name: sha256_digest(canonical_json(stable[name]).encode()) for name in sections(seen, scope)}


def unseen(seen: Observation, scope: Scope) -> tuple[Unseen, ...]:
    """Every section that could not be observed."""
    return tuple(
        Unseen(section=name, reason=found.reason)
        for name, found in sections(seen, scope).items()
        if isinstance(found, Unobserved)
    )
