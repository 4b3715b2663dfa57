"""What is wrong with a receipt or a folder of them, and where."""

from enum import StrEnum

from fleet.record import Record


class Kind(StrEnum):
    """What seems to have happened."""

    EDITED = "edited"
    """A line is not as it was written."""
    REMOVED = "removed"
    """A line in the middle, or a whole file, is gone."""
    INSERTED = "inserted"
    """A line or a file is there that was not written in that place."""
    REORDERED = "reordered"
    """A line stands elsewhere than it was written."""
    CUT = "cut"
    """Lines at the end are gone."""
    RENAMED = "renamed"
    """A file has another name than its first line says."""
    NOT_A_RECEIPT = "not_a_receipt"
    """What stands there is no file, or not one that may be read."""
    NOT_FOUND = "not_found"
    """A seal that was noted elsewhere is in no receipt here."""


class Fault(Record):
    """One thing that is wrong; `str()` is `{file}:{line}: expected {x}, found {y} [kind]`."""

    kind: Kind
    receipt: str
    """The name of the file in its folder."""
    line: int | None = None
    """From 1, as editors count; None for the file as a whole."""
    expected: str
    found: str

    def __str__(self) -> str:
        place = self.receipt if self.line is None else f"{self.receipt}:{self.line}"
        return f"{place}: expected {self.expected}, found {self.found} [{self.kind}]"
