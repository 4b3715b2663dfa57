"""Where the values of a site are."""

import ast
from collections.abc import Iterator
from pathlib import Path

from pyinfra.api.exceptions import PyinfraError


def group_data_of(inventory: Path) -> Path:
    """Where pyinfra takes the group's data from: beside the inventory before the working directory."""
    name = f"{inventory.stem}.py"
    places = [inventory.parent / "group_data" / name, Path("group_data") / name]
    for place in places:
        if place.is_file():
            return place
    raise PyinfraError(f"{inventory}: expected group_data at {' or '.join(map(str, places))}, found neither")


def written_twice(source: str) -> Iterator[tuple[int, str]]:
    """Every key that a dict of a Python file has more than once, with its line: Python takes the last of them.

    Raises SyntaxError, and ValueError for a NUL.
    """
    for node in ast.walk(ast.parse(source)):
        seen: set[object] = set()
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant):
                if key.value in seen:
                    yield key.lineno, f"{key.value!r}"
                seen.add(key.value)
