"""Every code that a refusal can have is documented, and no other."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "refusals.md"
NAMED_BY_STATE = {"ollama_unit_missing", "ollama_unit_masked", "ollama_unit_unreadable"}
"""Chosen from a table by systemd's word for the unit."""
BY_SUBJECT = {"resident_digest_differs", "resident_on_cpu", "resident_context_unknown"}
"""Chosen together with what was expected and found."""


def codes() -> set[str]:
    """The literal `code=` of every call of `Refusal`, and those that stand in a table."""
    found = NAMED_BY_STATE | BY_SUBJECT
    for path in [*(ROOT / "fleet").rglob("*.py"), *(ROOT / "operations").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
                values = [each.value for each in node.keywords if each.arg == "code"]
                found |= {each.value for each in values if isinstance(each, ast.Constant)}
    return found


def test_the_page_lists_every_code_and_no_other() -> None:
    documented = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert documented == codes()


def test_codes_in_tables_are_really_in_the_code() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "fleet" / "ollama").glob("*.py"))
    assert all(f'"{code}"' in text for code in NAMED_BY_STATE | BY_SUBJECT)
