"""Writes the files of docs/reference that are made from the code: `python -m lab.reference`."""

import json
from pathlib import Path

from fleet.codes import SECTIONS, Section
from fleet.doctor import explain
from lab.schemas import DOCUMENTS, schema

REFUSALS = Path("docs/reference/refusals.md")
DOCTOR = Path("docs/reference/doctor.md")
SCHEMAS = Path("docs/reference/schema")

_HEAD = """\
# Refusals

Made from `fleet/codes` by `make reference`; do not edit.

A refusal ends a run before anything is written, on every host of the target, with status 1 (`sparks`: 3). It reads
`{subject}: expected {x}, found {y} [code]`, and where there is one the next line is what would help. Every host
and every subject (a rail end, the unit, a model) says the first reason that stands in its way, all at once.
"""


def refusals_page() -> str:
    """The text of docs/reference/refusals.md."""
    return "\n".join([_HEAD, *(_section(each) for each in SECTIONS)])


def _section(section: Section) -> str:
    intro = f"{section.intro}\n\n" if section.intro else ""
    rows = "".join(f"| `{code}` | {means} | {remedy} |\n" for code, (means, remedy) in section.codes.items())
    return f"## {section.title}\n\n{intro}| code | it means | what to do |\n|---|---|---|\n{rows}"


def pages() -> dict[Path, str]:
    """Every file that is made from the code, with its text."""
    schemas = {SCHEMAS / f"{name}.json": json.dumps(schema(name), indent=2) + "\n" for name in DOCUMENTS}
    return {REFUSALS: refusals_page(), DOCTOR: explain.page(), **schemas}


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
