"""Write our lines of fstab: everything else in the file stays as it is, and its mode and owner too."""

from shlex import quote

from operations.replace_script import replace_script


def fstab_script(path: str, lines: tuple[str, ...], marks: tuple[str, str]) -> str:
    """A script that puts lines in place of what stands between the marks, at the end of the file.

    The new file is read by findmnt before it takes the old one's place.
    """
    begin, end = marks
    fill = f"""BEGIN={quote(begin)} END={quote(end)} awk '
  {{ line = $0; gsub(/^[ \\t]+|[ \\t]+$/, "", line) }}
  line == ENVIRON["BEGIN"] {{ ours = 1; next }}
  line == ENVIRON["END"] {{ ours = 0; next }}
  !ours {{ print }}
' "$old"
printf %s {quote("".join(f"{line}{chr(10)}" for line in lines))}
"""
    check = '[ ! -s "$new" ] || findmnt --fstab --tab-file "$new" --noheadings --output TARGET >/dev/null'
    return f"""
old={quote(path)}
[ -e "$old" ] || (umask 077; : > "$old")
{replace_script(fill, check)}"""
