# Runs on a Spark as root, under /bin/sh: a change of its network that undoes itself unless it is confirmed.
#
#   arm      remember the old state, start the timer, prove that it runs, and only then start the trial
#   try      the change, under /run/netplan, where it shadows /etc and no boot finds it; runs detached
#   state    how the trial stands; called over a fresh connection
#   commit   under /etc, files synced, the timer stopped; called over a fresh connection
#   undo     the old state now instead of when the timer ends; $2 says why
#   restore  the old state; called by the timer
#
# Before this text stand: token seconds home etc run kept, written and removed (file names), and lines for nmcli:
# up (uuid interface, anew where its address goes first) and down (up|down uuid interface). $dir holds the files, new/
# and old/. One lock keeps arm, commit and restore apart; a holder that is killed frees it. A complaint reads `expected
# x, found y`. Time limits are for what hangs: the timer ends a trial that is slow.
set -u
export LC_ALL=C
umask 077
dir=$home/$token
names="$written $removed"

fail() { echo "expected $2, found $3" >&2; exit "$1"; }
state() { cat "${1:-$dir}/state" 2>/dev/null || echo gone; }
becomes() { printf '%s\n' "$1" > "$dir/state.new" && mv -f "$dir/state.new" "$dir/state"; }
is_armed() { systemctl --quiet is-active sparks-guard.timer; }
is_restoring() { case $(systemctl is-active sparks-guard.service) in active | activating) ;; *) return 1 ;; esac; }
beside() { echo "${1%/*}/.${1##*/}.$token"; }
put() { # a file whole or not at all: $1 from, $2 to; private, or with $3 (-p) as it was
    cp -f ${3-} "$1" "$(beside "$2")" && sync "$(beside "$2")" && mv -fT "$(beside "$2")" "$2" && sync "${2%/*}"
}

arm() {
    exec 9> "$home/lock"
    flock -w 5 9 || cannot 75 "no other guard on this host" "one at work"
    only_ours
    for name in $names; do
        [ ! -e "$run/$name" ] || cannot 65 "no $run/$name, which a trial would take away" "one"
        [ ! -e "$etc/$name" ] || cp -p "$etc/$name" "$dir/old/$name" || cannot 74 "room to keep $etc/$name" "none"
    done
    becomes armed || cannot 74 "room in $home" "none"
    systemctl reset-failed sparks-guard.service sparks-guard.timer sparks-guard-trial.service 2>/dev/null
    systemd-run --quiet --collect --unit=sparks-guard --on-active="$seconds" --timer-property=AccuracySec=200ms \
        --description="Undo a change of the network that nobody confirmed" /bin/sh "$dir/guard" restore
    will_fire || { systemctl stop sparks-guard.timer; cannot 71 "the timer sparks-guard.timer to run" "it not active"; }
    systemd-run --quiet --collect --unit=sparks-guard-trial --description="Try a change of the network" \
        /bin/sh "$dir/guard" try \
        || { systemctl stop sparks-guard.timer; cannot 71 "the unit sparks-guard-trial to start" "it refused"; }
    echo armed
}

cannot() { rm -rf "$dir"; fail "$@"; }

will_fire() {
    is_armed || return
    case $(systemctl show --property=NextElapseUSecMonotonic --value sparks-guard.timer) in
        '' | 0 | infinity) return 1 ;;
    esac
}

