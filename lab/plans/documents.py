"""The documents of plans and observations: what is kept in files, and printed with --json."""

from typing import Literal

from fleet.observation import Observation
from fleet.plan import Plan, Refusals
from fleet.record import Digest, Record
from fleet.refusal import Refusal
from fleet.target import Target

Due = Literal["as_desired", "pending", "refused"]


class PlanDocument(Record):
    """`sparks plan --json`, and the file of a plan."""

    due: Due
    plan_digest: Digest | None
    """What is approved."""
    plan: Plan | None
    """None where it was refused."""
    refusals: tuple[Refusal, ...] = ()
    """Every reason, on every host."""

    @classmethod
    def of(cls, outcome: Plan | Refusals) -> "PlanDocument":
        """The document of what planning came to."""
        if isinstance(outcome, Refusals):
            return cls(due="refused", plan_digest=None, plan=None, refusals=outcome.refusals)
        return cls(due="as_desired" if outcome.is_noop else "pending", plan_digest=outcome.digest, plan=outcome)


class Collection(Record):
    """What was seen of a target's hosts, to be planned from elsewhere. Secrets have never left the hosts."""

    format: Literal[1] = 1
    target: Target
    roster_digest: Digest
    observed_at: str
    versions: dict[str, str]
    observations: tuple[Observation, ...]
    drained: tuple[Digest, ...]
    """Which of the processes that serve on these hosts were drained, by the receipts of the site when it was looked."""


class CollectionDocument(Record):
    """The file of an observation, and what `sparks observe` prints."""

    collection_digest: Digest
    collection: Collection

    @classmethod
    def of(cls, collection: Collection) -> "CollectionDocument":
        """The document of what was seen."""
        return cls(collection_digest=collection.digest, collection=collection)
