"""Which engine a process is by its own words, and which of those may leave its host. Pure.

Its text is carried to hosts, which classify and redact with the very code that is tested here: standard library alone.
Sources: vLLM 0.11 and 0.32 (`vllm serve --help`, entrypoints/cli/serve.py), llama.cpp's common/arg.cpp and tools/rpc,
Ollama's llm/server.go, field-notes "Engines".
"""

import json
import posixpath
import re

INTERPRETERS = re.compile(r"(python|pypy)[0-9.]*")
"""Programs that are the one that their arguments name. A shell, tini or `docker run` only starts it."""
TITLES = (
    (re.compile(r"(?!ray::)[^\s:]+::EngineC"), "engine"),
    (re.compile(r"(?!ray::)[^\s:]+::Worker"), "worker"),
    (re.compile(r"(?!ray::)[^\s:]+::APIServe"), "server"),
    (re.compile(r"VLLM::"), "child"),
    (re.compile(r"ray::RayWorkerW"), "ray_worker"),
)
"""How vLLM's processes call themselves, as much as the 15 bytes of a kernel's name keep, and what they are.

`VLLM` is VLLM_PROCESS_NAME_PREFIX, which somebody may set (vLLM 0.32, utils/system_utils.py, read 2026-11-30).
"""

VLLM_VALUES = frozenset({
    "model", "served-model-name", "host", "port", "max-model-len", "gpu-memory-utilization", "kv-cache-memory-bytes",
    "kv-cache-dtype", "quantization", "dtype", "tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size",
    "nnodes", "node-rank", "master-addr", "master-port", "distributed-executor-backend", "max-num-seqs",
    "max-num-batched-tokens", "block-size", "revision", "speculative-config", "uds", "config",
})  # fmt: skip
VLLM_FLAGS = frozenset({
    "headless", "enable-lora", "enable-sleep-mode", "enforce-eager", "disable-log-stats", "enable-prefix-caching",
})  # fmt: skip
LLAMA_VALUES = frozenset({
    "model", "hf-repo", "alias", "host", "port", "ctx-size", "parallel", "n-gpu-layers", "rpc", "cache-type-k",
    "cache-type-v", "model-draft", "models-dir", "models-max", "flash-attn", "tensor-split", "spec-type",
    "spec-draft-n-max", "load-mode", "sleep-idle-seconds", "api-prefix",
})  # fmt: skip
LLAMA_FLAGS = frozenset({
    "no-mmap", "mlock", "no-slots", "slots", "metrics", "kv-unified", "no-kv-unified", "ollama-engine",
})  # fmt: skip
RPC_VALUES = frozenset({"host", "port", "device", "mem"})
RPC_FLAGS = frozenset({"cache"})
"""Options whose values say how an engine serves. Whatever is not here stays on the host: a key, a token, a header."""

SHORT = {
    "vllm": {"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size",
             "q": "quantization"},
    "llama.cpp": {"m": "model", "hf": "hf-repo", "hfr": "hf-repo", "a": "alias", "c": "ctx-size", "np": "parallel",
                  "ngl": "n-gpu-layers", "gpu-layers": "n-gpu-layers", "ctk": "cache-type-k", "ctv": "cache-type-v",
                  "md": "model-draft", "spec-draft-model": "model-draft", "fa": "flash-attn", "ts": "tensor-split",
                  "kvu": "kv-unified", "no-kvu": "no-kv-unified"},
    "rpc": {"H": "host", "p": "port", "d": "device", "m": "mem", "c": "cache"},
}  # fmt: skip
SPECULATIVE = ("method", "model", "num_speculative_tokens", "draft_tensor_parallel_size")
"""Of a speculative configuration, what says which draft it is."""

REDACTED = "(redacted)"
_HARMLESS = re.compile(r"[A-Za-z0-9_./:+,\[\]-]{1,300}")


def program_of(words: list[str]) -> tuple[str, list[str]]:
    """The name of the program that a command line is, behind an interpreter too, and its arguments; none: `("", [])`.

    A module that an interpreter runs with -m is named by its dotted name.
    """
    if not words or not INTERPRETERS.fullmatch(posixpath.basename(words[0])):
        return (posixpath.basename(words[0]), words[1:]) if words else ("", [])
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-c":
            return "", []
        if option == "-m" and rest:
            return rest[0], rest[1:]
    return (posixpath.basename(rest[0]), rest[1:]) if rest else ("", [])


