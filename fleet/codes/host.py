"""What stands in the way of a host policy, and why one cannot be."""

HOST_POLICY: dict[str, tuple[str, str]] = {
    "sysctl_unknown": (
        "the running kernel has no setting of that name",
        "take it out of the policy, or have the module that brings it loaded at boot",
    ),
    "sysctl_overridden": (
        "a file that is read after ours, or /etc/sysctl.conf, gives a setting of the policy another value, and would "
        "win at the next boot. The sentence names the file and the line",
        "take that line out, or declare its value",
    ),
}
"""By code: what it means, and what to do."""

HOST_WALLS: dict[str, tuple[str, str]] = {
    "unknown_policy": ("a Spark names a policy that the roster does not have", "one of those the sentence names"),
    "sysctl_twice": ("two names of one kernel setting, as `vm.swappiness` and `vm/swappiness`", "one of them"),
}
"""By code: what it means, and what to do."""
