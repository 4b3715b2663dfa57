"""Which environment variables may be seen: those that are known and never secret. All others are redacted."""

SETTINGS = frozenset({
    "OLLAMA_CONTEXT_LENGTH", "OLLAMA_DEBUG", "OLLAMA_DEBUG_LOG_REQUESTS", "OLLAMA_EXPERIMENT",
    "OLLAMA_FLASH_ATTENTION", "OLLAMA_GPU_OVERHEAD", "OLLAMA_HOST", "OLLAMA_INTEL_GPU", "OLLAMA_KEEP_ALIVE",
    "OLLAMA_KV_CACHE_TYPE", "OLLAMA_LLM_LIBRARY", "OLLAMA_LOAD_TIMEOUT", "OLLAMA_MAX_LOADED_MODELS",
    "OLLAMA_MAX_QUEUE", "OLLAMA_MAX_TRANSFER_STREAMS", "OLLAMA_MODELS", "OLLAMA_MULTIUSER_CACHE",
    "OLLAMA_NEW_ENGINE", "OLLAMA_NOHISTORY", "OLLAMA_NOPRUNE", "OLLAMA_NO_CLOUD", "OLLAMA_NUM_PARALLEL",
    "OLLAMA_ORIGINS", "OLLAMA_REMOTES", "OLLAMA_SCHED_SPREAD", "OLLAMA_TMPDIR", "OLLAMA_VULKAN",
})  # fmt: skip
"""Settings of Ollama (envconfig up to v0.33). What is not here is redacted, so it cannot be declared."""

VISIBLE = SETTINGS | {
    "CUDA_VISIBLE_DEVICES", "GGML_CUDA_ENABLE_UNIFIED_MEMORY", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH",
    "LOGNAME", "NVIDIA_VISIBLE_DEVICES", "PATH", "SHELL", "TZ", "USER",
}  # fmt: skip
"""Whose values a look may carry away from a host."""

REDACTED = "(redacted)"
"""In place of every other value. A name alone says that something is set."""


def redacted(environment: dict[str, str]) -> dict[str, str]:
    """An environment that may be shown, sorted by name."""
    return {name: value if name in VISIBLE else REDACTED for name, value in sorted(environment.items())}
