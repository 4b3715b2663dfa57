"""What one Spark should serve with Ollama: settings, pinned models, and which of them stay loaded."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Self

from netaddr import valid_ipv4
from pydantic import ConfigDict, Field, field_validator, model_validator

from fleet.fit.demand import Demand
from fleet.fit.needs import Needs
from fleet.ollama.program import OllamaProgram
from fleet.ollama.setting_values import expected_value, lost_cache
from fleet.ollama.settings import SETTINGS
from fleet.ollama.units import quoted_assignment
from fleet.ollama.values import Endpoint, KeepAlive
from fleet.record import Digest, Record, sha256_digest
from fleet.wall import wall

UNIT = "ollama.service"
DROP_IN = f"/etc/systemd/system/{UNIT}.d/sparks.conf"
"""The one file that is ours; whatever else configures the unit is read and never written."""

_LISTEN = re.compile(r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
"""It is written into unit files, so nothing that systemd or a shell could read as more than an address."""
_NAME = r"^([a-z0-9.-]+(:[0-9]+)?/)?([A-Za-z0-9_-]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*:[A-Za-z0-9_][A-Za-z0-9_.-]*$"
ModelName = Annotated[str, Field(pattern=_NAME)]
"""A name with its tag, `qwen3:0.6b`: a name without one means `latest`, which moves."""


class OllamaModelPin(Record):
    """One model that must be there, by the digest of its manifest: a tag is republished."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    name: ModelName
    manifest_digest: Annotated[Digest, Field(alias="digest")]
    """Spelled `digest` in a roster: `sha256:…`, of the manifest's bytes."""
    size_bytes: Annotated[int, Field(gt=0)]
    """What a pull downloads at most; shown in the plan before it happens."""
    pull: bool = False
    """Whether an absent model may be downloaded; where it may not, absence is refused."""
    replaces: Digest | None = None
    """The digest that may be under the tag still, and goes for this one: its publisher has moved the tag, and somebody
    has decided to follow."""
    memory: Needs | None = None
    """What it needs of memory; None where nobody declared that."""

    @field_validator("memory")
    @classmethod
    def _has_no_draft(cls, value: Needs | None) -> Needs | None:
        if value is not None and value.draft is not None:
            raise wall("ollama_has_no_draft", "draft: expected none, since Ollama has no drafts, found one")
        return value

    @model_validator(mode="after")
    def _replaces_another(self) -> Self:
        if self.replaces == self.manifest_digest:
            raise wall("replaces_itself", f"{self.name}: expected replaces to be another digest, found its own")
        return self

    def row(self, **changes: Any) -> str:
        """Its row as a roster spells it, with some keys changed."""
        return str(self.replaced(**changes).model_dump(mode="json", exclude_defaults=True)).replace("'", '"')


class OllamaResidentPin(Record):
    """One model that must be loaded, at this context."""

    model: ModelName
    context: Annotated[int, Field(gt=0)]
    """Tokens of context of each slot: `num_ctx`. Ollama's own default depends on free memory."""
    keep_alive: str = "forever"
    """`forever`, or a duration (`24h`) after which an unused model may go."""

    @field_validator("keep_alive")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        try:
            KeepAlive.from_word(value)
        except ValueError as error:
            raise wall("keep_alive", f"keep_alive: {error}") from error
        return value

    @property
    def keep(self) -> KeepAlive:
        """The meaning of `keep_alive`."""
        return KeepAlive.from_word(self.keep_alive)


