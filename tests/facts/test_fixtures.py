"""Runs every `tests/facts/<module>.<Fact>/<case>.yaml`: the output a host gave, and the fact that it is.

    arg: …           arguments of the fact, a mapping; none if left out
    command: …       the command, where a case is about it
    output: …        what the command printed, its sentinel included
    output_of: …     instead: the name of a file beside the case, when the output is long
    fact: …          the value as JSON
    unobserved: …    instead: why the output is refused, as a regular expression

The form is that of pyinfra-testing 0.2, which cannot state that an output is refused, and asks for the
command in every case; that is why it does not run these.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyinfra.api.exceptions import FactProcessError

from facts.bundle import EVERY_FACT

HERE = Path(__file__).parent
TEXTS = (
    "kernel", "machine", "memory", "network", "pci", "roce", "session", "guard", "lock", "gpu", "processes",
    "containers", "vllm", "llamacpp", "ledger", "port_settings",
)  # fmt: skip
"""Modules whose facts must each have a fixture."""
FIXTURES = sorted(path for path in HERE.glob("*.*/*.yaml") if path.parent.is_dir())


def fact_of(path: Path) -> Any:
    module, _, name = path.parent.name.rpartition(".")
    return getattr(import_module(f"facts.{module}"), name)()


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda record: record.to_json()))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.relative_to(HERE).with_suffix("").as_posix())
def test_fixture(path: Path) -> None:
    fixture = yaml.safe_load(path.read_text(encoding="utf-8"))
    fact = fact_of(path)
    command = fact.command(**fixture.get("arg", {})) if callable(fact.command) else fact.command
    if "command" in fixture:
        assert str(command) == fixture["command"]
    output = _output(fixture, path)
    if "unobserved" in fixture:
        with pytest.raises(FactProcessError, match=fixture["unobserved"]):
            fact.process(output)
    else:
        assert as_json(fact.process(output)) == fixture["fact"]


def _output(fixture: dict[str, Any], path: Path) -> list[str]:
    if "output_of" in fixture:
        output = (path.parent / fixture["output_of"]).read_text(encoding="utf-8")
    else:
        output = fixture["output"]
    return output.split("\n") if isinstance(output, str) else list(output)


@pytest.mark.parametrize("module", TEXTS)
def test_every_fact_that_reads_text_has_fixtures(module: str) -> None:
    found = {name for name in EVERY_FACT if name.startswith(f"{module}.")}
    assert found
    assert found <= {path.parent.name for path in FIXTURES}
