"""Writes the pages of docs/reference that are made from the code: `python -m lab.reference`."""

from pathlib import Path

from fleet.codes import SECTIONS, Section

REFUSALS = Path("docs/reference/refusals.md")

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


if __name__ == "__main__":
    REFUSALS.write_text(refusals_page(), encoding="utf-8")
