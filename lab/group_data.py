"""Where the values of a site are."""

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
