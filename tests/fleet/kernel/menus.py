"""Menus as grub-mkconfig writes them."""

UUID = "0f0e0d0c-0b0a-4908-8706-050403020100"
OLD, NEW = "6.17.0-1031-nvidia", "7.0.0-1019-nvidia-64k"

HEAD = """\
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="%s"
fi
function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
    save_env saved_entry
  fi
}
"""


def entry(release: str, words: str, kind: str = "advanced", saves: bool = False) -> str:
    title = {"simple": "Ubuntu", "recovery": f"Ubuntu, with Linux {release} (recovery mode)"}.get(
        kind, f"Ubuntu, with Linux {release}"
    )
    identifier = f"gnulinux-simple-{UUID}" if kind == "simple" else f"gnulinux-{release}-{kind}-{UUID}"
    return f"""\
menuentry '{title}' --class ubuntu --class gnu-linux --class gnu --class os $menuentry_id_option '{identifier}' {{
\t{"savedefault" if saves else "recordfail"}
\tload_video
\tgfxmode $linux_gfx_mode
\tinsmod gzio
\tif [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
\tsearch --no-floppy --fs-uuid --set=root {UUID}
\techo\t'Loading Linux {release} ...'
\tlinux\t/boot/vmlinuz-{release} root=UUID={UUID} ro {words} $vt_handoff
\techo\t'Loading initial ramdisk ...'
\tinitrd\t/boot/initrd.img-{release}
}}
"""


def grub_cfg(*releases: str, default: str = "${saved_entry}", words: str = "quiet splash", saves: bool = False) -> str:
    """A grub.cfg with these releases, the newest first."""
    below = "".join(entry(each, words, saves=saves) + entry(each, words, "recovery") for each in releases)
    return (
        HEAD % default
        + entry(releases[0], words, "simple", saves)
        + f"submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-{UUID}' {{\n{below}}}\n"
        + 'if [ "$grub_platform" = "efi" ]; then\n\tmenuentry \'UEFI Firmware Settings\' $menuentry_id_option '
        "'uefi-firmware' {\n\t\tfwsetup\n\t}\nfi\n"
    )


def selector(release: str) -> str:
    return f"gnulinux-advanced-{UUID}>gnulinux-{release}-advanced-{UUID}"
