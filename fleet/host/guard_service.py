"""The memory guard of a host: one container that goes before the host does, and the unit that sees to it."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from fleet.host.answer import answer
from fleet.host.guard_text import PROGRAM
from fleet.host.text import HEAD, UNITS, HostFile
from fleet.record import VOLATILE, Record, sha256_digest
from fleet.wall import wall

GUARD_UNIT = "sparks-host-memory-guard.service"
RUNTIME = "/run/sparks-memory-guard"
STATE, STEADY = f"{RUNTIME}/state.json", f"{RUNTIME}/steady"
"""What it sampled last, and the ids of containers that were told to be ready: one on a line, by whoever starts them."""
PROGRAM_PATH = f"/usr/local/lib/sparks/memory-guard-{sha256_digest(PROGRAM.encode())[7:19]}.py"
"""Its name has its digest, so what runs says by its command line which program it is."""
PLACES = ("/usr/local/lib/sparks/memory-guard-*.py", f"{UNITS}/{GUARD_UNIT}", f"{UNITS}/*.wants/{GUARD_UNIT}")
FRESH_SECONDS = 60.0
"""A sample that is older says that it does not sample: it writes one every interval, which is shorter."""

_GiB = 2**30
Level = Annotated[int, Field(strict=True, ge=1, le=64)]
ContainerName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*=[A-Za-z0-9._:/@-]+$", max_length=200)]


class MemoryGuardPolicy(Record):
    """When which container is killed, before the host runs out of memory and takes SSH with it."""

    startup_gib: Level
    """Available memory below which it goes while it starts: until it is told to be ready, or for `startup_minutes`."""
    steady_gib: Level
    """The same, after that."""
    startup_minutes: Annotated[int, Field(strict=True, ge=1, le=240)] = 30
    interval_seconds: Annotated[int, Field(strict=True, ge=1, le=30)] = 1
    container: ContainerName | None = None
    """By its exact name; or: """
    label: Label | None = None
    """every container with exactly this label, `KEY=VALUE`."""

    @model_validator(mode="after")
    def _one_word_for_the_container(self) -> Self:
        if (self.container is None) == (self.label is None):
            found = "neither" if self.container is None else "both"
            raise wall("guarded_container", f"memory_guard: expected a container or a label, found {found}")
        if self.startup_gib < self.steady_gib:
            raise wall(
                "guard_levels",
                f"memory_guard: expected a startup level not below the steady one of {self.steady_gib} GiB, "
                f"found {self.startup_gib}",
            )
        return self

    @property
    def argv(self) -> tuple[str, ...]:
        """The whole command line."""
        numbers = {
            "startup-bytes": self.startup_gib * _GiB,
            "steady-bytes": self.steady_gib * _GiB,
            "startup-seconds": self.startup_minutes * 60,
            "interval": self.interval_seconds,
        }
        named = ("--name", self.container) if self.container is not None else ("--label", str(self.label))
        places = ("--docker", "/run/docker.sock", "--state", STATE, "--level", STEADY)
        words = (word for name, value in numbers.items() for word in (f"--{name}", str(value)))
        return ("/usr/bin/python3", "-I", PROGRAM_PATH, *places, *named, *words)

    @property
    def files(self) -> tuple[HostFile, ...]:
        """The program, its unit, and the link that lets a boot start it."""
        path = f"{UNITS}/{GUARD_UNIT}"
        return (
            HostFile(path=PROGRAM_PATH, text=PROGRAM),
            HostFile(path=path, text=self._unit_text),
            HostFile(path=f"{UNITS}/multi-user.target.wants/{GUARD_UNIT}", link=path),
        )

    @property
    def _unit_text(self) -> str:
        """Never killed for memory itself, and there again when it ends for any reason."""
        return f"""\
{HEAD}[Unit]
Description=Kill the declared container before the host runs out of memory
After=docker.service
StartLimitIntervalSec=0

[Service]
ExecStart={" ".join(self.argv)}
Restart=always
RestartSec=2
Nice=-10
OOMScoreAdjust=-1000
OOMPolicy=continue
LimitMEMLOCK=infinity
RuntimeDirectory={RUNTIME.removeprefix("/run/")}
RuntimeDirectoryPreserve=yes

[Install]
WantedBy=multi-user.target
"""


class GuardSample(Record):
    """What the guard has written of its last sample."""

    at: Annotated[float, VOLATILE]
    """Seconds since the epoch."""
    available_bytes: Annotated[int, VOLATILE]
    level: Annotated[str, VOLATILE]
    """`startup` or `steady`."""
    threshold_bytes: Annotated[int, VOLATILE]
    declared: Annotated[tuple[str, ...], VOLATILE] = ()
    """The running containers that it may kill."""
    killed: Annotated[int, VOLATILE] = 0
    error: Annotated[str, VOLATILE] = ""
    """Why Docker did not answer it."""


class MemoryGuard(Record):
    """The memory guard as it runs."""

    argv: tuple[str, ...] = ()
    """Of its process; empty where none runs."""
    sample: GuardSample | None = None
    age_seconds: Annotated[float | None, VOLATILE] = None
    """Of the sample."""

    @property
    def is_sampling(self) -> bool:
        """Does it look at memory?"""
        return bool(self.argv) and self.age_seconds is not None and self.age_seconds < FRESH_SECONDS


def parse_memory_guard(text: str) -> MemoryGuard:
    """The guard from the JSON of a look; raises ValueError."""
    found: dict[str, Any] = answer(text)
    return MemoryGuard.model_validate(found)
