"""Ask each loaded model for one token, or for one embedding, and print one JSON line. Nothing is loaded for it."""

import http.client
import json
import time
import urllib.parse

LIMIT_BYTES = 4 * 2**20
LOOK_SECONDS = 5
PROMPT = "Say ready."


class Failed(Exception):
    """Why there was no answer, in one line."""


def answer(endpoint, path, body, seconds, whole=None):
    """What it says to one question; `whole`: the time that is told, where `seconds` is what is left of it."""
    parts = urllib.parse.urlsplit(endpoint)
    try:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=max(seconds, 0.1))
        data = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", parts.path.rstrip("/") + path, data)
        found = connection.getresponse()
        text = found.read(LIMIT_BYTES)
    except TimeoutError:
        raise Failed(f"no answer in {whole or seconds:.0f} s") from None
    except (OSError, http.client.HTTPException) as error:
        told = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise Failed(told.splitlines()[0][:200].lower()) from error
    finally:
        connection.close()
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise Failed(f"status {found.status} and no JSON") from None
    if not isinstance(said, dict):
        raise Failed(f"status {found.status} and no JSON object")
    if found.status != 200:
        raise Failed(f"status {found.status}: {str(said.get('error') or 'no reason')[:200]}")
    return said


def completion(asked, model, seconds):
    """How many tokens it made: it counts them, and where it does not, any text is one."""
    body = {"model": model["model"], "prompt": PROMPT, "stream": False}
    body["options"] = {"num_ctx": model["context"], "num_predict": 1}
    said = answer(asked["endpoint"], "/api/generate", body, seconds, asked["seconds"])
    return said.get("eval_count") or len((said.get("response") or said.get("thinking") or "").split())


def embedding(asked, model, seconds):
    body = {"model": model["model"], "input": PROMPT, "options": {"num_ctx": model["context"]}}
    said = answer(asked["endpoint"], "/api/embed", body, seconds, asked["seconds"])
    return sum(1 for each in said.get("embeddings") or [] if each)


def kind_of(asked, model):
    """What the model is for; one of an old server that does not say is for completions."""
    capable = answer(asked["endpoint"], "/api/show", {"model": model["model"]}, LOOK_SECONDS).get("capabilities") or []
    return "embedding" if "embedding" in capable and "completion" not in capable else "completion"


def one(asked, model, loaded, deadline):
    found = {"model": model["model"], "kind": "completion", "asked": False, "count": 0, "failure": None}
    there = loaded.get(model["model"])
    if there is None:
        return found | {"failure": "not loaded"}
    if there != model["context"]:
        return found | {"failure": f"loaded with context {there or 'yet unknown'}"}
    try:
        kind = kind_of(asked, model)
        found |= {"asked": True, "kind": kind}
        make = {"completion": completion, "embedding": embedding}[kind]
        return found | {"count": int(make(asked, model, deadline - time.monotonic()))}
    except Failed as failure:
        return found | {"asked": True, "failure": str(failure)}
    except (TypeError, ValueError, AttributeError, OverflowError):
        return found | {"asked": True, "failure": "an answer that is none of Ollama's"}


def main(text):
    asked = json.loads(text)
    deadline = time.monotonic() + asked["seconds"]
    try:
        listed = answer(asked["endpoint"], "/api/ps", None, LOOK_SECONDS).get("models") or []
        loaded = {each["name"]: each.get("context_length") for each in listed}
    except (Failed, TypeError, KeyError, AttributeError) as failure:
        told = str(failure) if isinstance(failure, Failed) else "expected models, found none"
        print(json.dumps({"error": f"ollama API {asked['endpoint']}/api/ps: {told}"}))
        return
    print(json.dumps([one(asked, each, loaded, deadline) for each in asked["residents"]]))
