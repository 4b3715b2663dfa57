"""Look at what GRUB will start, and at what its menu is made from, and print one JSON line.

Of grub.cfg only the lines that make entries and choose one leave the host; of /etc/default/grub and the files beside it
only the variables that are named. The value of a parameter that may be a secret stays here.
"""

import glob
import hashlib
import json
import os
import re
import types

KEPT = re.compile(
    r"\s*((menuentry|submenu)\s|(linux|initrd)(16|efi)?\s|set\s+default=|savedefault\s*$|\}\s*$)|.*\{\s*$"
)
SPACES = " \t\n"


class Hidden:
    """Takes out the values that may be secrets."""

    def __init__(self, names):
        parts = ['"(%s)=[^"]*"', "'(%s)=[^']*'", "(?<=[ \t])(%s)=(\"[^\"]*\"|'[^']*'|[^ \t\"'])*"]
        self.line = re.compile("|".join(part % names for part in parts), re.I)
        self.word = re.compile("(%s)=.*" % names, re.I | re.S)
        self.url = re.compile(r"(://)[^ @/\"]*@")

    def in_line(self, line):
        named = self.line.sub(lambda match: match[0].lstrip("\"'").partition("=")[0] + "=<redacted>", line)
        return self.url.sub(r"\1<redacted>@", named)

    def in_word(self, word):
        shown = word.partition("=")[0] + "=<redacted>" if self.word.fullmatch(word) else word
        return self.url.sub(r"\1<redacted>@", shown)


def words(value):
    """The words of a command line, each as its characters; only the double quote quotes."""
    found, word, quoted = [], [], False
    for each in value:
        if each[0] in SPACES and not quoted:
            if word:
                found.append(word)
            word = []
            continue
        quoted ^= each[0] == '"'
        word.append(each)
    return [*found, word] if word else found


def span(word, value, plain):
    """Where a word stands in its file, with one blank beside it, if it can be cut out there without another effect."""
    path, start = word[0][1], word[0][2]
    end = start
    for _, where, place, length in word:
        if where != path or place != end:
            return None
        end = place + length
    if path not in plain:
        return None
    blanks = {(each[1], each[2]): each[3] for each in value if each[0] in SPACES}
    before = [place for (where, place), length in blanks.items() if where == path and place + length == start]
    if before:
        start = before[0]
    elif (path, end) in blanks:
        end += blanks[path, end]
    cut = [each[2] for each in value if each[1] == path and start <= each[2] < end]
    if len(cut) != len(set(cut)):  # text of another variable that is used twice: both would go
        return None
    return {"file": path, "start": start, "end": end}


def defaults(root, names, hidden, reading):
    """What the menu is made from: the files in their order, and the variables as they end up."""
    paths = [os.path.join(root, "etc/default/grub")]
    paths += sorted(glob.glob(os.path.join(glob.escape(root), "etc/default/grub.d/*.cfg")))
    variables, files, plain = {}, [], set()
    for path in paths:
        content = read(path)
        if content is None:
            continue
        reader = reading.Reader("/" + os.path.relpath(path, root), content.decode("latin-1"), variables)
        assigned = reader.run()
        if reader.is_plain:
            plain.add(reader.path)
        kept = [name for name in dict.fromkeys(assigned) if name in names["texts"] + names["lines"]]
        found = {"path": reader.path, "content_digest": "sha256:" + hashlib.sha256(content).hexdigest()}
        files.append({**found, "is_plain": reader.is_plain, "assigns": kept})
    texts = {name: text_of(variables[name]) for name in names["texts"] if name in variables}
    lines = {name: said(variables[name], plain, hidden) for name in names["lines"] if name in variables}
    return {"files": files, "texts": texts, "lines": lines}


def text_of(value):
    return None if value is None else "".join(each[0] for each in value).encode("latin-1").decode("utf-8", "replace")


def said(value, plain, hidden):
    return (
        value
        if value is None
        else [{"text": hidden.in_word(text_of(word)), "place": span(word, value, plain)} for word in words(value)]
    )


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError("%s: %s" % (path, error.strerror)) from error


def menu(root, hidden):
    content = read(os.path.join(root, "boot/grub/grub.cfg"))
    if content is None:
        raise ValueError("expected /boot/grub/grub.cfg, found none: this host is not booted by GRUB as Debian has it")
    lines = content.decode("utf-8", "replace").split("\n")
    return "\n".join(hidden.in_line(line) for line in lines if KEPT.match(line))


def module(text):
    """The program that reads what sh reads, which came along."""
    found = types.ModuleType("sh_values")
    exec(text, found.__dict__)
    return found


def main(text):
    arguments = json.loads(text)
    root, hidden = arguments["root"] or "/", Hidden(arguments["secret"])
    try:
        environment = read(os.path.join(root, "boot/grub/grubenv")) or b""
        found = {
            "menu": menu(root, hidden),
            "environment": environment.decode("utf-8", "replace"),
            "defaults": defaults(root, arguments["variables"], hidden, module(arguments["sh_values"])),
        }
    except ValueError as blind:
        found = {"error": str(blind)}
    print(json.dumps(found))
