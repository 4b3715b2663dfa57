"""The steps that make the rest of a host as its policy says."""

from typing import ClassVar, Literal

from fleet.host.text import HostFile
from fleet.step import Effect, Step


class WriteHostFile(Step):
    """Put one file or link of ours where it should be."""

    kind: Literal["write_host_file"] = "write_host_file"
    effect: Effect = Effect.WRITE
    file: HostFile


class RemoveHostFile(Step):
    """Take away one file of ours that the policy does not have."""

    kind: Literal["remove_host_file"] = "remove_host_file"
    effect: Effect = Effect.REMOVE
    path: str


class SetKernelValues(Step):
    """Give settings of the running kernel their values, in this order."""

    follows: ClassVar[frozenset[str]] = frozenset({"set_kernel_values"})
    """The kernel computes some settings anew when others change, as `min_free_kbytes` with huge pages."""

    kind: Literal["set_kernel_values"] = "set_kernel_values"
    effect: Effect = Effect.ACTIVATE
    values: dict[str, str]
    """By path, below /proc/sys or /sys."""
