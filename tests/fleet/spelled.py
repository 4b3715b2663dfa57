"""A record as the values of a roster that read as it: a key whose value would be None is left out."""

from typing import Any

from fleet.record import Record


def spelled(record: Record) -> Any:
    return record.model_dump(mode="json", exclude_none=True)
