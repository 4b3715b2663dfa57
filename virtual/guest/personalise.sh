# Run as root in a restored clone of the golden machine, through ssh and `sh -s`: gives it a self of
# its own. $1: its name. $2: its machine id. $3: the host's clock, seconds since 1970.
# Prints the public host key as its last line.
set -eu
name=$1 machine_id=$2
date -s "@$3" > /dev/null

# Not hostnamectl: the service behind it takes seconds to start, and on a busy host too long.
echo "$name" > /etc/hostname
hostname "$name"
printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$name" > /etc/hosts
echo "$machine_id" > /etc/machine-id
sed -i "s/^DGX_SERIAL_NUMBER=.*/DGX_SERIAL_NUMBER=\"VIRTUAL-$name\"/" /etc/dgx-release

# A clone wakes with the golden machine's MAC addresses; a new probe takes those of the command line.
virtio=/sys/bus/virtio/drivers/virtio_net
for netdev in enp1s0f0np0 enP2p1s0f0np0 enp1s0f1np1 enP2p1s0f1np1; do
    device=$(basename "$(readlink -f "/sys/class/net/$netdev/device")")
    echo "$device" > $virtio/unbind
    echo "$device" > $virtio/bind
done
udevadm settle

rm -f /etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N "" -C "$name" -f /etc/ssh/ssh_host_ed25519_key
systemctl restart ssh # sessions live on, ours too

tries=0
while [ "$(ls /sys/class/infiniband | wc -l)" -ne 4 ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 60 ]; then
        echo "$name: expected 4 RoCE devices, found: $(ls /sys/class/infiniband)" >&2
        exit 1
    fi
    sleep 0.5
done
# journald goes on under the golden machine's id, and journalctl looks under this one's.
for journal in /var/log/journal/*; do mv "$journal" "/var/log/journal/$machine_id"; done
systemctl restart systemd-journald
if ! systemctl --quiet is-active ollama.service; then
    systemctl --no-pager status ollama.service >&2 || true
    exit 1
fi
sync
cat /etc/ssh/ssh_host_ed25519_key.pub
