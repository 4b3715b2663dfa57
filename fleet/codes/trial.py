"""Why a kernel is not tried, and what it is held against before it becomes the default."""

TRIAL: dict[str, tuple[str, str]] = {
    "trial_without_policy": ("the roster has no kernel policy for the Spark", "name one: `sparks.<name>.kernel`"),
    "trial_without_fallback": (
        "the policy names no kernel to return to, so that one that hangs would be booted again by every power cycle",
        "`fallback` in the policy: a release that is known to boot",
    ),
    "kernel_not_in_menu": (
        "GRUB's menu has no entry that starts exactly this release by its id",
        "install what the policy pins, `sparks converge <spark> --scope kernel`; then `sudo update-grub`",
    ),
    "kernel_not_whole": (
        "a kernel that is tried, or is to be returned to, lacks what a boot needs",
        "install its packages again; for the initramfs `update-initramfs -c -k <release>`",
    ),
    "one_shot_pending": (
        "an entry is chosen for the next boot alone, by somebody who waits for that boot",
        "ask them; `sudo grub-editenv - unset next_entry` takes it back",
    ),
    "default_not_fallback": (
        "a power cycle would boot something else than the fallback, or whatever is first in the menu then",
        "`sparks converge <spark> --scope kernel` makes the fallback the default until the kernel was tried",
    ),
    "trial_beside": (
        "another Spark of its deployment or cluster is in a trial, or was left in one: two would be away at once",
        "end that trial first; where nobody carries it out any more, `sparks kernel trial` of that Spark does",
    ),
    "trial_not_as_desired": (
        "something is due before the kernel is tried: afterwards nobody could say that the kernel is not at fault",
        "carry that out first",
    ),
    "trial_not_drained": (
        "requests still ran when the time for draining was up, or nobody could say; nothing was booted",
        "when nobody uses it, or with a longer `--drain-timeout`",
    ),
    "not_rebooted": (
        "the Spark was told to reboot and could not; no entry is pending for its next boot",
        "what was found is what the Spark said; `systemctl reboot` by hand says more",
    ),
    "trial_not_persisted": (
        "the kernel has qualified, and could not be made the default alone; the fallback still is",
        "look at `sparks plan <spark> --scope kernel`, carry that out, and say `sparks kernel trial <spark>` again",
    ),
    "trial_kernel": ("another kernel runs than the one that is tried", "`sparks kernel show <spark>`"),
    "trial_page_size": ("the kernel has another page size than its policy says", "another flavour, or another policy"),
    "trial_command_line": (
        "the kernel runs without a word of its policy, or with one that must not be there",
        "`sparks converge <spark> --scope kernel` writes them; the next boot has them",
    ),
    "trial_gpu": (
        "nvidia-smi is installed and no GPU answers it, as where the driver's module is not built for the kernel",
        "`dkms status`, or the driver's package for this release",
    ),
    "trial_rdma_pin": (
        "an RDMA device of a rail is missing, or could not register a large piece of memory: where a kernel keeps most "
        "of its memory as CMA, long-term pins fail although there is plenty",
        "with `Cannot allocate memory`: `kho=off` in the policy's `command_line.add`",
    ),
    "trial_as_desired": (
        "with this kernel the fabric, or what is served, is not as desired",
        "what is due is named; a device that the kernel has no driver for shows here too",
    ),
}
