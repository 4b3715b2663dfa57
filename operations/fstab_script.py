"""Write our lines of fstab: everything else in the file stays as it is, and its mode and owner too."""

from shlex import quote

from operations.replace_script import replace_script


def fstab_script(path: str, lines: tuple[str, ...], marks: tuple[str, str]) -> str:
    """A script that puts lines in place of what stands between the marks, at the end of the file.

    findmnt reads our lines, in a file of their own, before the new file takes the old one's place. What others wrote
    stays as it is, readable or not: findmnt 2.41.5 dies of a line with a comment in it (SIGSEGV, 2026-11-30).
    """
    begin, end = marks
    text = quote("".join(f"{line}{chr(10)}" for line in lines))
    fill = f"""BEGIN={quote(begin)} END={quote(end)} awk '
  {{ line = $0; gsub(/^[ \\t]+|[ \\t]+$/, "", line) }}
  line == ENVIRON["BEGIN"] {{ ours = 1; next }}
  line == ENVIRON["END"] {{ ours = 0; next }}
  !ours {{ print }}
' "$old"
printf %s {text}
"""
    check = f"""ours="${{new%.new}}.ours.new"
trap 'rm -f "$new" "$ours"' EXIT
printf %s {text} > "$ours"
[ ! -s "$ours" ] || findmnt --fstab --tab-file "$ours" --noheadings --output TARGET >/dev/null
rm -f "$ours"
"""
    return f"""
old={quote(path)}
[ -e "$old" ] || (umask 077; : > "$old")
{replace_script(fill, check)}"""
