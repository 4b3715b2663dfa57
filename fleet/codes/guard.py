"""Changes that may cut SSH: why they are refused, and how they end."""

GUARD: dict[str, tuple[str, str]] = {
    "guard_armed": (
        "another run tries a change on this host now; it is confirmed or undone within its window",
        "wait",
    ),
    "guard_abandoned": (
        "a trial on this host has lost its timer: somebody stopped it",
        "the command in the hint brings the old state back",
    ),
    "guard_unavailable": (
        "the host lacks what a change that undoes itself needs: systemd, or a program",
        "install it",
    ),
    "guard_without_ssh": (
        "the host is not reached over SSH, so no fresh connection can confirm a change",
        "run over SSH",
    ),
    "cannot_be_undone": (
        "what is up now follows from no file that a reboot finds: a profile in memory, a file in `/run/netplan`, an "
        "address set with `ip`. Nothing would bring it back",
        "make it durable first, or come in over another connection",
    ),
    "guard_not_armed": (
        "the timer did not start, another guard was quicker, or netplan would not take the files; nothing was changed",
        "what it says",
    ),
    "rolled_back": (
        "the change was tried and not confirmed; the host has undone it, and all is as before",
        "correct what it says, then run again",
    ),
    "not_restored": (
        "the change was not confirmed, and the old state was not seen again within ten minutes",
        "look at the host's console. The trial lives in memory: a reboot ends in the old state",
    ),
}
"""By code: what it means, and what to do."""
