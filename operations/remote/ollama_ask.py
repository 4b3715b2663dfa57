"""Ask the Ollama of this host to pull, load or unload one model; a failure is one line on stderr."""

import http.client
import json
import sys
import time
import urllib.error
import urllib.request

PULL_SECONDS = 1800
"""Between two lines of a pull: Ollama is silent while it hashes a model of hundreds of gigabytes."""
LOAD_SECONDS = 900
"""For one load: three times Ollama's own OLLAMA_LOAD_TIMEOUT."""
ATTEMPTS = 5
PAUSE_SECONDS = 3
"""Before a pull that broke off goes on."""


class Failed(Exception):
    """Why it did not happen, in one line."""


def send(endpoint, path, body, seconds):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(endpoint + path, data=data)
    try:
        return opener.open(request, timeout=seconds)
    except urllib.error.HTTPError as error:
        raise Failed(f"{path}: status {error.code}: {told(error.read(4096))}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise Failed(f"{endpoint}{path}: {getattr(reason, 'strerror', None) or reason}") from error


def told(body):
    try:
        return str(json.loads(body)["error"])[:300]
    except (ValueError, KeyError, TypeError):
        return "no JSON error"


def answer(endpoint, path, body, seconds):
    with send(endpoint, path, body, seconds) as response:
        try:
            return an_object(response.read(4 * 2**20))
        except (ValueError, TypeError, OSError, http.client.HTTPException) as error:
            raise Failed(f"{path}: expected a JSON object, found {plain(error)}") from error


def an_object(text):
    """What Ollama says is always one; what is in front of it, as a proxy with a page of its own, says others."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(type(found).__name__)
    return found


def plain(error):
    return str(error) if isinstance(error, TypeError) else type(error).__name__


def digest_of(asked):
    """The digest under the tag now, or None where there is none."""
    found = answer(asked["endpoint"], "/api/tags", None, 10).get("models") or []
    try:
        digests = {each["name"]: "sha256:" + each["digest"].removeprefix("sha256:") for each in found}
    except (TypeError, KeyError, AttributeError) as error:
        raise Failed("/api/tags: expected models with names and digests, found others") from error
    return digests.get(asked["model"])


def pull(asked):
    """Absent or what it replaces, then there by the pinned digest; a stream that breaks goes on where it stopped.

    What is loaded of the old one goes while the tag still leads to it: later Ollama would not find it by its name.
    """
    found = digest_of(asked)
    if found == asked["replaces"]:
        if found is not None:
            unload(asked)
        for attempt in range(ATTEMPTS):
            if streamed(asked):
                break
            print(f"the pull broke off; going on ({attempt + 1} of {ATTEMPTS})", flush=True)
            time.sleep(PAUSE_SECONDS)
        else:
            raise Failed(f"expected the pull to end, found it broken off {ATTEMPTS} times; run again to go on")
        found = digest_of(asked)
    if found != asked["digest"]:
        raise Failed(f"expected {asked['digest']}, found {found or 'no such model'} under the tag")


def streamed(asked):
    """Whether one pull came to its end."""
    shown = None
    with send(asked["endpoint"], "/api/pull", {"model": asked["model"]}, PULL_SECONDS) as response:
        try:
            for line in response:
                progress = an_object(line)
                if "error" in progress:
                    raise Failed(str(progress["error"])[:300])
                if progress.get("status") == "success":
                    return True
                shown = show(progress, shown)
        except (OSError, http.client.HTTPException, ValueError, TypeError):
            return False
    return False


def show(progress, shown):
    """Prints a state once, and a download at each tenth."""
    text = str(progress.get("status"))[:200]
    if progress.get("total"):
        tenth = 10 * progress.get("completed", 0) // progress["total"]
        text += " {}0% of {:,} bytes".format(tenth or "", progress["total"])
    if text != shown:
        print(text, flush=True)
    return text


def load(asked):
    body = {
        "model": asked["model"],
        "keep_alive": asked["keep_alive"],
        "options": {"num_ctx": asked["context"]},
    }
    found = answer(asked["endpoint"], "/api/generate", body | {"stream": False}, LOAD_SECONDS)
    expect(found, "load")


def unload(asked):
    body = {"model": asked["model"], "keep_alive": 0, "stream": False}
    expect(answer(asked["endpoint"], "/api/generate", body, 60), "unload")


def expect(found, reason):
    if found.get("done_reason") != reason:
        raise Failed(f"expected done_reason {reason}, found {found.get('done_reason')}")


def main(text):
    asked = json.loads(text)
    try:
        {"pull": pull, "load": load, "unload": unload}[asked["do"]](asked)
    except Failed as error:
        sys.exit(f"{asked['do']} {asked['model']}: {error}")
