# Runs on a Spark as root, under /bin/sh: starts an offer of a model in a unit of its own and prints its port and token as
# JSON. Before this text stand: unit, folder (for what it reads), ready (the file of its port), asked (its JSON), server
# (its program), owner (whose store it is: a path), about (a description), properties (of the unit, a line each).
umask 077
systemctl stop --quiet "$unit.service" 2>/dev/null || :
rm -rf "$folder"
mkdir -p -m 0755 "${folder%/*}" "$folder"
printf %s "$asked" > "$folder/asked.json"
printf %s "$server" > "$folder/offer.py"
chmod 0644 "$folder/asked.json" "$folder/offer.py"
token=$(head -c 32 /dev/urandom | sha256sum | cut -c1-64)
printf '%s\n' "$token" > "$folder/token"
set -f
IFS='
'
set -- $(printf '%s\n' "$properties" | sed 's/^/--property=/')
unset IFS
systemd-run --quiet --collect --unit="$unit" --service-type=exec --description="$about" \
    --property=User="$(stat -c %U "$owner")" "$@" /usr/bin/python3 -S "$folder/offer.py" "$folder/asked.json"
rm -f "$folder/token"
for at in $(seq 300); do
    [ ! -e "$ready" ] || break
    systemctl is-active --quiet "$unit.service" || break
    sleep 0.1
done
[ -e "$ready" ] || { echo "expected $unit to offer a model, found it ended; see journalctl -u $unit" >&2; exit 69; }
printf '{"port": %d, "token": "%s"}\n' "$(cat "$ready")" "$token"
