"""The shape of the tree: imports go one way, and the names a pyinfra user types are ours."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

MAY_IMPORT: dict[str, set[str]] = {
    "fleet": set(),
    "facts": {"fleet"},
    "operations": {"facts", "fleet"},
    "deploys": {"operations", "facts", "fleet"},
    "lab": {"deploys", "operations", "facts", "fleet"},
    "virtual": {"fleet"},
    "inventories": {"lab", "virtual"},
}
"""Which of our packages each may import. `sparks` mounts `virtual`'s commands by name, so `lab` does not import it."""

PURE = {"pydantic", "pydantic_core", "netaddr", "typing_extensions", "annotated_types"}
"""What `fleet` may import besides the standard library and itself."""


DOES_IO = (
    "subprocess",
    "socket",
    "urllib.request",
    "http",
    "os",
    "shutil",
    "tempfile",
    "asyncio",
    "threading",
)
"""Standard modules that have no business in a pure model."""


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported_modules(path: Path) -> Iterator[str]:
    """The modules that a module imports, by their full names, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def imported(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports."""
    return (name.partition(".")[0] for name in imported_modules(path))


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_imports_go_one_way(package: str) -> None:
    ours = set(MAY_IMPORT)
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(package)
        for name in imported(path)
        if name in ours and name != package and name not in MAY_IMPORT[package]
    }
    assert not wrong


def test_fleet_is_pure() -> None:
    allowed = PURE | {"fleet"} | set(sys.stdlib_module_names)
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("fleet")
        for name in imported_modules(path)
        if name.partition(".")[0] not in allowed or name.startswith(DOES_IO)
    }
    assert not wrong


def test_what_runs_on_a_host_needs_only_what_a_host_has() -> None:
    allowed = set(sys.stdlib_module_names) | {"yaml"}
    remote = [*(ROOT / "facts" / "remote").glob("*.py"), *(ROOT / "operations" / "remote").glob("*.py")]
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}" for path in remote for name in imported(path) if name not in allowed
    }
    assert not wrong


def test_no_module_of_ours_is_called_pyinfra_something() -> None:
    """pyinfra skips stack frames of such modules, and then merges unrelated operations (3.10.0)."""
    names = [path.stem for package in MAY_IMPORT for path in modules(package)] + list(MAY_IMPORT)
    assert not [name for name in names if name.startswith("pyinfra")]


def _namesakes(folder: Path) -> None:
    for name in ("facts", "operations", "fleet", "lab", "deploys"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise RuntimeError('a namesake was imported')\n")
    (folder / "facts" / "netplan.py").write_text("")


def test_an_installed_namesake_does_not_win_in_a_deploy(tmp_path: Path) -> None:
    _namesakes(tmp_path)
    deploy = tmp_path / "where.py"
    deploy.write_text("import operations, facts\nprint('FROM', operations.__file__, facts.__file__)\n")
    done = _pyinfra(tmp_path, "@local", str(deploy), "--dry")
    assert f"FROM {ROOT / 'operations'}" in done.stdout, done.stderr
    assert done.returncode == 0


def test_an_installed_namesake_is_refused_where_it_came_first(tmp_path: Path) -> None:
    _namesakes(tmp_path)
    (tmp_path / "facts" / "__init__.py").write_text("")
    (tmp_path / "facts" / "netplan.py").write_text("from pyinfra.facts.server import Date as NetplanFiles\n")
    done = _pyinfra(tmp_path, "@local", "fact", "facts.netplan.NetplanFiles")
    assert done.returncode == 1
    assert "facts: expected the package in" in done.stderr
    assert "Traceback" not in done.stderr


def _pyinfra(namesakes: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pyinfra from our root, with a folder of namesakes where site-packages would be: before the working directory."""
    code = (
        f"import sys; sys.path[:] = [p for p in sys.path if p not in ('', {str(ROOT)!r})]; "
        f"sys.path.insert(0, {str(namesakes)!r}); "
        "from pyinfra_cli.main import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-I", "-c", f"import gevent.monkey; gevent.monkey.patch_all(); {code}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
