"""How a run ended, and what a script is told of it."""

from enum import StrEnum


class Outcome(StrEnum):
    """The end of a run; a receipt without one was not closed, which is evidence of its own."""

    FOUND_AS_DESIRED = "found_as_desired"
    """Looked at, and nothing was due: nothing was written."""
    CONVERGED = "converged"
    """What was due was done, was read back, and a new plan finds nothing."""
    DRAINED = "drained"
    """Of a drain: no request ran for as long as was asked, on any process there was. It changes nothing by itself."""
    REFUSED = "refused"
    """It must not be done; nothing was written after the refusal."""
    DIFFERS = "differs"
    """Done, looked at again, and not as desired."""
    FAILED = "failed"
    """It could not be done, or not all of it."""
    INTERRUPTED = "interrupted"
    """A signal stopped it between two commands, or at once."""

    @property
    def is_good(self) -> bool:
        """Is everything now as this run was to make it, or to find it?"""
        return self in (Outcome.FOUND_AS_DESIRED, Outcome.CONVERGED, Outcome.DRAINED)

    @property
    def exit_status(self) -> int:
        """The status of the command; `lab.command` has the names."""
        if self.is_good:
            return 0
        return {Outcome.REFUSED: 3, Outcome.INTERRUPTED: 130}.get(self, 1)
