# Runs on a Spark as root, under /bin/sh: the lock on the host. Each command is whole or not at all, and alone: a lock is
# looked at and changed while no command of a run is at work. Before this text stand: place, wait (seconds), and for
#
#   take     token head (the controller's lines), pid and ticks (its process), over (digest of the lock that may be
#            taken over), held (the text that commands source). Ours already: it is held by this connection from now on
#   release  token
#   unlock   over
#
# A complaint reads `expected x, found y`; status 76: the lock is another than the one that was looked at.
set -u
export LC_ALL=C
umask 022

fail() { echo "expected $2, found $3" >&2; exit "$1"; }
value() { sed -n "s/^$1 //p" "$place/lock"; }
digest() { sha256sum < "$place/lock" | cut -c1-64; }
is_ours() { [ -e "$place/lock" ] && [ "$(value token)" = "$token" ]; }
is_as_seen() { [ "sha256:$(digest)" = "$over" ]; }
full() { fail 74 "room in $place" "the write refused"; }
put() { # $1 the file, $2 its text; what a killed run left beside it goes
    rm -f "$place"/.??????
    new=$(mktemp "$place/.XXXXXX") && printf '%s\n' "$2" > "$new" && chmod 0644 "$new" && mv -fT "$new" "$1" || full
}

alone() {
    mkdir -p -m 0755 "$place" || full
    exec 8> "$place/work"
    flock -w "$wait" 8 || fail 75 "no command at work on this host" "one for $wait s"
}

ticks_of() { # nothing where there is no such process
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    set -- ${stat##*) }
    echo "${20}"
}

session() { # the process that ends with this connection, and when it started
    at=$$
    while [ "$at" -gt 0 ]; do
        case $(cat "/proc/$at/comm" 2>/dev/null) in sshd*) echo "$at $(ticks_of "$at")"; return ;; esac
        [ "$at $(ticks_of "$at")" != "$pid $ticks" ] || { echo "$pid $ticks"; return; }
        parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$at/status" 2>/dev/null)
        at=${parent:-0}
    done
    echo -
}

take() {
    alone
    how=taken since=$(date -u '+%F %T UTC')
    if is_ours; then
        how=kept since=$(value since)
    elif [ -e "$place/lock" ]; then
        is_as_seen || fail 76 "no other run on this host" "one of $(value owner) since $(value since)"
        how=over
    fi
    [ "$(cat "$place/held" 2>/dev/null)" = "$held" ] || put "$place/held" "$held"
    from=${SSH_CONNECTION-}
    from=${from%% *}
    read -r boot < /proc/sys/kernel/random/boot_id
    put "$place/lock" "${head}from ${from:--}
since $since
boot $boot
holder $(session)"
    echo "$how"
}

release() {
    [ -e "$place/lock" ] || exit 0
    alone
    ! is_ours || rm -f "$place/lock"
}

unlock() {
    [ -e "$place/lock" ] || exit 0
    alone
    [ ! -e "$place/lock" ] || is_as_seen || fail 76 "the lock that was looked at" "one of $(value owner) since $(value since)"
    rm -f "$place/lock"
}
