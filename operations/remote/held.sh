# Sourced, as root, by every command that changes this host. It goes on only below the connection that holds the lock,
# so no run acts on what another has in hand; and until the last process of it has ended nobody takes the lock over:
# descriptor 8 stays open in what it starts, also where the connection and the run are gone long before.
exec 8> "@PLACE@/work"
flock -w @WAIT@ 8 || { echo "expected no other command at work on this host, found one for @WAIT@ s" >&2; exit 75; }
(
    holder= ticks=
    while read -r key pid rest; do [ "$key" != holder ] || { holder=$pid ticks=$rest; }; done < "@PLACE@/lock" || exit 75
    [ "$holder" != - ] || exit 0
    at=$$
    while [ "$at" != "$holder" ] && [ "$at" -gt 0 ]; do
        while read -r key value; do [ "$key" != PPid: ] || at=$value; done < "/proc/$at/status"
    done
    read -r stat < "/proc/$at/stat" && set -- ${stat##*) } && [ "${20}" = "$ticks" ]
) 2>/dev/null || { echo "expected the lock of this host held by this connection, found it is not; nothing was changed" >&2; exit 75; }
