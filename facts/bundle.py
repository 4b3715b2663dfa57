"""Many facts in one round trip: one remote process runs every look, and each fact reads its own output."""

import base64
import json
import shlex
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pyinfra.api.exceptions import FactProcessError, FactValueError
from typing_extensions import override

from facts.look import SENTINEL, Look, RemotePython, as_root, called, source_of
from fleet.record import Unobserved

EVERY_FACT = (
    "netplan.NetplanFiles",
    "network.Links",
    "network.Connections",
    "session.SshSession",
    "guard.Guard",
    "lock.HostLock",
    "management.ManagementIp4",
    "roce.RoceDevices",
    "roce.RoceGids",
    "transit.Transit",
    "transit.Firewall",
    "roce.RdmaUse",
    "pci.PciFunctions",
    "port_settings.PortSettings",
    "generation.GenerationStamp",
    "kernel.Kernel",
    "machine.Machine",
    "memory.Memory",
    "ollama.OllamaProgram",
    "ollama.OllamaService",
    "ollama.OllamaModels",
    "ollama.OllamaResidency",
    "invocation.OllamaInvocation",
    "gpu.GpuState",
    "processes.EngineProcesses",
    "containers.Containers",
    "vllm.VllmServers",
    "llamacpp.LlamaCpp",
    "ledger.OllamaServers",
    "host_files.HostFiles",
    "host_sysctl.Sysctls",
    "host_kernel.HugePages",
    "host_kernel.Governors",
    "host_systemd.Units",
    "host_systemd.Manager",
    "host_clock.Clock",
    "host_systemd.Logins",
    "host_time.TimeServers",
    "host_mounts.Mounts",
    "host_swap.Swap",
    "host_guard.MemoryGuard",
    "host_modules.ModuleOptions",
    "host_modules.Paths",
    "host_health.Journal",
    "host_health.Firmware",
)
"""Every fact of this package that takes no argument it cannot do without, is not made of others here, and is cheap.

`host_mounts.FileLayout` is not: it reads the map of every file. Nor is `netplan.NetplanEffective`: to start netplan
takes 0.4 s of a processor, and looks that are Python run in turn.
"""


_NO_SUDO = (
    """printf '{"refused": "expected sudo without a password for %s, found it refused"}\\n' "$(id -un)"; """
    f"echo {SENTINEL}; exit 0"
)
"""Said in the answer itself: pyinfra would tell a failed command and a failed fact besides."""


_LONG = 500
"""Characters of an argument that is a text: programs are longer, what somebody asks is shorter."""


@dataclass(frozen=True)
class Wanted:
    """One look that is wanted: a fact of ours and its arguments, hashable so that it can be looked up again."""

    fact: type[Look[Any]]
    arguments: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The fact's own name, with its arguments where it has some."""
        spelled = ", ".join(f"{key}={value}" for key, value in self.arguments)
        return f"{self.fact.name} ({spelled})" if spelled else self.fact.name

    @property
    def command(self) -> str:
        """The command that looks, as it would run alone."""
        command: Any = self.fact().command
        text: str = command(**dict(self.arguments)) if callable(command) else command
        return text

    @property
    def section(self) -> dict[str, Any]:
        """What a bundle's program needs to look on the host."""
        command, limit = self.command, self.fact.timeout_seconds
        if isinstance(command, RemotePython):
            return {"module": command.module, "arguments": command.arguments, "timeout": limit}
        return {"command": command, "timeout": limit}

    def read(self, section: dict[str, Any]) -> Any:
        """The fact's value from its section of a bundle's answer, or why it could not be observed."""
        if section["code"] != 0:
            return Unobserved(reason=section["error"] or f"the look ended with status {section['code']}")
        try:
            return self.fact().read(section["out"])
        except FactProcessError as error:
            return Unobserved(reason=str(error))


class Bundle(Look[dict[str, Any]]):
    """
    Several facts, observed in one exec channel and in parallel on the host; a look that fails or hangs
    is `Unobserved` with its reason, and the others still answer.

    + facts: names as `netplan.NetplanFiles`, separated by commas, or `Wanted` looks; every fact if not given

    .. code:: python

        {
            "facts.network.Links": (Link(name="enp1s0f0np0", …),),
            "facts.roce.RoceGids": Unobserved(reason="…"),
        }
    """

    _wanted: tuple[Wanted, ...] = ()

    def command(self, facts: str | Iterable[str | Wanted] = EVERY_FACT) -> str:
        names = facts.split(",") if isinstance(facts, str) else facts
        try:
            self._wanted = tuple(_wanted(name) for name in names)
        except FactValueError as error:
            return f"echo {shlex.quote(str(error))} >&2; exit 64"
        return bundled(self._wanted)

    @override
    def parse(self, text: str) -> dict[str, Any]:
        return unbundled(self._wanted, text)


def bundled(wanted: Sequence[Wanted]) -> str:
    """The one command that takes several looks; a fact that is made of others uses it too."""
    sections = [look.section for look in wanted]
    sources = {each["module"]: source_of(each["module"]) for each in sections if "module" in each}
    texts = _apart(sections)
    asked = {"sections": sections, "sources": sources, "texts": texts, "sentinel": SENTINEL}
    command = packed(called(source_of("bundle"), asked))
    return as_root(command, _NO_SUDO) if any(look.fact.needs_root for look in wanted) else command


def _apart(sections: list[dict[str, Any]]) -> list[str]:
    """Every text that looks carry along, once: zlib sees no further back than 32 KiB, and several carry the same.

    In its place a section has the number of each text.
    """
    texts: dict[str, int] = {}
    for section in sections:
        arguments = section.get("arguments", {})
        carried = {key: each for key, each in arguments.items() if isinstance(each, str) and len(each) > _LONG}
        if carried:
            section["arguments"] = {key: each for key, each in arguments.items() if key not in carried}
            section["texts"] = {key: texts.setdefault(each, len(texts)) for key, each in carried.items()}
    return list(texts)


def unbundled(wanted: Sequence[Wanted], text: str) -> dict[str, Any]:
    """Each look's value, or `Unobserved`, by its name; raises ValueError when the answer is not whole."""
    answers = json.loads(text)
    if isinstance(answers, dict):
        return dict.fromkeys((look.name for look in wanted), Unobserved(reason=answers["refused"]))
    if len(answers) != len(wanted):
        raise ValueError(f"expected {len(wanted)} sections, found {len(answers)}")
    return {look.name: look.read(answer) for look, answer in zip(wanted, answers, strict=True)}


def _wanted(name: str | Wanted) -> Wanted:
    if isinstance(name, Wanted):
        return name
    module, _, cls = name.strip().removeprefix("facts.").rpartition(".")
    try:
        fact = getattr(import_module(f"facts.{module}"), cls)
    except (ImportError, AttributeError, ValueError) as error:
        raise FactValueError(f"expected a fact as netplan.NetplanFiles, found {name!r}") from error
    if not (isinstance(fact, type) and issubclass(fact, Look)):
        raise FactValueError(f"expected a fact of this package, found {name!r}")
    return Wanted(fact)


def packed(source: str) -> str:
    """Python source as a command free of quotes: nested quoting would grow it past 128 KiB, the most for one word."""
    packed = base64.b85encode(zlib.compress(source.encode(), 9)).decode()
    unpack = f'import base64,zlib;exec(zlib.decompress(base64.b85decode("{packed}")))'
    return f"LC_ALL=C python3 -c {shlex.quote(unpack)}"
