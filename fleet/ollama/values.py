"""Values that Ollama's settings and API share: where it listens, and how long a model stays loaded."""

from typing import Self

from fleet.ollama import grammar
from fleet.record import Record

DEFAULT_KEEP_ALIVE = "5m"
"""What Ollama uses when OLLAMA_KEEP_ALIVE is unset or unreadable (envconfig, v0.33)."""


class Endpoint(Record):
    """Where Ollama listens, or where a client connects: not the same for `0.0.0.0` and `::`."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @classmethod
    def from_setting(cls, value: str) -> Self:
        """The meaning of a value of OLLAMA_HOST; every value has one."""
        scheme, host, port, path = grammar.parse_host(value)
        return cls(scheme=scheme, host=host, port=port, path=path)

    @property
    def url(self) -> str:
        """One spelling: scheme, host, port and path."""
        return grammar.url(self.scheme, self.host, self.port, self.path)

    @property
    def connect(self) -> "Endpoint":
        """Where a client on the same host reaches a server that listens here."""
        return self.model_copy(update={"host": grammar.connect_host(self.host)})


class KeepAlive(Record):
    """How long a model stays loaded after its last use."""

    nanoseconds: int | None
    """None is for ever, 0 is unload at once."""

    @classmethod
    def from_setting(cls, value: str) -> Self:
        """The meaning of OLLAMA_KEEP_ALIVE: a bare number is seconds, garbage is silently five minutes."""
        try:
            return cls._of(grammar.parse_setting_duration(value))
        except ValueError:
            return cls._of(grammar.parse_duration(DEFAULT_KEEP_ALIVE))

    @classmethod
    def from_request(cls, value: float | str) -> Self:
        """The meaning of `keep_alive` in a request; raises ValueError for a string without a unit: `"-1"`."""
        if isinstance(value, str):
            return cls._of(grammar.parse_duration(value))
        return cls._of(int(value * 10**9))

    @classmethod
    def from_word(cls, value: str) -> Self:
        """`forever` or a duration above zero, as a roster spells it; raises ValueError."""
        if value == "forever":
            return cls(nanoseconds=None)
        found = grammar.parse_duration(value)
        if found <= 0:
            raise ValueError(f"expected forever or a duration above zero, found {value!r}")
        return cls._of(found)

    @classmethod
    def _of(cls, nanoseconds: int) -> Self:
        kept = 0 <= nanoseconds < grammar.MAX_INT64
        return cls(nanoseconds=nanoseconds if kept else None)

    @property
    def is_forever(self) -> bool:
        """The model stays until something unloads it."""
        return self.nanoseconds is None

    @property
    def unloads(self) -> bool:
        """The model goes as soon as it has answered."""
        return self.nanoseconds == 0

    @property
    def seconds(self) -> float | None:
        """The same in seconds; None for ever."""
        return None if self.nanoseconds is None else self.nanoseconds / 10**9

    @property
    def request(self) -> int | str:
        """The value to send as `keep_alive`: -1 is a number, a string must carry a unit."""
        return -1 if self.nanoseconds is None else f"{self.nanoseconds}ns"

    def __str__(self) -> str:
        return "forever" if self.nanoseconds is None else f"{self.nanoseconds / 10**9:g}s"
