"""Ask the registry what is published under a tag. Carried as text, beside `ollama_probe`; no look waits long for it."""

import hashlib
import http.client
import json
import os
import threading
import time
import urllib.error
import urllib.request

SECONDS = 6
"""For one answer, its name's look-up included; a registry that takes longer is not waited for."""
LIMIT_BYTES = 4 * 2**20
KIND = "application/vnd.docker.distribution.manifest.v2+json"


def place(name):
    """The address of a tag's manifest, as Ollama asks for it."""
    rest, _, tag = name.rpartition(":")
    parts = rest.split("/")
    host = parts.pop(0) if len(parts) > 2 else "registry.ollama.ai"
    space = parts.pop(0) if len(parts) > 1 else "library"
    return f"https://{host}/v2/{space}/{parts[0]}/manifests/{tag}"


def opener(environment):
    """Through the proxies that the server itself goes through."""
    named = {name.lower(): value for name, value in environment.items()}
    proxies = {kind: named[f"{kind}_proxy"] for kind in ("http", "https") if named.get(f"{kind}_proxy")}
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies))


def asked(name, environment):
    """The bytes of the manifest, or why there are none."""
    request = urllib.request.Request(place(name), headers={"Accept": KIND})
    with opener(environment).open(request, timeout=SECONDS) as answer:
        return answer.read(LIMIT_BYTES)


def begun(act, until):
    """What waits for what it gives, or for an error: a name that nobody resolves has no time-out of its own."""
    found = {}

    def run():
        try:
            found["value"] = act()
        except urllib.error.HTTPError as error:
            found["error"] = f"status {error.code}"
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            found["error"] = str(getattr(reason, "strerror", None) or reason).lower()[:200]

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return lambda: thread.join(max(0, until - time.monotonic())) or found or {"error": f"no answer in {SECONDS} s"}


def described(body, blobs):
    """The digests that the manifest may get here, its bytes, and those that are not in the store yet."""
    found = json.loads(body)
    layers = {each["digest"]: each["size"] for each in [found["config"], *found["layers"]]}
    there = (each for each in layers if os.path.exists(os.path.join(blobs, each.replace(":", "-"))))
    size = sum(layers.values())
    digests = ["sha256:" + hashlib.sha256(each).hexdigest() for each in (body, written_anew(found))]
    return {"digests": digests, "size": size, "missing": size - sum(layers[each] for each in there)}


def written_anew(found):
    """The manifest as Ollama before v0.14 stores it: read, and written again by Go."""
    kept = ("mediaType", "digest", "size", "from")

    def layer(each):
        return {name: each[name] for name in kept if name in each}

    names = ("schemaVersion", "mediaType")
    content = {name: found.get(name) for name in names} | {"config": layer(found["config"])}
    return json.dumps(content | {"layers": [layer(each) for each in found["layers"]]}, separators=(",", ":")).encode()


def published(names, blobs, environment):
    """What is published under each tag, or why nobody can tell; all are asked at once."""
    until = time.monotonic() + SECONDS
    asking = [(name, begun(lambda name=name: asked(name, environment), until)) for name in names]
    return [read(name, answer(), blobs) for name, answer in asking]


def read(name, answer, blobs):
    if "error" in answer:
        return {"model": name, "error": answer["error"]}
    try:
        return {"model": name} | described(answer["value"], blobs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {"model": name, "error": "expected a manifest, found none"}
