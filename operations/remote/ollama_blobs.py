"""Put a model into Ollama's store on this host, blob by blob. Carried as text, beside `ollama_copy`."""

import hashlib
import os

PIECE = 2**20


class Failed(Exception):
    """Why it did not happen, in one line."""


class Store:
    """This host's store, and what is on its way into it."""

    def __init__(self, root):
        self.root = root
        try:
            owner = os.stat(self.root)
        except OSError as error:
            raise Failed(f"{self.root}: expected the store, found none ({error.strerror})") from error
        self.owner = owner.st_uid, owner.st_gid
        self.aside = os.path.join(self.root, ".sparks-copy")
        self.folder("blobs")
        os.makedirs(self.aside, 0o700, exist_ok=True)

    def folder(self, *parts):
        """A folder below the store, made with its owner where it is not there."""
        path = self.root
        for part in parts:
            path = os.path.join(path, part)
            if not os.path.isdir(path):
                os.mkdir(path, 0o755)
                os.chown(path, *self.owner)
        return path

    def blob(self, digest):
        return os.path.join(self.root, "blobs", digest.replace(":", "-"))

    def part(self, digest):
        return os.path.join(self.aside, digest.replace(":", "-"))

    def put(self, source, target):
        """Durable under its name, and the service's own."""
        os.chmod(source, 0o644)
        os.chown(source, *self.owner)
        os.rename(source, target)
        descriptor = os.open(os.path.dirname(target), os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    def write_manifest(self, name, body):
        """The last of a model: from now on Ollama knows it."""
        *folders, tag = place(name)
        folder = self.folder("manifests", *folders)
        new = os.path.join(self.aside, "manifest")
        with open(new, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        self.put(new, os.path.join(folder, tag))
        if not os.listdir(self.aside):
            os.rmdir(self.aside)


def hashed(path):
    """The hash of a file so far, to go on with."""
    found = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(PIECE):
                found.update(piece)
    except FileNotFoundError:
        pass
    return found


def place(name):
    """Where a store keeps the manifest of a name, as Ollama does."""
    rest, _, tag = name.rpartition(":")
    parts = rest.split("/")
    host = parts.pop(0) if len(parts) > 2 else "registry.ollama.ai"
    space = parts.pop(0) if len(parts) > 1 else "library"
    return host, space, parts[0], tag
