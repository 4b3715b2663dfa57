"""Runs on a Spark: every netplan file as a tree of YAML nodes, with only harmless text left in it.

Needs Python 3.10 and PyYAML, as netplan.io does. Text leaves by the allow-list in `fleet.netplan.harmless`.
"""

import errno
import grp
import hashlib
import json
import os
import pwd
import re
import stat

CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ufeff\ue000-\ufffd\U00010000-\U0010ffff]")
ONE_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,200}")
MOST_BYTES, MOST_NODES, MOST_DEPTH = 262144, 20000, 32


class Bad(Exception):
    """A file that cannot be taken: its kind of error, a code, line and column."""


def invalid(code, mark=None):
    return Bad("invalid_yaml", code, *((mark.line + 1, mark.column + 1) if mark else (None, None)))


class Composer:
    """Parser events to a tree of [type, line, text or children, quoted]; an alias is its anchor again."""

    def __init__(self):
        self.stack = [["q", None, []]]
        self.anchors, self.types = {}, set()

    def take(self, event, kind):
        line = event.start_mark.line + 1
        if kind in ("SequenceEnd", "MappingEnd"):
            self.stack.pop()
        elif kind == "Alias":
            self.put(self.alias(event))
        elif kind == "Scalar":
            self.put(self.anchored(event, ["s", line, event.value, int(bool(event.style))]))
        elif kind in ("SequenceStart", "MappingStart"):
            node = self.anchored(event, ["q" if kind[0] == "S" else "m", line, []])
            self.put(node)
            self.stack.append(node)

    def put(self, node):
        kind, _, children = self.stack[-1][:3]
        children.append(node)
        if kind == "m" and len(children) % 2 == 0 and children[-2][2] == "connection.type":
            self.types.add(node[2] if node[0] == "s" else "")

    def anchored(self, event, node):
        if event.anchor in self.anchors:
            raise invalid("duplicate_anchor", event.start_mark)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def alias(self, event):
        node = self.anchors.get(event.anchor)
        if node is None or any(node is opened for opened in self.stack):
            raise invalid("recursive_alias" if node else "undefined_alias", event.start_mark)
        return node


def compose(text):
    """The first document, which is all that netplan reads, or None; and the connection types in it."""
    import yaml

    composer = Composer()
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            kind = type(event).__name__[:-5]
            if kind == "DocumentEnd":
                return composer.stack[0][2][0], composer.types
            composer.take(event, kind)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        tab = mark and any(line.startswith("\t", mark.column) for line in text.split("\n")[mark.line :][:1])
        raise invalid("tab" if tab else "syntax", mark) from None
    return None, set()


class Redactor:
    """A composed tree as it may leave the host."""

    def __init__(self, allowed, types):
        self.allowed, self.types, self.left, self.section = allowed, types, MOST_NODES, ""

    def node(self, node, context, shown, depth=0):
        self.left -= 1
        if self.left < 0 or depth > MOST_DEPTH:
            raise invalid("too_many_nodes" if self.left < 0 else "too_deep")
        kind, line, content = node[:3]
        if kind == "s":
            return ["s", line, content, node[3]] if shown and ONE_LINE.fullmatch(content) else ["r", line]
        if kind == "m":
            pairs = zip(content[::2], content[1::2], strict=True)
            return ["m", line, [self.pair(key, value, context, depth + 1) for key, value in pairs]]
        item, shown = context + " -" if context else None, "-" in self.allowed["leaves"].get(context, ())
        return ["q", line, [self.node(child, item, shown, depth + 1) for child in content]]

    def pair(self, key, value, context, depth):
        if key[0] != "s":
            return [["c", key[1]], self.node(value, None, False, depth)]
        if context == "network":
            self.section = key[2]
        shown = self.shows_key(context, key[2])
        leaf = shown and self.shows_value(context, key[2])
        return [
            self.node(key, None, shown, depth),
            self.node(value, self.below(context, key[2]), leaf, depth),
        ]

    def below(self, context, key):
        """The context of the value under a key; None where netplan knows nothing, and so neither do we."""
        if context == "":
            return "network" if key == "network" else None
        if context == "network":
            return "network @@" if key in self.allowed["sections"] else None
        if context == "network @@":
            return "@"
        if context in self.allowed["free"]:
            return context + " *"
        return context + " " + key if context and key in self.allowed["keys"] else None

    def shows_key(self, context, key):
        pattern = self.allowed["free"].get(context)
        return key in self.allowed["keys"] if pattern is None else bool(re.fullmatch(pattern, key))

    def shows_value(self, context, key):
        leaves = self.allowed["leaves"].get(context, ())
        if context != "@ networkmanager" or key != "name":
            return key in leaves or "*" in leaves
        wired = self.section in self.allowed["wired_sections"]
        known = wired or (self.section == "nm-devices" and bool(self.types))
        return known and self.types.issubset(self.allowed["wired_types"])


