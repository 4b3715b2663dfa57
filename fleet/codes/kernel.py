"""Why a kernel policy cannot be, and why a kernel is not made what it says."""

KERNEL_WALLS: dict[str, tuple[str, str]] = {
    "kernel_word": (
        "a word for the kernel command line that sh or GRUB would read as something else",
        "letters, digits and `_.,:/@%+=-`; what needs more goes into /etc/default/grub by hand, where it is left alone",
    ),
    "secret_parameter": (
        "a word for the kernel command line with a value that may be a secret: it would stand in the roster, in every "
        "plan and in /proc/cmdline",
        "leave it to whoever owns the secret; to remove such a word its name alone is enough",
    ),
    "kernel_line_long": (
        "a word for the kernel command line, or all words to be added, are longer than the kernel's whole command line "
        "may be: 2047 bytes (`COMMAND_LINE_SIZE` in asm/setup.h of x86 and arm64 is 2048, with a NUL at the end)",
        "shorter words, or fewer",
    ),
    "word_twice": ("a word is to be added twice", "once"),
    "word_added_and_removed": ("a word is to be added and to be removed", "one of them"),
    "kernel_without_image": (
        "the packages of a kernel policy lack the image of its release",
        "add `linux-image-<release>` with its version",
    ),
    "fallback_is_release": (
        "the fallback of a kernel policy is the release itself",
        "an older release that is known to boot, or none",
    ),
    "package_twice": (
        "a package is pinned at a version and named as one that follows the newest kernel",
        "one of `packages` and `metas`",
    ),
    "page_size_of_release": (
        "a page size that the release does not have: of an arm64 kernel of Ubuntu the name says it",
        "65536 for a release that ends with `-64k`, 4096 for others; or leave the key out",
    ),
    "kho_against_itself": (
        "Kexec HandOver is expected to be on or off, and the command line is to say the opposite",
        "make both agree",
    ),
}

KERNEL: dict[str, tuple[str, str]] = {
    "dpkg_unfinished": (
        "dpkg stopped in the middle of a package about kernels: an initramfs or GRUB's menu may lack it",
        "the command in the next line, then plan again",
    ),
    "kernel_incomplete": (
        "a package of the pinned release is installed, and its image or modules are not there",
        "the command in the next line",
    ),
    "kernel_missing": (
        "the release that every boot shall start is not installed, and this run does not install it",
        "`deploys/kernel.py` installs it first; a deploy of your own calls `kernel.pinned` before `kernel.next_boot`",
    ),
    "fallback_missing": (
        "the release to return to is not installed: after a kernel that does not boot there would be no way back",
        "install it, name its packages in the policy, or name another",
    ),
    "menu_without_ids": (
        "GRUB's menu has no entries with ids, so none can be chosen that another kernel does not move",
        "`sudo update-grub`; ours is only a menu that grub-mkconfig makes",
    ),
    "word_not_removable": (
        "a word that must go is put together from pieces, or by what sh runs: it cannot be cut out by itself",
        "take it out by hand",
    ),
    "grub_overridden": (
        "a file in /etc/default/grub.d that is read after ours gives the variable another value",
        "take the variable out of that file, or rename the file",
    ),
    "kernel_line_too_long": (
        "with the words of the policy the command line of the next boot would be longer than the kernel takes: GRUB "
        "leaves out what does not fit, and the kernel cuts it off, and neither says so",
        "fewer words: in the policy, or in what others have put there",
    ),
    "crash_kernel_kept": (
        "memory is kept for a crash kernel; `kho=off` is added only where none is",
        "take `crashkernel=` off or disable kdump, boot once, and plan again; see [kernel.md](../kernel.md)",
    ),
}
