#!/bin/sh
# Run as root: unpacks a plain Debian ($1, a tar file) into a new folder ($2) and makes it a virtual
# Spark. $3 holds the files of the guest, $4 the public key that its three users accept.
set -eu
plain=$1 root=$2 files=$3 public_key=$4

umask 022
mkdir "$root"
# The kernel makes the nodes of /dev itself, and not every container may.
# xattrs: file capabilities are kept in them.
tar -C "$root" --numeric-owner --xattrs --xattrs-include='*' --exclude='./dev/*' -xpf "$plain"

# mmdebstrap copies the host's hostname and resolv.conf: neither is ours.
rm -f "$root/etc/hostname" "$root/etc/resolv.conf" "$root"/etc/ssh/ssh_host_*
: > "$root/etc/machine-id"
tar -C "$files" --owner=0 --group=0 -cf - . | tar -C "$root" --no-overwrite-dir -xf -
chmod -R go-w "$root/etc/systemd" "$root/etc/udev" "$root/etc/ssh" "$root/usr/local"
chmod 600 "$root"/etc/netplan/*.yaml
chmod 440 "$root/etc/sudoers.d/lab"

# Interface names by PCI slot, so one image serves every machine. They sort before netplan's own
# 10-netplan-*.link. Slot 4 is kept free.
slot=3
for name in enP7s7 unused enp1s0f0np0 enP2p1s0f0np0 enp1s0f1np1 enP2p1s0f1np1; do
    printf '[Match]\nPath=pci-0000:00:%02x.0\n[Link]\nName=%s\nNamePolicy=\n' "$slot" "$name" \
        > "$root/etc/systemd/network/10-lab-$name.link"
    slot=$((slot + 1))
done

# spark: sudo without a password. asksudo: sudo asks. nosudo: not in sudoers.
for user in spark asksudo nosudo; do
    chroot "$root" useradd --create-home --shell /bin/bash "$user"
    chroot "$root" install -d -m 700 -o "$user" -g "$user" "/home/$user/.ssh"
    cp "$public_key" "$root/home/$user/.ssh/authorized_keys"
    chroot "$root" chown "$user:$user" "/home/$user/.ssh/authorized_keys"
    chmod 600 "$root/home/$user/.ssh/authorized_keys"
done
echo asksudo:asksudo | chroot "$root" chpasswd

# As the upstream install script makes it.
chroot "$root" useradd --system --user-group --shell /bin/false --create-home --home-dir /usr/share/ollama ollama

# Units that only cost boot time here: nothing looks at what they do, and each is a program more for an emulated processor.
for unit in modprobe@drm modprobe@efi_pstore systemd-pstore systemd-tpm2-setup systemd-tpm2-setup-early \
    systemd-hwdb-update ldconfig getty@tty1 grub-common e2scrub_reap systemd-logind rdma-ndd \
    kmod-static-nodes modprobe@configfs modprobe@fuse systemd-binfmt systemd-udev-load-credentials; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
for unit in dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
    sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer \
    systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service \
    docker.service containerd.service; do # docker.socket stays: the first who asks starts the daemon
    rm -f "$root"/etc/systemd/system/*.wants/"$unit"
done
for target in multi-user default; do
    mkdir -p "$root/etc/systemd/system/$target.target.wants"
done
for unit in lab-hostkey lab-started; do
    ln -s "/etc/systemd/system/$unit.service" "$root/etc/systemd/system/multi-user.target.wants/"
done
ln -s /etc/systemd/system/ollama.service "$root/etc/systemd/system/default.target.wants/"
# The message of the day is made anew at each login: 0.8 s of one that takes 3.5 (measured 2026-11-29).
sed -i '/pam_motd/d; /pam_mail/d' "$root/etc/pam.d/sshd"
# Device types that no virtual Spark has; NetworkManager loads each with its libraries at start.
rm -f "$root"/usr/lib/*/NetworkManager/*/libnm-device-plugin-[!w]*.so "$root"/usr/lib/*/NetworkManager/*/libnm-*wwan.so
touch "$root/etc/.updated" "$root/var/.updated"
