"""A directory that stands in for a host: the fact's own command runs against it."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from facts.netplan import NetplanEffective, NetplanFiles
from fleet.netplan import NetplanFile

CASES = Path(__file__).resolve().parents[2] / "cases"


def output(root: Path, fact: type[NetplanFiles] | type[NetplanEffective] = NetplanFiles) -> str:
    """What leaves the host."""
    ran = subprocess.run(["sh", "-c", fact().command(str(root))], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def look(root: Path) -> tuple[NetplanFile, ...]:
    """The fact's value."""
    return NetplanFiles().process(output(root).splitlines())


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files by path below the root, or by name below etc/netplan; mode 0600."""
    for name, content in files.items():
        path = root / (name if "/" in name else f"etc/netplan/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o600)
    return root


def copy_case(case: str, root: Path, only: str = "input.*.yaml") -> Path:
    """The inputs of a case where netplan would find them."""
    folder = next(CASES.glob(f"{case}-*"))
    for source in sorted([*folder.rglob(only), *folder.rglob("input.yaml")]):
        place = str(source.relative_to(folder))
        place = place if place == "input.yaml" else place.removeprefix("input.")
        target = root / (place if "/" in place else _place(place))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o600)
    return root


def _place(name: str) -> str:
    return f"lib/netplan/{name.removeprefix('lib.')}" if name.startswith("lib.") else f"etc/netplan/{name}"
