"""What stands in the way of a host policy, and why one cannot be."""

HOST_POLICY: dict[str, tuple[str, str]] = {
    "page_size_differs": (
        "the policy's values are for pages of one size, and the running kernel has another",
        "converge the kernel first; or another policy",
    ),
    "value_not_offered": (
        "the running kernel does not know that word for the setting, or not the setting at all",
        "a word that it offers, or leave it out",
    ),
    "sysctl_unknown": (
        "the running kernel has no setting of that name",
        "take it out of the policy, or have the module that brings it loaded at boot",
    ),
    "sysctl_overridden": (
        "a file that is read after ours, or /etc/sysctl.conf, gives a setting of the policy another value, and would "
        "win at the next boot. The sentence names the file and the line",
        "take that line out, or declare its value",
    ),
    "unit_missing": ("a unit that shall run is not there", "install what has it"),
    "unit_alias": ("a unit is declared by a name that stands for another", "declare that one"),
    "unit_static": ("the unit cannot be enabled or disabled: others start it", "mask it, or leave it out"),
    "unit_mask_blocked": (
        "a file of the administrator lies where the mask must lie",
        "move it away, or declare the unit disabled",
    ),
    "unit_triggered": (
        "a unit that shall not run is started again by another that is active, as a service by its socket",
        "declare that one too, or mask the unit",
    ),
    "watchdog_missing": ("there is no watchdog that systemd could feed", "load its driver, or leave it out"),
    "swap_in_use": ("the swap file has another size or page size, and the kernel uses it", "swapoff on the host first"),
    "swap_filesystem": ("the file system cannot hold a swap file that is allocated at once", "another place"),
    "no_room": ("the file system has less room than the file needs", "make room, or a smaller file"),
    "chrony_without_sources": (
        "chrony does not read `/etc/chrony/sources.d`, so a file there says nothing",
        "`sourcedir /etc/chrony/sources.d` in /etc/chrony/chrony.conf, as Debian and Ubuntu ship it",
    ),
    "user_missing": ("a user that shall linger does not exist", "add the user"),
    "fstab_unusual": ("/etc/fstab is a link, or has only one of our two marks", "mend it by hand"),
    "fstab_conflict": (
        "another line of fstab says something else for a mount point of the policy, or is one that cannot be read, as "
        "with a comment behind its options. The sentence names the line",
        "take that line out, or declare what it says",
    ),
    "nfs_missing": ("nothing on the host can mount NFS", "install nfs-common"),
    "mount_busy": (
        "something else is mounted where a share should be, and the processes that the sentence names use it",
        "stop these, or wait; nothing that is used is unmounted",
    ),
    "path_unusual": ("something else lies where a directory or a file of the kernel should be", "move it away"),
    "package_missing": ("a package that shall be held is not installed", "install it, or leave it out"),
    "conf_overridden": (
        "a drop-in that is read after ours says something else. The sentence names the file and the line",
        "take that line out, or declare its value",
    ),
}
"""By code: what it means, and what to do."""

HOST_WALLS: dict[str, tuple[str, str]] = {
    "unknown_policy": ("a Spark names a policy that the roster does not have", "one of those the sentence names"),
    "unit_ours": ("a unit whose name only our own have", "leave it out: a deploy makes it"),
    "unit_carries_us": (
        "a unit that a Spark is reached by, or that all others need, is declared disabled or masked",
        "leave it out",
    ),
    "not_a_service": ("a unit that has no processes of its own", "the service that it starts"),
    "guarded_container": ("a memory guard with no container, or with a name and a label", "one of the two"),
    "guard_levels": ("a memory guard that is stricter once the engine is ready", "a startup level as high or higher"),
    "time_twice": ("a unit that keeps the time is declared beside `time_sync`", "leave the unit out"),
    "time_servers_alone": ("servers for the time, and no service that shall ask them", "`time_sync` beside them"),
    "tmpfile_path": ("a value for a path that is not the kernel's, or none for one that is", "as the sentence says"),
    "page_sizes_differ": (
        "the host policy of a Spark is for another page size than its kernel policy",
        "another host policy, or another kernel",
    ),
    "nfs_source": ("what shall be mounted is no share of a server", "`nas:/volume1/models`"),
    "option_twice": ("an option of a mount is given twice", "once"),
    "not_at_boot": ("a mount with `noauto`, which no boot makes", "leave it out, or add `x-systemd.automount`"),
    "mount_over_system": ("a share would hide what the host needs", "a place for data: `/mnt/models`"),
    "sysctl_twice": ("two names of one kernel setting, as `vm.swappiness` and `vm/swappiness`", "one of them"),
}
"""By code: what it means, and what to do."""
