"""Ollama on virtual Sparks: installed where there is none, a pull that is cut, a model that comes over the fabric."""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.control import ROOT, Run, converge, on, pyinfra

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(3600)]

VERSION = "1.0.0"
MODEL = "qwen3:0.6b"
PIN: dict[str, Any] = json.loads((ROOT / "virtual" / "ollama_registry.json").read_text())["models"][MODEL]
FRESH = """
systemctl disable --quiet --now ollama.service
rm -f /etc/systemd/system/ollama.service /usr/local/bin/ollama
systemctl daemon-reload
userdel -r ollama 2>/dev/null
"""
"""A Spark on which nobody has installed Ollama."""


@pytest.fixture(scope="module")
def names(side_lab: "Lab") -> tuple[str, ...]:
    return tuple(machine.name for machine in side_lab.state.machines)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh") / "trace.jsonl"


def build(path: Path) -> dict[str, Any]:
    """The stand-in as an archive of upstream's shape, as a roster has it."""
    source = (ROOT / "virtual" / "ollama_standin.py").read_text().replace("0.0.0-stand-in", VERSION).encode()
    with tarfile.open(path, "w:gz") as tar:
        for name, content, mode in (("bin/ollama", source, 0o755), ("lib/ollama/none.so", b"", 0o644)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
    content = path.read_bytes()
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    return {"version": VERSION, "archive": str(path), "digest": digest, "size_bytes": len(content)}


def deployment(spark: str, pull: bool, **more: Any) -> dict[str, Any]:
    model = {"name": MODEL, "digest": PIN["digest"], "size_bytes": PIN["size_bytes"], "pull": pull}
    resident = {"model": MODEL, "context": 4096, "keep_alive": "forever"}
    return {"spark": spark, "ollama": {"models": [model], "residents": [resident]} | more.pop("ollama", {})} | more


@pytest.fixture(scope="module")
def site(side_lab: "Lab", names: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first Spark is to get Ollama and may pull; the second one may only copy from the first."""
    first, second = names
    values: dict[str, Any] = {}
    exec((ROOT / "group_data" / "virtual.py").read_text(), values)
    folder = tmp_path_factory.mktemp("site")
    program = build(folder / "ollama-linux-arm64.tgz")
    roster = values["roster"] | {
        "deployments": {
            "one": deployment(first, pull=True, ollama={"program": program}),
            "other": deployment(second, pull=False, copy_from=[first]),
        }
    }
    hosts = {name: dict(data) for name, data in side_lab.hosts("pair").items()}
    (folder / "group_data").mkdir()
    (folder / "group_data" / "models.py").write_text(f"roster = {roster!r}\n")
    (folder / "models.py").write_text(
        f"from lab.site import site\nmodels = site(__file__, {hosts!r}, known_hosts={side_lab.state.known_hosts!r})\n"
    )
    return str(folder / "models.py")


@pytest.fixture(scope="module")
def installed(side_lab: "Lab", site: str, names: tuple[str, ...], trace: Path) -> Run:
    """From nothing to serving, while the registry cuts each pull once at half."""
    side_lab.reset()
    on(side_lab, names[0], f"{FRESH} mkdir -p /run/ollama-standin")
    on(side_lab, names[0], """echo '{"pull": "half"}' > /run/ollama-standin/faults.json""")
    run = converge(trace, site, "deploys/serve.py", "--limit", names[0])
    assert run.status == 0, run.said
    return run


@pytest.fixture(scope="module")
def copied(site: str, installed: Run, trace: Path) -> Run:
    """The other Spark gets the model from the first one."""
    run = converge(trace, site, "deploys/serve.py")
    assert run.status == 0, run.said
    return run


def loaded(lab: "Lab", name: str) -> list[str]:
    found = json.loads(on(lab, name, "curl -s localhost:11434/api/ps"))
    return [f"{each['name']} sha256:{each['digest']} {each['context_length']}" for each in found["models"]]


SERVED = [f"{MODEL} {PIN['digest']} 4096"]


def test_a_spark_without_ollama_gets_the_build_its_user_and_its_unit(
    side_lab: "Lab", names: tuple[str, ...], installed: Run
) -> None:
    first = names[0]
    assert json.loads(on(side_lab, first, "curl -s localhost:11434/api/version")) == {"version": VERSION}
    assert on(side_lab, first, "readlink /usr/local/bin/ollama").startswith(f"/usr/local/lib/sparks-ollama/{VERSION}-")
    assert on(side_lab, first, "systemctl show -p User,UnitFileState --value ollama").split() == ["ollama", "enabled"]
    assert on(side_lab, first, "ls -A /usr/local/lib/sparks-ollama").split() == [
        on(side_lab, first, "readlink /usr/local/bin/ollama").split("/")[-3]
    ]
    assert loaded(side_lab, first) == SERVED


def test_a_pull_that_was_cut_at_half_went_on(installed: Run) -> None:
    assert "the pull broke off; going on (1 of 5)" in installed.err, installed.said
    assert "sent 100% of" in installed.err


def test_a_model_comes_over_the_rail_and_nothing_of_the_offer_stays(
    side_lab: "Lab", names: tuple[str, ...], copied: Run
) -> None:
    first, second = names
    assert f"{first} has it: up to {PIN['size_bytes']:,} bytes over rail 102" in copied.err, copied.said
    assert "copied 100% of" in copied.err
    assert loaded(side_lab, second) == SERVED
    owners = "find /usr/share/ollama/.ollama/models ! -user ollama -o -name '.sparks*'"
    assert on(side_lab, second, owners) == ""
    left = "systemctl list-units --all --no-legend 'sparks-ollama-offer*'; ls -A /run/sparks-ollama-offer"
    assert on(side_lab, first, left) == ""


@pytest.mark.usefixtures("copied")
def test_then_nothing_is_due(site: str, names: tuple[str, ...], trace: Path) -> None:
    dry = pyinfra(trace, site, "deploys/serve.py", "--dry")
    assert dry.status == 0, dry.said
    assert all(f"{name} is as desired" in dry.err for name in names), dry.said
