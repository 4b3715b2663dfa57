"""Ollama on a host: its unit and process, the models it holds, and the models it has loaded."""

from pathlib import Path
from typing import Any

from typing_extensions import override

from facts.look import Look, as_root, remote_python, source_of
from fleet.ollama import grammar, units
from fleet.ollama.deployment import UNIT
from fleet.ollama.program import HOME, LINK, TREES, USER, ProgramState, parse_program
from fleet.ollama.registry import Published, parse_published
from fleet.ollama.residency import Residency, parse_residency
from fleet.ollama.residents_unit import CURL, RESIDENTS, RESIDENTS_PATH
from fleet.ollama.service import ServiceState, parse_service
from fleet.ollama.settings import REDACTED, VISIBLE
from fleet.ollama.store import ModelStore, parse_store

ENDPOINT = "http://127.0.0.1:11434"
"""Where Ollama listens when nothing is set."""

DIRECTORIES = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
)
"""Where systemd looks for drop-ins, the first winning (systemd.unit(5))."""


def probe(look: str, **arguments: Any) -> str:
    """The command of one look of `facts/remote/ollama_probe.py`."""
    texts = {
        "grammar": Path(grammar.__file__).read_text("utf-8"),
        "units": Path(units.__file__).read_text("utf-8"),
        "store": source_of("ollama_store"),
        "systemd": source_of("ollama_systemd"),
    }
    known = {"visible": sorted(VISIBLE), "redacted": REDACTED, "unit": UNIT, "directories": DIRECTORIES}
    known |= {"residents": RESIDENTS, "residents_path": RESIDENTS_PATH, "curl": CURL}
    return as_root(remote_python("ollama_probe", look=look, **(known | texts | arguments)))


class OllamaService(Look[ServiceState]):
    """
    The unit ``ollama.service``: on disk, as systemd has it loaded, and the environment of its process.

    Values of variables that are not known to be harmless stay on the host.

    .. code:: python

        ServiceState(
            load_state="loaded", active_state="active", sub_state="running", unit_file_state="enabled",
            main_pid=812, started_monotonic_us=9120345, exec_start="/usr/local/bin/ollama",
            process_environment={"OLLAMA_HOST": "0.0.0.0:11434", "PATH": "…", "TOKEN": "(redacted)"}, …
        )
    """

    needs_root = True

    @override
    def command(self) -> str:
        return probe("service")

    @override
    def parse(self, text: str) -> ServiceState:
        return parse_service(text)


class OllamaModels(Look[ModelStore]):
    """
    Every model that Ollama holds, with the digest of its manifest: from its API, or from its store on disk
    where the unit does not run or does not listen there. A server that runs and does not answer is not seen.

    + endpoint: where clients on the host reach it
    + directory: the store that is wanted, where it is not the one that the running process has
    + installs: shall Ollama be installed? Then a host without its unit, where nobody listens, holds what is on its disk

    .. code:: python

        ModelStore(
            source="api", endpoint="http://127.0.0.1:11434", directory="/usr/share/ollama/.ollama/models",
            models=(OllamaModel(name="qwen3:0.6b", manifest_digest="sha256:…", size_bytes=522653767, …),),
        )
    """

    needs_root = True

    @override
    def command(self, endpoint: str = ENDPOINT, directory: str | None = None, installs: bool = False) -> str:
        return probe("models", endpoint=endpoint, directory=directory, home=HOME if installs else None)

    @override
    def parse(self, text: str) -> ModelStore:
        return parse_store(text)


class OllamaResidency(Look[Residency]):
    """
    Every model that Ollama has loaded; none where the unit does not run or does not listen there.

    + endpoint: where clients on the host reach it
    + installs: shall Ollama be installed? Then nothing is loaded where there is no unit and nobody listens

    .. code:: python

        Residency(
            source="api", endpoint="http://127.0.0.1:11434",
            residents=(Resident(name="qwen3:0.6b", context_length=8192, keep="forever", …),),
        )
    """

    needs_root = True

    @override
    def command(self, endpoint: str = ENDPOINT, installs: bool = False) -> str:
        return probe("residency", endpoint=endpoint, home=HOME if installs else None)

    @override
    def parse(self, text: str) -> Residency:
        return parse_residency(text)


class OllamaProgram(Look[ProgramState]):
    """
    Which build of Ollama is on a host: what its unit runs, where the link leads, the builds that we have unpacked, and
    what the server says of its version.

    + endpoint: where clients on the host reach it

    .. code:: python

        ProgramState(
            link="/usr/local/lib/sparks-ollama/0.33.1-1a2b3c4d5e6f/bin/ollama", executable="/usr/local/bin/ollama",
            executable_digest="sha256:…", trees=(Tree(folder="0.33.1-1a2b3c4d5e6f", …),), runs="/usr/local/lib/…",
            version="0.33.1", has_user=True, room_bytes=3127840768000,
        )
    """

    needs_root = True

    @override
    def command(self, endpoint: str = ENDPOINT) -> str:
        texts = {"store": source_of("ollama_store"), "systemd": source_of("ollama_systemd")}
        places = {"link": LINK, "trees": TREES, "user": USER, "unit": UNIT}
        return as_root(remote_python("ollama_program", endpoint=endpoint, **(places | texts)))

    @override
    def parse(self, text: str) -> ProgramState:
        return parse_program(text)


class OllamaRegistry(Look[tuple[Published, ...]]):
    """
    What the registry has under the tags of models that the host has not: asked by the host, through the proxies of its
    Ollama, for a few seconds. A registry that does not answer is told, and is no failure.

    + pins: names and digests of models; those that are here by their digest are not asked about
    + endpoint: where clients on the host reach Ollama
    + directory: the store that is wanted, where it is not the one that the running process has
    + installs: as of `OllamaModels`

    .. code:: python

        (
            Published(model="qwen3:0.6b", digests=("sha256:…",), size_bytes=522653767, missing_bytes=522653767),
            Published(model="gemma3:270m", reason="no answer in 6 s"),
        )
    """

    needs_root = True

    @override
    def command(
        self,
        pins: tuple[tuple[str, str], ...] = (),
        endpoint: str = ENDPOINT,
        directory: str | None = None,
        installs: bool = False,
    ) -> str:
        asked = {"pins": pins, "registry": source_of("ollama_registry"), "home": HOME if installs else None}
        return probe("registry", endpoint=endpoint, directory=directory, **asked)

    @override
    def parse(self, text: str) -> tuple[Published, ...]:
        return parse_published(text)
