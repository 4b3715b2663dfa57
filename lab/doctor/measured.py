"""What `sparks bandwidth --json` said, from the file that somebody kept it in."""

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fleet.bandwidth import Verdict
from lab.command import Failed

_VERDICTS = TypeAdapter(tuple[Verdict, ...])


def read_measured(path: str) -> tuple[Verdict, ...]:
    """Every direction that was measured; raises Failed for what is no such file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        json.loads(text)
        return _VERDICTS.validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "other bytes"
        raise Failed(f"{path}: expected what sparks bandwidth --json says, found {found}") from error
    except json.JSONDecodeError as error:
        raise Failed(f"{path}:{error.lineno}: expected JSON, found {error.msg}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise Failed(f"{path}: {place}: expected what sparks bandwidth --json says, found {first['msg']}") from error
