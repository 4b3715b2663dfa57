"""Nothing that is sent to a host touches more of its network than the one file or profile that it is about."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SENT = [
    path
    for folder in ("operations", "deploys", "facts", "fleet")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".sh")
]
TOO_WIDE = re.compile(r"\bnetplan\s+(apply|try)\b|\bnmcli\b.*\bc(on(n(ection)?)?)?\s+d(el(ete)?)?\b")
"""`netplan apply` brings up every connection anew, that of SSH too; a profile that netplan made, deleted by
NetworkManager, takes its file away or rewrites those beside it (cases 020 and 040)."""


def scripts(path: Path) -> Iterator[str]:
    """The texts of a file that may be a part of a command: all but what is written for people."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sh":
        yield from (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        return
    tree = ast.parse(text)
    told = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in told:
            yield each.value


@pytest.mark.parametrize("line", ["netplan apply", "nmcli con delete x", "nmcli -t connection delete uuid x"])
def test_what_is_too_wide_is_known(line: str) -> None:
    assert TOO_WIDE.search(line)


def test_no_command_does_more_than_one_file_or_profile() -> None:
    found = [f"{path.relative_to(ROOT)}: {each}" for path in SENT for each in scripts(path) if TOO_WIDE.search(each)]
    assert found == []
