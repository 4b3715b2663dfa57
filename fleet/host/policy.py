"""What the rest of a host should be: one text that several Sparks share. What a policy leaves out is not ours."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fleet.host.sysctl import SysctlKey, canonical_key, same_value
from fleet.record import Record
from fleet.wall import wall

SysctlValue = Annotated[int, Field(strict=True)] | Annotated[str, Field(pattern=r"^[^\s#;](.*\S)?$", max_length=256)]
"""A number, or text for a setting that has several or none."""


class HostPolicy(Record):
    """What the rest of a host should be; everything that is left out stays as it is."""

    sysctls: dict[SysctlKey, SysctlValue] = Field(default_factory=dict)
    """Kernel settings by name, as sysctl.d(5) writes them: `vm.watermark_boost_factor`."""

    @property
    def settings(self) -> dict[str, str]:
        """The kernel settings by their path below /proc/sys."""
        return {canonical_key(key): same_value(str(value)) for key, value in self.sysctls.items()}

    @model_validator(mode="after")
    def _one_word_for_a_setting(self) -> Self:
        seen: dict[str, str] = {}
        for key in self.sysctls:
            other = seen.setdefault(canonical_key(key), key)
            if other != key:
                raise wall("sysctl_twice", f"sysctls: expected one value for a setting, found {other} and {key}")
        return self