def engine_of(comm: str, words: list[str], executable: str) -> tuple[str, str] | None:
    """The runtime and role of a process; None where it is no engine, as far as its own words say.

    + comm: the kernel's name of it, which is left where a process has no arguments any more
    + executable: the file that it was started from; "" where that is not known
    """
    title = words[0] if words and words[0] else comm
    for start, role in TITLES:
        if start.match(title):
            return "vllm", role
    program, rest = program_of(words)
    if (program, rest[:1]) in (("vllm", ["serve"]), ("vllm-rs", ["frontend"])):
        return "vllm", "server"
    if program in ("vllm.entrypoints.openai.api_server", "api_server.py"):
        return "vllm", "server"
    if program == "vllm.entrypoints.cli.main" and rest[:1] == ["serve"]:
        return "vllm", "server"
    if program == "ollama" and rest[:1] in (["serve"], ["runner"], ["start"]):
        return "ollama", "runner" if rest[0] == "runner" else "server"
    if program == "ollama_llama_server" or "/lib/ollama/" in executable:
        return "ollama", "runner"
    if program == "llama-server":
        return "llama.cpp", "server"
    if program in ("rpc-server", "ggml-rpc-server"):
        return "llama.cpp", "rpc"
    return None


def options_of(runtime: str, role: str, words: list[str]) -> dict[str, str]:
    """What may be told of its arguments, by the long name of each option; a flag's value is "true"."""
    _, rest = program_of(words)
    if role not in ("server", "runner", "rpc"):
        return {}
    if runtime == "vllm":
        return _vllm_options(rest)
    short = SHORT["rpc"] if role == "rpc" else SHORT["llama.cpp"]
    values, flags = (RPC_VALUES, RPC_FLAGS) if role == "rpc" else (LLAMA_VALUES, LLAMA_FLAGS)
    return _told(_parsed(rest, short, flags), values, flags)


def _vllm_options(rest: list[str]) -> dict[str, str]:
    serves = rest[:1] == ["serve"]
    given = _parsed(rest[1:] if serves else rest, SHORT["vllm"], VLLM_FLAGS)
    if serves and len(rest) > 1 and not rest[1].startswith("-"):
        given.setdefault("model", rest[1])
    found = _told(given, VLLM_VALUES - {"speculative-config"}, VLLM_FLAGS)
    draft = _draft(given)
    return {**found, "speculative-config": draft} if draft else found


def _draft(given: dict[str, str]) -> str | None:
    """The speculative configuration without what does not say which draft it is; written as one JSON or dotted."""
    try:
        config = json.loads(given.get("speculative-config", "{}"))
    except ValueError:
        return REDACTED
    if not isinstance(config, dict):
        return REDACTED
    dotted = {key: given[f"speculative-config.{key}"] for key in SPECULATIVE if f"speculative-config.{key}" in given}
    kept = {key: _safe(str(value)) for key, value in sorted({**config, **dotted}.items()) if key in SPECULATIVE}
    return json.dumps(kept) if kept else None


def _parsed(rest: list[str], short: dict[str, str], flags: frozenset[str]) -> dict[str, str]:
    """Every option with its value. A name may have several values (`--served-model-name a b`): commas join them."""
    found: dict[str, str] = {}
    name = None
    for word in rest:
        option = re.fullmatch(r"--?([A-Za-z][A-Za-z0-9_.-]*)(=(.*))?", word, re.DOTALL)
        if option is None:
            if name is not None:
                found[name] = f"{found[name]},{word}" if found[name] else word
            continue
        name = short.get(option[1], option[1])
        name = name if name.startswith("speculative-config.") else name.replace("_", "-")
        found[name] = option[3] or ""
        if name in flags:
            found[name], name = "true", None
    return found


def _told(given: dict[str, str], values: frozenset[str], flags: frozenset[str]) -> dict[str, str]:
    return {name: _safe(value) for name, value in sorted(given.items()) if name in values or name in flags}


def _safe(value: str) -> str:
    """A value as it is; whatever could carry a login, as a URL, is redacted."""
    return value if _HARMLESS.fullmatch(value) and "://" not in value else REDACTED
