# Plays dpkg, apt, and what makes menus and initramfs, on a directory: enough of each for the scripts about kernels.
# Run as `sh played_apt.sh DIRECTORY PROGRAM ARGUMENT…`. Below `state`: packages/NAME (selection, version, Depends),
# available/NAME and upstream/NAME (version), and files by whose presence a program behaves otherwise.
root=$1 program=$2
shift 2
state=$root/state

put() {
    mkdir -p "${1%/*}"
    echo x > "$1"
}

entry() { # release, words, kind, title
    printf "menuentry '%s' --class gnu \$menuentry_id_option '%s' {\n" "$4" "$3"
    [ "$GRUB_SAVEDEFAULT" != true ] || printf '\tsavedefault\n'
    printf '\tlinux\t/boot/vmlinuz-%s root=UUID=u ro %s\n' "$1" "$2"
    [ ! -e "$root/boot/initrd.img-$1" ] || printf '\tinitrd\t/boot/initrd.img-%s\n' "$1"
    printf '}\n'
}

# As grub-mkconfig: the files are read by sh, the newest release comes first.
menu() {
    for file in "$root/etc/default/grub" "$root"/etc/default/grub.d/*.cfg; do
        [ ! -e "$file" ] || . "$file"
    done
    default=${GRUB_DEFAULT:-0}
    [ "$default" != saved ] || default='${saved_entry}'
    printf 'set default="${next_entry}"\nset default="%s"\n' "$default"
    releases=$(ls "$root/boot" | sed -n 's/^vmlinuz-//p' | sort -rV)
    words="$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT"
    entry "$(printf '%s\n' "$releases" | head -n 1)" "$words" gnulinux-simple-u Ubuntu
    echo "submenu 'Advanced' \$menuentry_id_option 'gnulinux-advanced-u' {"
    for release in $releases; do
        entry "$release" "$words" "gnulinux-$release-advanced-u" "Ubuntu, with Linux $release"
    done
    echo "}"
}

update_grub() {
    if [ -e "$state/menu-fails" ]; then
        echo "/usr/sbin/grub-probe: error: cannot find a device" >&2
        exit 1
    fi
    menu > "$root/boot/grub/grub.cfg"
}

install() { # name=version…
    if [ -e "$state/lock" ]; then
        echo "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by $(cat "$state/lock")..."
        echo "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?" >&2
        exit 100
    fi
    for each; do
        name=${each%%=*}
        if [ -e "$state/later/$name" ] && [ "$downgrades" = no ]; then
            echo "E: Packages were downgraded and -y was used without --allow-downgrades." >&2
            exit 100
        fi
        echo "install|${each#*=}|" > "$state/packages/$name"
        release=${name#linux-image-}
        if [ "$release" != "$name" ]; then
            put "$root/boot/vmlinuz-$release"
            put "$root/boot/initrd.img-$release"
            put "$root/lib/modules/$release/modules.dep"
        fi
    done
    update_grub
}

apt_get() {
    echo "$*" >> "$root/calls"
    simulated=no downgrades=no update=no named=
    for each; do
        case $each in
            -s) simulated=yes ;;
            --allow-downgrades) downgrades=yes ;;
            update) update=yes ;;
            *::*) ;;
            linux-*=*) named="$named $each" ;;
        esac
    done
    if [ $update = yes ]; then
        cp "$state"/upstream/* "$state/available" 2>/dev/null
        exit 0
    fi
    for each in $named; do
        if [ "$(cat "$state/available/${each%%=*}" 2>/dev/null)" != "${each#*=}" ]; then
            echo "E: Version '${each#*=}' for '${each%%=*}' was not found" >&2
            exit 100
        fi
    done
    if [ $simulated = yes ]; then
        for each in $named $(cat "$state/brings" 2>/dev/null); do echo "Inst ${each%%=*} (x)"; done
        exit 0
    fi
    install $named
}

case $program in
    dpkg-query)
        for file in "$state"/packages/*; do
            IFS='|' read -r want version depends < "$file"
            echo "$want ok installed|${file##*/}|$version|arm64|$depends"
        done ;;
    dpkg) shift; for path; do echo "linux-image-${path##*vmlinuz-}: $path"; done ;;
    apt-get) apt_get "$@" ;;
    apt-mark)
        shift
        if [ -e "$state/busy" ]; then
            echo "dpkg: error: dpkg frontend lock was locked by another process with pid 3340" >&2
            rm "$state/busy"
            exit 100
        fi
        for name; do
            if ! [ -e "$state/packages/$name" ]; then echo "E: Unable to locate package $name" >&2; exit 100; fi
            sed -i 's/^install/hold/' "$state/packages/$name"
        done ;;
    update-grub) update_grub ;;
    update-initramfs) put "$root/boot/initrd.img-$3" ;;
    grub-set-default) exec /usr/sbin/grub-set-default "--boot-directory=$root/boot" "$@" ;;
esac
