"""Policies that several Sparks of a roster share by name."""

from collections.abc import Collection

from fleet.host.policy import HostPolicy
from fleet.kernel.policy import KernelPolicy
from fleet.wall import wall


def policy_known(spark: str, key: str, name: str | None, policies: Collection[str]) -> None:
    """The wall against a Spark that names a policy which the roster does not have.

    + key: what the Spark calls it; the roster has them under its plural
    """
    if name is not None and name not in policies:
        known = ", ".join(sorted(policies)) or "none"
        raise wall("unknown_policy", f"sparks.{spark}.{key}: expected one of {key}s ({known}), found {name}")


def page_sizes_agree(spark: str, kernel: KernelPolicy, host: HostPolicy) -> None:
    """The wall against a host policy for another page size than the kernel policy of the same Spark has."""
    pages = kernel.expected_page_size
    if host.page_size_kib is not None and pages is not None and pages != host.page_size_kib * 1024:
        raise wall(
            "page_sizes_differ",
            f"sparks.{spark}.host: expected a policy for pages of {pages // 1024} KiB, as its kernel "
            f"{kernel.release} has, found one for {host.page_size_kib} KiB",
        )
