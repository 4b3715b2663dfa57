"""Read what Ollama holds on this host: from its API, or from its store on disk.

Carried to the host as text, beside `ollama_probe`.
"""

import glob
import hashlib
import http.client
import json
import os
import socket
import urllib.parse

LIMIT_BYTES = 4 * 2**20


class Blind(Exception):
    """Why it could not be read, in one line."""


def read(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(LIMIT_BYTES)
    except OSError as error:
        raise Blind(f"{path}: {error.strerror}") from error


def ask(endpoint, path):
    """The body of an answer with status 200; no proxy, at most LIMIT_BYTES, 5 seconds."""
    where = f"ollama API {endpoint}{path}"
    parts = urllib.parse.urlsplit(endpoint)
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = connect(parts.hostname, parts.port, timeout=5)
        connection.request("GET", parts.path.rstrip("/") + path)
        answer = connection.getresponse()
        body = answer.read(LIMIT_BYTES + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Blind(f"{where}: {plain(error)}") from error
    if answer.status != 200:
        raise Blind(f"{where}: status {answer.status}: {told(body)}")
    if len(body) > LIMIT_BYTES:
        raise Blind(f"{where}: expected at most {LIMIT_BYTES} bytes, found more")
    return body.decode("utf-8", "backslashreplace")


def is_silent(endpoint):
    """Does nobody listen there? Only a refused connection says so."""
    parts = urllib.parse.urlsplit(endpoint)
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def plain(error):
    if isinstance(error, TimeoutError):
        return "no answer in 5 s"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text.splitlines()[0][:200].lower()


def told(body):
    """Ollama's own words for a failure; nothing of any other page."""
    try:
        return str(json.loads(body)["error"])[:200]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "no JSON error"


def stored(directory):
    """The store on disk as /api/tags would list it."""
    root = os.path.join(directory, "manifests")
    models = []
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "*", "*", "*", "*"))):
        host, space, model, tag = os.path.relpath(path, root).split(os.sep)
        prefix = "" if host == "registry.ollama.ai" else host + "/"
        prefix += "" if not prefix and space == "library" else space + "/"
        models.append(stored_model(f"{prefix}{model}:{tag}", path, os.path.join(directory, "blobs")))
    return json.dumps({"models": models})


def stored_model(name, path, blobs):
    text = read(path)
    try:
        manifest = json.loads(text)
        layers = [manifest["config"], *manifest["layers"]]
        for layer in layers:
            blob = os.path.join(blobs, layer["digest"].replace(":", "-"))
            if os.path.getsize(blob) != layer["size"]:
                raise Blind(f"store: model {name}: expected {blob} whole, found another size")
        config = json.loads(read(os.path.join(blobs, manifest["config"]["digest"].replace(":", "-"))))
    except OSError as error:
        raise Blind(f"store: model {name}: {error.filename}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Blind(f"store: model {name}: expected a manifest at {path}, found none") from error
    return {
        "name": name,
        "digest": hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(),
        "size": sum(layer["size"] for layer in layers),
        "details": {
            "family": config.get("model_family"),
            "parameter_size": config.get("model_type"),
            "quantization_level": config.get("file_type"),
        },
    }
