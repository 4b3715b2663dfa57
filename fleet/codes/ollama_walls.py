"""Why what a roster says of Ollama cannot be: the walls of a deployment."""

OLLAMA_WALLS: dict[str, tuple[str, str]] = {
    "declared_twice": (
        "a model or resident that stands twice",
        "once",
    ),
    "keep_alive": (
        "not a duration that Ollama reads",
        '`"forever"` or as `"24h"`',
    ),
    "listen_address": (
        "not an address and port that Ollama can listen on",
        "as `127.0.0.1:11434`",
    ),
    "listen_is_host": (
        "`OLLAMA_HOST` among the settings",
        "`listen` says it",
    ),
    "unknown_setting": (
        "a setting that Ollama does not know",
        "see field `environment` in roster.md",
    ),
    "setting_text": (
        "a value that a unit file cannot hold",
        "one line of plain text",
    ),
    "setting_value": (
        "a value that Ollama cannot read: it would take its default, or mean yes, and say nothing",
        "as the sentence says",
    ),
    "setting_lost": (
        "a type of the KV cache that Ollama does not use while flash attention is off",
        "`OLLAMA_FLASH_ATTENTION` on, or no such type",
    ),
    "too_many_residents": (
        "more residents than may be loaded at once",
        "raise `OLLAMA_MAX_LOADED_MODELS`, or fewer",
    ),
    "resident_undeclared": (
        "a resident that is not among `models`",
        "declare the model with its digest",
    ),
    "replaces_itself": (
        "`replaces` of a model is its own digest",
        "the digest that the tag still has on the host, as a refusal has told it",
    ),
    "program_source": (
        "a program that is neither one archive with its digest and size, nor one that was adopted",
        "`archive`, `digest` and `size_bytes`; or `adopted` alone",
    ),
    "archive_place": (
        "an archive that is no URL and no path",
        "as `https://…/ollama-linux-arm64.tgz` or `/srv/ollama-linux-arm64.tgz`",
    ),
    "moved_from_twice": (
        "two deployments were moved away from one Spark",
        "it served one; say it of that one",
    ),
    "moved_nowhere": (
        "a deployment that moved to where it was",
        "another Spark, or no `moved_from`",
    ),
    "copied_nowhere": (
        "`copy_from` names the Spark itself, or one twice",
        "other Sparks, each once",
    ),
    "retire_serves": (
        "a Spark that serves and whose Ollama shall be retired",
        "one of the two",
    ),
}
"""Walls, by code: what it means, and what to do."""
