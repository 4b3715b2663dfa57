"""A refusal: why nothing was done. It is a result with a code that tests assert and a sentence for people."""

from fleet.record import Record


class Refusal(Record):
    """What stands in the way of one subject; `str()` is `{subject}: expected {x}, found {y} [code]`."""

    code: str
    """Stable snake_case name of the kind of refusal."""
    subject: str
    """What it is about, host first: `srv5 enp1s0f0np0 mtu`."""
    expected: str
    found: str
    hint: str | None = None
    """The command or the edit that would help, where there is one."""

    def __str__(self) -> str:
        sentence = f"{self.subject}: expected {self.expected}, found {self.found} [{self.code}]"
        return sentence if self.hint is None else f"{sentence}\n  {self.hint}"
