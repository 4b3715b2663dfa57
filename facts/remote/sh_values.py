"""Read a file of assignments as sh reads it, and know of each character of a value where it was written.

What sh would run is not run: such a value is None. A file that does more than assign is not plain.
"""

import re

SPACES = " \t\n"
ASSIGNMENT = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=")
VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


class Reader:
    """Reads a file of assignments as sh does. Each character of a value knows where it was written."""

    def __init__(self, path, text, variables):
        self.path, self.text, self.variables = path, text, variables
        self.place, self.is_plain = 0, True

    def run(self):
        """The variables that it assigns, in order; what it does besides makes it not plain."""
        assigned = []
        while self.skip():
            match = ASSIGNMENT.match(self.text, self.place)
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
        match = VARIABLE.match(self.text, self.place)
        if match is None:
            self.place = self.past_command()
            return None
        self.place = match.end()
        if match[2] and self.text.startswith("\\\n", self.place):
            self.is_plain = False  # the name goes on in the next line
        value = self.variables.get(match[1] or match[2], [])
        return None if value is None or found is None else found + value

    def past_command(self):
        """Behind what sh would run or work out: it cannot touch another variable, so the file may still be plain."""
        opened, depth = self.text[self.place], 0
        closing = {"$(": ")", "${": "}"}.get(self.text[self.place : self.place + 2], "`" if opened == "`" else None)
        if closing is None:
            self.is_plain = False
            return self.place + 1
        for place in range(self.place + (1 if opened == "`" else 2), len(self.text)):
            here = self.text[place]
            if here == closing and depth == 0:
                return place + 1
            if here in "\\\n" or (closing != "`" and here in "\"'`#"):
                break
            depth += (here in "({" and closing != "`") - (here in ")}" and closing != "`")
        self.is_plain = False
        return self.end_of_line()
