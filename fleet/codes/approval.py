"""Why a plan may not be carried out, though nothing on its hosts stands in the way."""

APPROVAL: dict[str, tuple[str, str]] = {
    "not_approved": (
        "something is due and nobody approved a plan for this host in this run",
        "look at the plan of a dry run, then name its digest: `--data plan=sha256:… -y`; several with commas between",
    ),
    "approved_twice": (
        "two approved plans are about one host, as that of a spark and that of its deployment",
        "name one plan for each host",
    ),
    "plan_moved": (
        "the plan that was approved is not the one that would be carried out now: a host, the roster or the code of "
        "this package moved since",
        "look at the new plan, and approve that",
    ),
    "approval_expired": (
        "the approval was for a time that is over",
        "look at the plan again, and approve it again",
    ),
    "drifted": (
        "while it executes, an operation finds another step due than the one that was approved: somebody or something "
        "changed the host. Nothing of it was written. What an earlier step of the same run has moved is no drift as "
        "long as the step does the same",
        "look at the new plan, and approve that",
    ),
}
"""By code: what it means, and what to do."""
