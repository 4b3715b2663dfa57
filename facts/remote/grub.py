"""Look at what GRUB will start, and at what its menu is made from, and print one JSON line.

Of grub.cfg only the lines that make entries and choose one leave the host; of /etc/default/grub and the files beside it
only the variables that are named. The value of a parameter that may be a secret stays here.
"""

import glob
import hashlib
import json
import os
import re

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


class Reader:
    """Reads a file of assignments as sh does. Each character of a value knows where it was written."""

    def __init__(self, path, text, variables):
        self.path, self.text, self.variables = path, text, variables
        self.place, self.is_plain = 0, True

    def run(self):
        """The variables that it assigns, in order; what it does besides makes it not plain."""
        assigned = []
        while self.skip():
            match = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=").match(self.text, self.place)
            if match is None:
                self.is_plain = False
                self.place = self.end_of_line()
                continue
            self.place = match.end()
            self.variables[match[1]] = self.value()
            self.place += self.text.startswith(";", self.place)
            assigned.append(match[1])
        return assigned

    def skip(self):
        """Past blanks and comments; False at the end."""
        while self.place < len(self.text):
            here = self.text[self.place]
            if here == "#":
                self.place = self.end_of_line()
            elif here in SPACES:
                self.place += 1
            elif self.text.startswith("\\\n", self.place):
                self.place += 2
            else:
                return True
        return False

    def end_of_line(self):
        return (self.text + "\n").index("\n", self.place)

    def value(self):
        """Characters as (character, path, place, length), or None where sh would have to run something."""
        found, quote = [], ""
        while self.place < len(self.text):
            here = self.text[self.place]
            if not quote and here in SPACES + ";&|<>()":
                break
            if quote != "'" and here in "$`":
                found = self.expanded(found)
                continue
            length = 1
            if here == quote or (not quote and here in "\"'"):
                quote = "" if here == quote else here
            elif here == "\\" and quote != "'":
                length = self.escaped(found, quote)
            else:
                self.take(found, here, 1)
            self.place += length
        if quote:
            self.is_plain = False
        if self.place < len(self.text) and self.text[self.place] in "&|<>()":
            self.is_plain, self.place = False, self.end_of_line()
        return found

    def take(self, found, character, length):
        if found is not None:
            found.append((character, self.path, self.place, length))

    def escaped(self, found, quote):
        following = self.text[self.place + 1 : self.place + 2]
        if quote and following not in ("$", "`", '"', "\\", "\n"):
            self.take(found, "\\", 1)
            return 1
        if following != "\n":
            self.take(found, following, 2)
        return 2

    def expanded(self, found):
        match = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))").match(self.text, self.place)
        if match is None:
            self.is_plain = False
            self.place += 1
            return None
        self.place = match.end()
        value = self.variables.get(match[1] or match[2], [])
        return None if value is None or found is None else found + value


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
    return {"file": path, "start": start, "end": end}


def defaults(root, names, hidden):
    """What the menu is made from: the files in their order, and the variables as they end up."""
    paths = [os.path.join(root, "etc/default/grub")]
    paths += sorted(glob.glob(os.path.join(glob.escape(root), "etc/default/grub.d/*.cfg")))
    variables, files, plain = {}, [], set()
    for path in paths:
        content = read(path)
        if content is None:
            continue
        reader = Reader("/" + os.path.relpath(path, root), content.decode("latin-1"), variables)
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


def main(text):
    arguments = json.loads(text)
    root, hidden = arguments["root"] or "/", Hidden(arguments["secret"])
    try:
        environment = read(os.path.join(root, "boot/grub/grubenv")) or b""
        found = {
            "menu": menu(root, hidden),
            "environment": environment.decode("utf-8", "replace"),
            "defaults": defaults(root, arguments["variables"], hidden),
        }
    except ValueError as blind:
        found = {"error": str(blind)}
    print(json.dumps(found))
