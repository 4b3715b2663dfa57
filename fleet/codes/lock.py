"""One run at a time on a host: why another has to wait, and what breaks a lock that was left behind."""

LOCK: dict[str, tuple[str, str]] = {
    "locked": (
        "another run changes this host now, or one that is gone has left its lock; the sentence says whose, since "
        "when, for which plan, and what of it lives",
        "wait; where it is gone, `sparks unlock HOST --owner NAME` once its owner has been asked. Your own you need "
        "not break: the next run takes it over",
    ),
    "lock_not_taken": (
        "the lock could not be taken when the first change was due; nothing was changed",
        "what it says: room in `/run`, sudo, the connection, or a command of an earlier run that does not end",
    ),
    "lock_alive": (
        "the run whose lock is to be broken lives: its process on its controller, its connection on the host, or a "
        "command of it",
        "end that run, or wait",
    ),
    "lock_of_another": (
        "the lock that is to be broken is not of the owner who was named",
        "name the owner, as the sentence has it, if it is that lock you mean",
    ),
}
"""By code: what it means, and what to do."""
