"""Put a file in the place of one that belongs to a person: whole, with its mode and owner, or not at all."""


def replace_script(fill: str, check: str) -> str:
    """A script that replaces the file `$old`: beside it, checked, durable, renamed. Its first failure leaves `$old`.

    + fill: commands that print the new content, and may read `$old`
    + check: a command that may refuse the new file, which it finds as `$new`
    """
    return f"""
umask 077
folder=${{old%/*}}
name=${{old##*/}}
find "$folder" -maxdepth 1 -name ".$name.*.new" -delete
new=$(mktemp "$folder/.$name.XXXXXX.new")
trap 'rm -f "$new"' EXIT
{{
{fill}}} > "$new"
chmod --reference="$old" "$new"
chown --reference="$old" "$new"
{check}
sync "$new"
mv -fT "$new" "$old"
trap - EXIT
sync "$folder"
"""
