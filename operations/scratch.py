"""Would netplan take its files with some changed? Asked in a scratch root, before anything is changed."""

NETPLAN_SECONDS = 180
"""For `netplan generate`: 5 to 7 s on a virtual Spark alone, over 60 s where many share its processors (measured
2026-11-29)."""

SILENT = f"""[ $? != 124 ] || {{
    echo "expected netplan to answer in {NETPLAN_SECONDS} s, found it did not" >&2
    exit 75
  }}"""
"""First thing behind `||`: a netplan that hangs has refused nothing."""


def accepted(change: str, also_remove: str = '"$new"') -> str:
    """A check for `write_file` and its like: would netplan take the directory once it is changed?

    + change: commands that make the change below `$root`; a new file is there as `$new`
    + also_remove: what the caller's own trap on EXIT removes, quoted for sh; that trap stands again afterwards

    The copy lives in memory and is root's alone, since foreign files hold keys. Netplan's complaint quotes the
    file, so only its place is passed on.
    """
    return f"""
rm -rf /run/sparks-netplan.*
root=$(mktemp -d /run/sparks-netplan.XXXXXX)
trap 'rm -rf {also_remove} "$root"' EXIT
for at in lib etc run; do
  mkdir -p "$root/$at/netplan"
  [ ! -d "/$at/netplan" ] || find "/$at/netplan/" -maxdepth 1 -name '*.yaml' -exec cp -p {{}} "$root/$at/netplan/" \\;
done
{change}
said=$(timeout {NETPLAN_SECONDS} netplan generate --root-dir "$root" 2>&1) || {{
  {SILENT}
  place=$(printf '%s\\n' "$said" | grep -o -m1 "$root/[^ :]*:[0-9]*:[0-9]*" | head -n1)
  echo "expected files that netplan accepts, found ${{place#"$root"}} refused; nothing was changed" >&2
  exit 65
}}
rm -rf "$root"
trap 'rm -rf {also_remove}' EXIT
"""