# Refuses beside a guard that has not ended; clears what one that has ended leaves, and says so.
only_ours() {
    at_work="nobody knows whom"
    for other in "$home"/*/; do
        other=${other%/}
        [ -d "$other" ] && [ "$other" != "$dir" ] || continue
        case $(state "$other") in
            gone) [ -z "$(find "$other" -maxdepth 0 -mmin +10)" ] || rm -rf "$other" ;;
            committed | rolled-back*)
                echo "note: cleared a guard armed by $(cat "$other/by"), $(state "$other")"
                rm -rf "$other" ;;
            *)
                at_work=$(cat "$other/by")
                is_armed || is_restoring || cannot 75 "no guard without its timer" "one armed by $at_work" ;;
        esac
    done
    ! { is_armed || is_restoring; } || cannot 75 "no other guard on this host" "one armed by $at_work"
}

try() {
    sleep 1 # the answer that it is armed leaves the host before anything can hold it back
    becomes trying
    mkdir -p -m 0755 "$run"
    for name in $names; do put "$dir/new/$name" "$run/$name" || give_up "no room in $run"; done
    timeout 300 netplan generate >/dev/null 2>&1 || give_up "netplan refused its files"
    timeout 60 nmcli connection reload || give_up "NetworkManager did not reload its profiles"
    echo "$up" | while read -r uuid interface how; do
        [ "$how" != anew ] || ip -4 address flush dev "$interface" scope global
        [ -z "$uuid" ] || timeout 150 nmcli --wait 120 connection up uuid "$uuid" ifname "$interface" >/dev/null || exit
    done || give_up "a profile that did not come up"
    becomes tried
}

give_up() { becomes "failed $1"; systemctl --no-block start sparks-guard.service; exit 1; }

commit() {
    exec 9> "$home/lock"
    flock -w 30 9 || fail 75 "the guard to be free" "it held"
    [ "$(state)" = tried ] && is_armed && ! is_restoring || fail 75 "a trial that waits for this" "it $(state)"
    for name in $names; do
        cmp -s "$dir/new/$name" "$run/$name" || fail 65 "$run/$name as it was tried" "it changed"
        is_old "$name" || fail 65 "$etc/$name as it was before" "it changed"
    done
    : > "$dir/committing"
    for name in $written; do put "$dir/new/$name" "$etc/$name" || fail 74 "room for $etc/$name" "none"; done
    for name in $removed; do
        [ -e "$dir/old/$name" ] || continue
        mkdir -p "$kept" && put "$dir/old/$name" "$(copy_of "$name")" || fail 74 "room for a copy in $kept" "none"
        rm -f "$etc/$name" && sync "$etc" || fail 74 "$etc/$name to go" "it there"
    done
    for name in $names; do rm -f "$run/$name"; done
    rmdir "$run" 2>/dev/null
    becomes committed
    systemctl stop sparks-guard.timer
    is_restoring || rm -rf "$dir"
    echo committed
}

is_old() { if [ -e "$dir/old/$1" ]; then cmp -s "$dir/old/$1" "$etc/$1"; else [ ! -e "$etc/$1" ]; fi; }
copy_of() { echo "$kept/$1.$(sha256sum < "$dir/old/$1" | cut -c1-12)"; }

undo() {
    case $(state) in
        armed | trying | tried) becomes "failed $1"; systemctl --no-block start sparks-guard.service ;;
    esac
}

restore() {
    systemctl stop sparks-guard-trial.service 2>/dev/null
    exec 9> "$home/lock"
    flock 9
    why=$(state)
    case $why in
        committed | gone | rolled-back*) exit 0 ;;
        failed*) why=${why#failed } ;;
        *) why="no confirmation in $seconds s" ;;
    esac
    for name in $names; do
        rm -f "$run/$name" "$(beside "$run/$name")"
        [ ! -e "$dir/committing" ] || put_back "$name"
    done
    rmdir "$run" 2>/dev/null
    timeout 300 netplan generate >/dev/null 2>&1 || timeout 300 systemctl daemon-reload
    timeout 60 nmcli connection reload
    echo "$down" | while read -r verb uuid interface; do
        for again in 1 2 3; do bring_back "$verb" "$uuid" "$interface" && break || sleep 2; done
    done
    becomes "rolled-back $why"
    systemctl stop sparks-guard.timer
}

put_back() {
    rm -f "$(beside "$etc/$1")"
    if [ -e "$dir/old/$1" ]; then
        cmp -s "$dir/old/$1" "$etc/$1" || put "$dir/old/$1" "$etc/$1" -p
        rm -f "$(copy_of "$1")" "$(beside "$(copy_of "$1")")"
    else
        rm -f "$etc/$1" && sync "$etc"
    fi
}

bring_back() { # an interface had this profile up, or none: then the new one goes down, if it is there still
    case $1 in
        up) timeout 120 nmcli --wait 90 connection up uuid "$2" ifname "$3" >/dev/null 2>&1 ;;
        down) timeout 120 nmcli --wait 90 connection down uuid "$2" >/dev/null 2>&1 || : ;;
    esac
}

case $1 in
    arm | try | state | commit | restore) "$1" ;;
    undo) undo "$2" ;;
    *) fail 64 "a command of the guard" "$1" ;;
esac
