"""Policies that several Sparks of a roster share by name."""

from collections.abc import Collection

from fleet.wall import wall


def policy_known(spark: str, key: str, name: str | None, policies: Collection[str]) -> None:
    """The wall against a Spark that names a policy which the roster does not have.

    + key: what the Spark calls it; the roster has them under its plural
    """
    if name is not None and name not in policies:
        known = ", ".join(sorted(policies)) or "none"
        raise wall("unknown_policy", f"sparks.{spark}.{key}: expected one of {key}s ({known}), found {name}")
