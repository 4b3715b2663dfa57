"""Which build of Ollama a Spark shall run, and what is there of it.

One that is ours to install is unpacked whole into a folder of its own, named after its version and the digest of its
archive; a link leads to the one that runs. Ollama finds its libraries beside where the link leads (`ml/path.go`).
"""

import json
import re
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from fleet.ollama.store import sha256_of
from fleet.record import VOLATILE, Digest, Record, Unobserved, sha256_digest
from fleet.wall import wall

LINK = "/usr/local/bin/ollama"
"""Where upstream's installer puts the program, and what its unit runs (`scripts/install.sh`)."""
TREES = "/usr/local/lib/sparks-ollama"
UNIT_PATH = "/etc/systemd/system/ollama.service"
USER, HOME = "ollama", "/usr/share/ollama"
"""As upstream's installer makes them; the models are below that home where OLLAMA_MODELS names no other place."""

UNIT_TEXT = f"""\
# Managed by sparks (operations.ollama.service); what is written here by hand is replaced.
[Unit]
Description=Ollama
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={LINK} serve
User={USER}
Group={USER}
Restart=always
RestartSec=3
Environment="PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

[Install]
WantedBy=default.target
"""
"""The unit where there is none: upstream's own (`scripts/install.sh`)."""
UNIT_DIGEST = sha256_digest(UNIT_TEXT.encode())

_PLACE = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/[!-~]+|/[^\0\n]+")


class OllamaProgram(Record):
    """One exact build: installed by us from an archive, or somebody else's that stays as it is."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    version: Annotated[str, Field(pattern=r"^[0-9][0-9A-Za-z.+-]{0,63}$")]
    """As its API says it, without a `v`."""
    archive: str | None = None
    """A URL that the Spark can reach, or a path on the machine that runs this."""
    archive_digest: Annotated[Digest | None, Field(alias="digest")] = None
    """Of the archive's bytes; spelled `digest` in a roster."""
    size_bytes: Annotated[int | None, Field(gt=0)] = None
    """Of the archive: no byte more is taken."""
    replaces: Digest | None = None
    """The executable that somebody else has put in its place, and that goes for it."""
    adopted: Digest | None = None
    """Instead of an archive: the executable that is there, by its own digest. It is never touched."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        given = [self.archive, self.archive_digest, self.size_bytes]
        is_installed = None not in given and self.adopted is None
        is_adopted = given == [None] * 3 and self.replaces is None and self.adopted is not None
        if not (is_installed or is_adopted):
            found = [name for name in ("archive", "digest", "size_bytes", "replaces", "adopted") if self._has(name)]
            expected = "expected archive, digest and size_bytes, or adopted alone"
            raise wall("program_source", f"program: {expected}, found {', '.join(found) or 'none of them'}")
        if self.archive is not None and not _PLACE.fullmatch(self.archive):
            expected = "program.archive: expected https://… or a path as /srv/ollama-linux-arm64.tgz"
            raise wall("archive_place", f"{expected}, found {self.archive!r}")
        return self

    def _has(self, name: str) -> bool:
        return getattr(self, "archive_digest" if name == "digest" else name) is not None

    @property
    def is_installed(self) -> bool:
        """Is it ours to install?"""
        return self.adopted is None

    @property
    def is_local(self) -> bool:
        """Does its archive lie on the machine that runs this?"""
        return self.archive is not None and self.archive.startswith("/")

    @property
    def folder(self) -> str:
        """The name of its folder below `TREES`."""
        assert self.archive_digest is not None
        return f"{self.version}-{self.archive_digest.removeprefix('sha256:')[:12]}"

    @property
    def executable(self) -> str:
        """Where its executable is, once it is unpacked."""
        return f"{TREES}/{self.folder}/bin/ollama"


class Tree(Record):
    """One build that we have unpacked on a Spark."""

    folder: str
    archive_digest: Digest
    version: str
    executable_digest: Digest | None
    """Of its executable as it is now; None where there is none."""
    installed_digest: Digest
    """Of its executable when it was unpacked."""

    @property
    def is_whole(self) -> bool:
        """Is its executable what was unpacked?"""
        return self.executable_digest == self.installed_digest


class ProgramState(Record):
    """What is on a Spark of Ollama's program."""

    link: str | None
    """Where `LINK` leads; None where it is no link, or is not there."""
    executable: str
    """The program that the unit runs, or `LINK` where there is no unit."""
    executable_digest: Digest | None
    """Of its bytes; None where it is not there."""
    trees: tuple[Tree, ...] = ()
    runs: str | None
    """The executable of the unit's process by its path, with the kernel's ` (deleted)` behind it where another file or
    none is there by now; None where none runs. Of a script it is the interpreter's."""
    version: str | Unobserved | None
    """What the server says of its version; None where none runs."""
    has_user: bool
    """Is there a user `ollama`?"""
    room_bytes: Annotated[int, VOLATILE]
    """Free where builds are unpacked."""

    def tree(self, program: OllamaProgram) -> Tree | None:
        """The build, whole, or None where it is not there."""
        found = (each for each in self.trees if each.folder == program.folder and each.is_whole)
        return next((each for each in found if each.archive_digest == program.archive_digest), None)

    @property
    def foreign(self) -> str | None:
        """The digest of what somebody else has put where our link goes; None where it is ours or nothing."""
        ours = self.link is not None and self.link.startswith(f"{TREES}/")
        return None if ours or self.executable != LINK else self.executable_digest


def parse_program(text: str) -> ProgramState:
    """The state from the JSON of a look at it; raises ValueError."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    return ProgramState(
        link=found["link"],
        executable=found["executable"],
        executable_digest=_digest(found["executable_digest"]),
        trees=tuple(map(_tree, found["trees"])),
        runs=found["runs"],
        version=_version(found["version"]),
        has_user=found["has_user"],
        room_bytes=found["room_bytes"],
    )


def _tree(found: dict[str, Any]) -> Tree:
    return Tree(
        folder=found["folder"],
        archive_digest=sha256_of(found["archive_digest"]),
        version=found["version"],
        executable_digest=_digest(found["executable_digest"]),
        installed_digest=sha256_of(found["installed_digest"]),
    )


def _version(found: dict[str, Any] | None) -> str | Unobserved | None:
    if found is None:
        return None
    if "error" in found:
        return Unobserved(reason=found["error"])
    try:
        said = json.loads(found["body"])["version"]
    except (ValueError, KeyError, TypeError):
        said = None
    return said if isinstance(said, str) else Unobserved(reason="/api/version: expected a version, found none")


def _digest(found: str | None) -> str | None:
    return None if found is None else sha256_of(found)
