"""The unit `ollama.service` as it is: on disk, as systemd has loaded it, and as its process runs."""

import json
from typing import Any

from pydantic import Field

from fleet.ollama.deployment import DROP_IN
from fleet.record import Record

OWN_NAME = DROP_IN.rpartition("/")[2]


class SettingsFile(Record):
    """One file that gives the unit an environment; values that are not known to be harmless are redacted."""

    path: str
    content_digest: str | None = None
    """None where only a sight of it was asked for (an environment file may hold nothing but secrets)."""
    resets: bool = False
    """An empty `Environment=` in it drops what the files before it set."""
    specifiers: tuple[str, ...] = ()
    """The variables whose value has a specifier (`%h`): as it stands here, no process has it."""
    managed: bool = False
    """Does it say of itself that it is ours?"""
    environment: dict[str, str] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in its directory: systemd reads drop-ins in the order of these."""
        return self.path.rpartition("/")[2]


class ResidentsUnit(Record):
    """The unit that loads residents again after each start of Ollama, as far as it is there."""

    content_digest: str | None = None
    """None when it is not on disk."""
    enabled: bool = False
    need_daemon_reload: bool = False
    has_curl: bool = True
    """Whether the program that it runs is on the host."""


class ServiceState(Record):
    """What a look at the unit found."""

    load_state: str
    """systemd's word: `loaded`, `not-found`, `masked`, `bad-setting`, …"""
    active_state: str
    sub_state: str
    unit_file_state: str
    """`enabled` starts it at boot; `enabled-runtime` is lost at the next one."""
    need_daemon_reload: bool
    """A file of the unit changed since systemd read it."""
    main_pid: int | None
    started_monotonic_us: int | None
    """When its process started, on the host's monotonic clock: the same number means no restart since."""
    exec_start: str | None
    user: str | None
    fragment: SettingsFile | None
    """The unit file itself, on disk."""
    drop_ins: tuple[SettingsFile, ...] = ()
    """Drop-ins on disk in the order in which systemd reads them, loaded or not."""
    environment_files: tuple[SettingsFile, ...] = ()
    """They win over every `Environment=`."""
    manager_environment: dict[str, str] = Field(default_factory=dict)
    """What systemd gives to every process, and what the unit has it pass on, where that may matter: what the unit sets
    wins over it."""
    unset: tuple[str, ...] = ()
    """`UnsetEnvironment=`: `NAME`, or `NAME=value` for that value alone. It wins over everything."""
    unit_environment: dict[str, str] = Field(default_factory=dict)
    """The `Environment=` that systemd has loaded."""
    process_environment: dict[str, str] | None
    """What the running process was started with; None when there is none."""
    residents: ResidentsUnit = ResidentsUnit()

    @property
    def is_active(self) -> bool:
        """Its process runs, as far as systemd knows."""
        return self.active_state == "active" and self.process_environment is not None

    @property
    def own_drop_in(self) -> str | None:
        """The digest of the drop-in that is ours; None when there is none."""
        return next((file.content_digest for file in self.drop_ins if file.path == DROP_IN), None)

    def settings_files(self, own: dict[str, str]) -> tuple[SettingsFile, ...]:
        """Every file that gives an environment, in order of effect, with ours as it should be."""
        ours = SettingsFile(path=DROP_IN, environment=own)
        others = [file for file in self.drop_ins if file.name != OWN_NAME]
        drop_ins = sorted([*others, ours], key=lambda file: file.name)
        return (*([self.fragment] if self.fragment else []), *drop_ins, *self.environment_files)

    def expected_environment(self, own: dict[str, str]) -> dict[str, str]:
        """The environment of a process that starts once our drop-in sets `own`."""
        found: dict[str, str] = {}
        for file in self.settings_files(own):
            found = self._values(file) if file.resets else found | self._values(file)
        found = self.manager_environment | found
        return {name: value for name, value in found.items() if not self.unsets(name, value)}

    def unsets(self, name: str, value: str) -> bool:
        """Does the unit take a variable away again, whoever has set it?"""
        return name in self.unset or f"{name}={value}" in self.unset

    def _values(self, file: SettingsFile) -> dict[str, str]:
        """What a file sets. A specifier is what systemd has made of it, where it has loaded the file and none behind it
        sets the same; elsewhere it stays as it is written, and so differs from what any process has."""
        if not file.specifiers or self.need_daemon_reload:
            return file.environment
        last = {name: each for each in (self.fragment, *self.drop_ins) if each for name in each.environment}
        meant = [name for name in file.specifiers if last.get(name) == file and name in self.unit_environment]
        return file.environment | {name: self.unit_environment[name] for name in meant}


def ollama_settings(environment: dict[str, str]) -> dict[str, str]:
    """The part of an environment that Ollama reads by its own names."""
    return {name: value for name, value in sorted(environment.items()) if name.startswith("OLLAMA_")}


def parse_service(text: str) -> ServiceState:
    """The state from the JSON of a look at the unit; raises ValueError."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    if "error" in found:
        raise ValueError(found["error"])
    shown: dict[str, str] = found["show"]
    return ServiceState(
        load_state=shown["LoadState"],
        active_state=shown["ActiveState"],
        sub_state=shown["SubState"],
        unit_file_state=shown["UnitFileState"],
        need_daemon_reload=shown["NeedDaemonReload"] == "yes",
        main_pid=_positive(shown["MainPID"]),
        started_monotonic_us=_positive(shown["ExecMainStartTimestampMonotonic"]),
        exec_start=found["exec_start"],
        user=shown["User"] or None,
        fragment=_file(found["fragment"]),
        drop_ins=tuple(SettingsFile(**each) for each in found["drop_ins"]),
        environment_files=tuple(SettingsFile(**each) for each in found["environment_files"]),
        manager_environment=found["manager_environment"],
        unset=tuple(found["unset"]),
        unit_environment=found["unit_environment"],
        process_environment=found["process_environment"],
        residents=ResidentsUnit(**found["residents"]),
    )


def _positive(text: str) -> int | None:
    """None for 0, and for nothing: systemd says little of a unit that it does not find."""
    return int(text or 0) or None


def _file(value: dict[str, Any] | None) -> SettingsFile | None:
    return None if value is None else SettingsFile(**value)
