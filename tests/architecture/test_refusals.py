"""Every code that a refusal can have is in `fleet/codes`, with no other, and the page is made from there."""

import ast
from pathlib import Path

from fleet.codes import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
FROM_A_TABLE = {
    "ollama_unit_missing",
    "ollama_unit_masked",
    "ollama_unit_unreadable",
    "resident_digest_differs",
    "resident_on_cpu",
    "resident_context_unknown",
}
"""Chosen by what was found, and so no literal argument of `Refusal`."""
CARRY_A_CODE = {"wall": 0, "once": 0, "PydanticCustomError": 0, "checked": 0}
"""Functions whose first argument is the code of a wall, or of a finding."""


def literals() -> set[str]:
    """Every code that the code can give: `Refusal(code=…)`, `Finding(code=…)` and the walls."""
    found = set(FROM_A_TABLE)
    for path in [*(ROOT / "fleet").rglob("*.py"), *(ROOT / "operations").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found |= _codes(node, node.func.id)
    return found


def _codes(call: ast.Call, name: str) -> set[str]:
    values = [each.value for each in call.keywords if each.arg == "code"] if name in ("Refusal", "Finding") else []
    values += call.args[:1] if name in CARRY_A_CODE else []
    return {each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def test_every_code_is_explained_and_no_other() -> None:
    explained = [code for section in SECTIONS for code in section.codes]
    assert len(set(explained)) == len(explained)
    assert set(explained) == literals(), "explain it in fleet/codes, then run `make reference`"


def test_codes_from_a_table_are_really_in_the_code() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "fleet").rglob("*.py"))
    assert all(f'"{code}"' in text for code in FROM_A_TABLE)