class OllamaDeployment(Record):
    """The Ollama of one Spark; which Spark that is, the roster says."""

    listen: str = "127.0.0.1:11434"
    """Address and port to listen on, both written out: OLLAMA_HOST has too many silent defaults."""
    program: OllamaProgram | None = None
    """The build that serves; None takes whatever is there."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Ollama's other settings by name. Never a secret: it goes into a file that everybody can read."""
    models: tuple[OllamaModelPin, ...] = ()
    residents: tuple[OllamaResidentPin, ...] = ()
    evict_undeclared: bool = False
    """Whether a loaded model that is not a declared resident is unloaded."""

    @field_validator("listen")
    @classmethod
    def _is_written_out(cls, value: str) -> str:
        if not _LISTEN.fullmatch(value) or _is_no_ipv4(value):
            raise wall("listen_address", f"listen: expected a form like 127.0.0.1:11434, found {value!r}")
        meant = Endpoint.from_setting(value)
        if value != meant.url.removeprefix("http://") or meant.port == 0 or not meant.host or meant.path:
            raise wall("listen_address", f"listen: expected a form like 127.0.0.1:11434, found {value}")
        return value

    @field_validator("environment")
    @classmethod
    def _are_settings(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if name == "OLLAMA_HOST":
                raise wall("listen_is_host", "environment.OLLAMA_HOST: expected it as listen, found it here")
            if name not in SETTINGS:
                raise wall("unknown_setting", f"environment.{name}: expected a setting of Ollama, found none")
            if not text.isprintable():
                raise wall("setting_text", f"environment.{name}: expected printable text, found some that is not")
            if (expected := expected_value(name, text)) is not None:
                raise wall("setting_value", f"environment.{name}: expected {expected}, found {text!r}")
        if (cache := lost_cache(value)) is not None:
            expected = "expected OLLAMA_FLASH_ATTENTION, without which it is not used, found it off"
            raise wall("setting_lost", f"environment.OLLAMA_KV_CACHE_TYPE={cache}: {expected}")
        return value

    @model_validator(mode="after")
    def _walls(self) -> Self:
        _unique("models", (pin.name for pin in self.models))
        _unique("residents", (pin.model for pin in self.residents))
        at_once = self.environment.get("OLLAMA_MAX_LOADED_MODELS", "0")
        if at_once.isdigit() and 0 < int(at_once) < len(self.residents):
            raise wall(
                "too_many_residents",
                f"residents: expected at most OLLAMA_MAX_LOADED_MODELS={at_once}, found {len(self.residents)}",
            )
        declared = {pin.name for pin in self.models}
        for pin in self.residents:
            if pin.model not in declared:
                raise wall("resident_undeclared", f"residents: expected a declared model, found {pin.model}")
        self._memory_walls()
        return self

    def _memory_walls(self) -> None:
        resident = {pin.model for pin in self.residents}
        without = [pin.name for pin in self.models if pin.name in resident and pin.memory is None]
        if without and len(without) < len(resident):
            raise wall("memory_of_some", f"models: expected memory for each resident, found none for {without[0]}")
        slots = self.environment.get("OLLAMA_NUM_PARALLEL")
        if any(pin.memory for pin in self.models) and not (slots and slots.isdecimal() and int(slots) > 0):
            expected = "environment.OLLAMA_NUM_PARALLEL: expected a number of slots, since memory is declared, found"
            raise wall("slots_not_pinned", f"{expected} {slots or 'none'}")

    @property
    def desired_environment(self) -> dict[str, str]:
        """Every variable that the running process must have, sorted by name."""
        return dict(sorted((self.environment | {"OLLAMA_HOST": self.listen}).items()))

    @property
    def drop_in_text(self) -> str:
        """The exact text of `DROP_IN`."""
        lines = (f"Environment={quoted_assignment(*each)}\n" for each in self.desired_environment.items())
        head = "# Managed by sparks (operations.ollama.service); what is written here by hand is replaced.\n"
        return f"{head}[Service]\n{''.join(lines)}"

    @property
    def drop_in_digest(self) -> str:
        """The digest of `drop_in_text`."""
        return sha256_digest(self.drop_in_text.encode())

    @property
    def endpoint(self) -> Endpoint:
        """Where a client on the same host connects."""
        return Endpoint.from_setting(self.listen).connect

    @property
    def store(self) -> str | None:
        """The directory of models that is asked for; None where it is the default of the service's user."""
        return self.environment.get("OLLAMA_MODELS")

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What the declared residents need of memory, each; empty where nobody declared that, or none is resident."""
        needs = {pin.name: pin.memory for pin in self.models}
        slots = self.environment.get("OLLAMA_NUM_PARALLEL", "")
        return tuple(
            Demand(model=pin.model, needs=memory, context=pin.context, slots=int(slots))
            for pin in self.residents
            if (memory := needs[pin.model]) is not None
        )

    def resident(self, name: str) -> OllamaResidentPin | None:
        """The declared resident of that name, if any."""
        return next((pin for pin in self.residents if pin.model == name), None)


def _is_no_ipv4(value: str) -> bool:
    """Digits and dots that are no IPv4 address, as 999.1.1.1."""
    host = value.rpartition(":")[0]
    return host.replace(".", "").isdigit() and not valid_ipv4(host)


def _unique(where: str, names: Iterable[str]) -> None:
    for name, count in sorted(Counter(names).items()):
        if count > 1:
            raise wall("declared_twice", f"{where}: expected {name} once, found it {count} times")
