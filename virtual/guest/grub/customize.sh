#!/bin/sh
# Run as root on a virtual Spark's root ($1) after customize.sh, where it is to boot by GRUB. GRUB itself is put on the
# disk by the machine, in a boot of its own: see /usr/local/sbin/lab-grub.
set -eu
root=$1

chmod 755 "$root/usr/local/sbin/lab-grub"
# What would move a kernel by itself, and what only costs boot time.
for unit in unattended-upgrades.service rpcbind.service rpcbind.socket nfs-client.target nfs-server.service \
    dkms.service remote-fs.target; do
    rm -f "$root"/etc/systemd/system/*.wants/"$unit"
done