def read(path):
    """The bytes of a regular file, or of /dev/null, by which a file is masked; and its status."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if stat.S_ISCHR(status.st_mode) and status.st_rdev == os.makedev(1, 3):
            return b"", status
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise Bad("unreadable", "too_large" if stat.S_ISREG(status.st_mode) else "special")
        return stream.read(), status


def name_of(look_up, number):
    try:
        return look_up(number)[0]
    except KeyError:
        return str(number)


def describe(status):
    owner, group = name_of(pwd.getpwuid, status.st_uid), name_of(grp.getgrgid, status.st_gid)
    return {"mode": stat.S_IMODE(status.st_mode), "size": status.st_size, "owner": owner, "group": group}


def tree_of(data, allowed):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Bad("unreadable", "not_utf8", data[: error.start].count(b"\n") + 1, None) from None
    before = CONTROL.split(text, maxsplit=1)[0]
    if before != text:
        raise Bad("invalid_yaml", "control", before.count("\n") + 1, len(before) - before.rfind("\n"))
    tree, types = compose(text)
    return tree and Redactor(allowed, types).node(tree, "", False)


def report(path, shown_path, kind, allowed):
    entry = {"path": shown_path, "directory": kind}
    try:
        entry.update(describe(os.stat(path)))
        data, status = read(path)
        entry.update(describe(status), sha256=hashlib.sha256(data).hexdigest())
        entry["tree"] = tree_of(data, allowed)
    except Bad as bad:
        entry["error"] = list(bad.args)
    except OSError as error:
        dangling = error.errno == errno.ENOENT and os.path.islink(path)
        entry["error"] = ["unreadable", "dangling" if dangling else errno.errorcode.get(error.errno or 0)]
    return entry


def listed(root):
    """Every file that netplan reads: `*.yaml` as the shell understands it."""
    found = ["lib /lib/netplan", "etc /etc/netplan", "run /run/netplan"]
    if os.path.realpath(root + "/usr/lib/netplan") != os.path.realpath(root + "/lib/netplan"):
        found.insert(0, "lib /usr/lib/netplan")
    for kind, directory in map(str.split, found):
        try:
            names = sorted(os.listdir(root + directory), key=os.fsencode)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in names:
            if name.endswith(".yaml") and not name.startswith("."):
                shown = os.fsencode(directory + "/" + name).decode("utf-8", "replace")
                yield root + directory + "/" + name, shown, kind


def answer(asked):
    """All files, or why none could be read."""
    try:
        return {"files": [report(*each, asked["allowed"]) for each in listed(asked.get("root", "").rstrip("/"))]}
    except ImportError:
        return {"failure": "no_yaml"}
    except OSError as error:
        return {"failure": "no_listing", "code": errno.errorcode.get(error.errno or 0)}


def main(arguments):
    print(json.dumps(answer(json.loads(arguments)), separators=(",", ":")))
