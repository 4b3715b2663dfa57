"""Write our lines of fstab: everything else in the file stays as it is, and its mode and owner too."""

from shlex import quote


def fstab_script(path: str, lines: tuple[str, ...], marks: tuple[str, str]) -> str:
    """A script that puts lines in place of what stands between the marks, at the end of the file.

    The new file is read by findmnt before it takes the old one's place.
    """
    folder = path.rpartition("/")[0]
    begin, end = marks
    return f"""
umask 077
old={quote(path)}
find {quote(folder)} -maxdepth 1 -name '.fstab.*.new' -delete
new=$(mktemp {quote(f"{folder}/.fstab.XXXXXX.new")})
trap 'rm -f "$new"' EXIT
[ -e "$old" ] || : > "$old"
BEGIN={quote(begin)} END={quote(end)} awk '
  {{ line = $0; gsub(/^[ \\t]+|[ \\t]+$/, "", line) }}
  line == ENVIRON["BEGIN"] {{ ours = 1; next }}
  line == ENVIRON["END"] {{ ours = 0; next }}
  !ours {{ print }}
' "$old" > "$new"
printf %s {quote("".join(f"{line}{chr(10)}" for line in lines))} >> "$new"
chmod --reference="$old" "$new"
chown --reference="$old" "$new"
[ ! -s "$new" ] || findmnt --fstab --tab-file "$new" --noheadings --output TARGET >/dev/null
sync "$new"
mv -fT "$new" "$old"
trap - EXIT
sync {quote(folder)}
"""
