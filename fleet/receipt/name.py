"""The names of receipts: `000042-20261130T013312Z-srv5.jsonl`.

The number orders them, also where the clock of the controller jumped between two runs.
"""

import re
from datetime import datetime
from typing import Annotated

from pydantic import Field

_FORM = r"([0-9]{6,12})-[0-9]{8}T[0-9]{6}Z-[A-Za-z0-9._-]{1,64}\.jsonl"
_NAME = re.compile(_FORM)
ReceiptName = Annotated[str, Field(pattern=f"^{_FORM}$")]
"""It has no way out of its folder."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


def receipt_name(number: int, at: datetime, target: str) -> str:
    """The name of the receipt with this number; `at` is in UTC, and what a file's name should not have is `_`."""
    return f"{number:06}-{at:%Y%m%dT%H%M%SZ}-{_UNFIT.sub('_', target)[:64] or '_'}.jsonl"


def number_of(name: str) -> int | None:
    """The number of a receipt, or None for what is no name of one."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None
