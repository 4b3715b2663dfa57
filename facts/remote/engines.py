"""Look at the engines of this host, at their processes or by their own word, and print one JSON line.

The processes are looked for once for all looks of a bundle. Texts come with the arguments: `engine_processes.py` with
what it needs, `engine_places.py` and `engine_http.py`.
"""

import functools
import itertools
import json
import time
import types

VLLM_PORT = 8000
"""Where `vllm serve` listens when no port is given."""
LLAMA_PORT = 8080
OLLAMA_PORT = 11434


@functools.cache
def loaded(name, text):
    module = types.ModuleType(name)
    exec(text, module.__dict__)
    return module


@functools.cache
def found(processes, argv, invocation):
    return loaded("processes", processes).look({"argv": argv, "invocation": invocation})


def models(body):
    """The entries of vLLM's /v1/models without what changes at each request."""
    listed = json.loads(body)["data"]
    return [{key: entry.get(key) for key in ("id", "root", "parent", "max_model_len")} for entry in listed]


def series(names):
    """A pick of the lines of some series of /metrics."""

    def pick(body):
        lines = (line for line in body.splitlines() if line.split("{")[0].split(" ")[0] in names)
        return "\n".join(lines)

    return pick


def llama_models(body):
    """The entries of llama.cpp's /models; the arguments of a status may hold a key.

    A router says of one that is not loaded what context it was trained for, and no more.
    """
    told = []
    for entry in json.loads(body)["data"]:
        status, meta = entry.get("status"), entry.get("meta") or {}
        kept = {key: meta.get(key) for key in ("size", "n_params", "n_ctx", "n_ctx_train")}
        kept["n_ctx_train"] = meta.get("n_ctx_train", entry.get("context_length"))
        value = status.get("value") if isinstance(status, dict) else None
        failed = bool(status.get("failed")) if isinstance(status, dict) else False
        known = {"id": entry["id"], "aliases": entry.get("aliases") or [], **kept}
        told.append({**known, "status": value, "failed": failed})
    return told


def props(body):
    """Of /props what says how it serves; never its template."""
    said = json.loads(body)
    settings = said.get("default_generation_settings") or {}
    kept = {key: said.get(key) for key in ("role", "model_path", "model_alias", "total_slots", "build_info")}
    return {**kept, "n_ctx": settings.get("n_ctx"), "is_sleeping": said.get("is_sleeping")}


def slots(body):
    """Of /slots who is at work; never a prompt."""
    return [{key: each.get(key) for key in ("id", "n_ctx", "is_processing")} for each in json.loads(body)]


def ollama_loaded(body):
    """The entries of Ollama's /api/ps; none is written as null too."""
    names = ("name", "digest", "size", "size_vram", "context_length", "expires_at")
    return [{key: entry[key] for key in names if key in entry} for entry in json.loads(body)["models"] or ()]


def ollama(asked, http, server):
    picks = {"/api/version": http.field("version"), "/api/ps": ollama_loaded}
    return http.said(server["endpoint"], picks)


def vllm(asked, http, server):
    picks = {
        "/health": lambda body: True,
        "/version": http.field("version"),
        "/v1/models": models,
        "/is_sleeping": http.field("is_sleeping"),
        "/metrics": series(frozenset(asked["names"])),
    }
    return http.said(server["endpoint"], picks)


def llama(asked, http, server):
    """/slots is a task to a server that sleeps when idle: it would be woken, or kept awake."""
    picks = {
        "/health": lambda body: True,
        "/props": props,
        "/models": llama_models,
        "/metrics": series(frozenset(asked["names"])),
    }
    said = http.said(server["endpoint"], picks)
    known = said["/props"].get("value") or {}
    if known.get("role") == "router":
        said |= behind(asked, http, server)
    elif not known:
        said["/slots"] = {"error": said["/props"].get("error", "not asked, since its /props told nothing")}
    elif may_sleep(asked, server["process"]) or known.get("is_sleeping"):
        said["/slots"] = {"error": "not asked, since it may sleep when idle and would be kept awake"}
    else:
        said["/slots"] = http.picked(http.asked(server["endpoint"], "/slots"), slots)
    return said


def behind(asked, http, router):
    """/slots and /metrics of a router: those of every server that it has started; it has none of its own.

    They are asked where they listen themselves: to ask through the router is a use of their model, and may load it.
    """
    if router["process"] is None:
        return {path: {"error": "a router has none of its own"} for path in ("/slots", "/metrics")}
    told = [llama(asked, http, each) for each in router["inner"]]
    for each in told:
        for slot in each["/slots"].get("value", ()):
            slot["model"] = each["/props"]["value"]["model_alias"]
    return {
        "/slots": http.joined([each["/slots"] for each in told], lambda parts: [*itertools.chain(*parts)]),
        "/metrics": http.joined([each["/metrics"] for each in told], "\n".join),
    }


def may_sleep(asked, process):
    """Could it sleep when idle? Of one that is only known by its address nobody can tell."""
    setting = loaded("places", asked["places"]).setting
    return process is None or setting(process, "sleep-idle-seconds", "LLAMA_ARG_SLEEP_IDLE_SECONDS") != ""


SERVERS = {
    "ollama": ("ollama", OLLAMA_PORT, ollama),
    "vllm": ("vllm", VLLM_PORT, vllm),
    "llamacpp": ("llama.cpp", LLAMA_PORT, llama),
}


def servers(asked, processes):
    runtime, port, ask = SERVERS[asked["look"]]
    http, places, invocation = (loaded(name, asked[name]) for name in ("http", "places", "invocation"))
    told = []
    for server in places.servers(processes, runtime, port, asked["endpoints"], invocation):
        process = server["process"]
        known = {key: process[key] if process else None for key in ("pid", "container_id")}
        told.append({"endpoint": server["endpoint"], **known, "said": ask(asked, http, server)})
    return told


def look(asked):
    try:
        seen = found(asked["processes"], asked["argv"], asked["invocation"])
    except loaded("processes", asked["processes"]).Blind as blind:
        return {"error": str(blind)}
    if asked["look"] == "processes":
        return seen
    lenders = [each for each in seen["processes"] if each["role"] == "rpc"]
    told = {"servers": servers(asked, seen["processes"])}
    return told | ({"lenders": lenders} if asked["look"] == "llamacpp" else {"now": int(time.time())})


def main(text):
    print(json.dumps(look(json.loads(text))))
