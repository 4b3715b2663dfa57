"""Why there is no candidate for a deployment: what does not go together, or is not known to."""

CANDIDATE: dict[str, tuple[str, str]] = {
    "artifact_present_but_no_admitted_runtime": (
        "nothing is known of whether this build of a runtime loads this artefact; that another build does, or another "
        "runtime, says nothing",
        "a runtime that is known to load it, or try it and write down what came of it",
    ),
    "kernel_dispatch_unsupported": (
        "this exact image or executable, in this exact environment, is not known to have kernels for the GPU under "
        "this kernel release, or is known to have none",
        "another image or environment: each is a question of its own",
    ),
    "known_incompatible": ("exactly these things are known not to go together", "another of them"),
    "draft_wrong_target": (
        "the draft was made for another model than is served. It would give the same text, slower",
        "the draft's own target; for a fused draft the artefact that has both",
    ),
    "draft_block_exceeded": (
        "more speculative tokens than the draft has in its block",
        "at most as many as its block has",
    ),
    "draft_totals_mixed": (
        "a size beside that of a fused artefact, or none for a separate draft: sizes of base and draft are only known "
        "apart where they are apart",
        "the size of the fused artefact alone, or that of the separate draft",
    ),
    "draft_unknown": (
        "a draft that nobody has released, without what it is; or one that is released, and written out otherwise",
        "its algorithm, attachment, target and block as `unreleased`, or its exact name",
    ),
    "draft_of_none": ("a draft without what it needs of memory, or that alone", "both"),
    "only_vllm": ("an engine was to be told what vLLM alone is told", "leave it out"),
    "draft_unbound": ("a draft was to be bound to what it was not made for", "what its sentence says"),
    "legs_of_another": (
        "a candidate was to be made of things that are known about other Sparks, artefacts or builds",
        "ask for what is known about exactly these",
    ),
    "transport_of_one": ("several Sparks without a transport, or one with it", "name it, or leave it out"),
    "artifact_path": ("a file of an artefact has a path that leaves it", "a relative path without `..`"),
    "artifact_file_twice": ("an artefact has one path twice", "each path once"),
    "incompatible_with_all": ("an incompatibility that names nothing", "name the exact thing"),
    "environment_of_none": ("an incompatible environment without its runtime", "name the runtime by its digest"),
}
"""By code: what it means, and what to do."""
