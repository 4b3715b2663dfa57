"""Why something does not fit into memory, and memory that cannot be."""

MEMORY: dict[str, tuple[str, str]] = {
    "memory_short": (
        "what shall be loaded and the reserve together are more than is free on that Spark, by the instrument that is "
        "named",
        "`sparks fit DEPLOYMENT` says what would make it fit; or find out who holds the rest",
    ),
    "memory_above_ceiling": (
        "what shall be loaded is more than the policy lets anybody take of that Spark, however much is free",
        "`sparks fit DEPLOYMENT` says what would make it fit; or raise the `ceiling`",
    ),
    "memory_not_declared": (
        "nobody declared what the residents of that Spark need of memory, so nothing can be said of what fits",
        "`memory` of each resident's model, see [roster.md](roster.md#memory-of-a-model)",
    ),
    "fit_not_evidenced": (
        "memory is declared, a load is due, and nothing says that exactly this has fitted: these artefacts at this "
        "context, this build of the runtime, kernel, settings and Spark. Evidence of another one is none",
        "where it shall be tried for the first time: `sparks converge TARGET --admit-first`, or `--data admit=TARGET` "
        "with pyinfra; the receipt says so. Once it is loaded and well, its evidence is kept",
    ),
    "known_not_to_fit": (
        "exactly this was tried, and its engine said that it does not fit. The finding is the digest of that evidence; "
        "a first time cannot be admitted twice",
        "`sparks evidence show` says what its engine said, `sparks fit` what would fit. Where what was in its way is "
        "gone, take the file out of the folder of evidence",
    ),
    "did_not_fit": (
        "the engine would not load a model for want of memory, though what is free was enough by what is declared",
        "declare more in its `memory`, or let it have less context or fewer slots. That exactly this did not fit is "
        "kept as evidence",
    ),
    "parallel_strategy_infeasible": (
        "the model cannot be split like that: heads or layers do not divide, or nobody declared how many there are",
        "another number of Sparks, or declare what is missing in `memory`",
    ),
    "kv_pinned_short": (
        "the engine is told a fixed size for its KV cache, and all slots at their context, with the draft, need more",
        "a larger size, less context or fewer slots",
    ),
    "fraction_not_admitted": (
        "a decided fraction of that Spark's memory and the reserve are more than is free there. It is never lowered by "
        "itself: somebody decided it",
        "decide a lower one, or let it be resolved",
    ),
    "fraction_too_small": (
        "a fraction of that Spark's memory is less than what must be held there",
        "a larger one, less context, fewer slots, or no draft",
    ),
    "fraction_out_of_bounds": (
        "a fraction is below the floor of the policy or above its ceiling",
        "decide another one, or change the policy; a resolved one that is too low says that too little is free",
    ),
}
"""By code: what it means, and what to do."""

MEMORY_WALLS: dict[str, tuple[str, str]] = {
    "mixed_instruments": (
        "readings of two instruments were to be added or compared: they mean different bytes",
        "one instrument; where there are several, each is held against what is asked for by itself",
    ),
    "tells_no_free": ("an instrument that says what is held was taken to say what is free", "another instrument"),
    "free_above_total": ("more is free than there is, or there is nothing", "read it again"),
    "ranks_and_hosts": ("an assembly has another number of Sparks than ranks, or one twice", "one Spark for each rank"),
    "no_reading": ("a file of readings without any", "what each instrument said, or no file"),
    "read_twice": ("readings of one Spark by one instrument, several times", "the last one"),
    "whole_on_several": ("a model that is not split was to lie on several Sparks", "split it, or name one Spark"),
    "fused_draft_weights": (
        "a fused draft with weights of its own: they lie in the fused artefact, and would be counted twice",
        "leave them out, and let `weights_bytes` be those of the fused artefact",
    ),
    "separate_draft_weights": ("a separate draft without its weights", "declare them"),
    "no_fraction": ("a bound of a policy is no share of a whole", "as 0.9"),
    "floor_above_ceiling": ("the floor of a policy is above its ceiling", "a lower floor"),
    "not_in_steps": ("a bound of a policy is no multiple of its granularity", "round it"),
    "slots_not_pinned": (
        "memory is declared for a model and Ollama's number of slots is not: its default is another in each release, "
        "and every slot has a KV cache of its own",
        "`OLLAMA_NUM_PARALLEL` in `environment`",
    ),
    "admitted_by_nothing": ("a plan was to admit a load by evidence, and without naming it", "name both"),
    "fit_without_words": (
        "evidence that something did not fit without what its engine said, or of a fit with such words",
        "the words with the one, none with the other",
    ),
    "measured_elsewhere": (
        "evidence has measurements of other Sparks than it is about, none of one, or one instrument twice",
        "measure again",
    ),
    "ollama_has_no_draft": ("memory of a draft is declared for a model that Ollama serves", "leave it out"),
    "memory_of_some": (
        "memory is declared for one resident and not for another: the sum of those that are known says nothing",
        "declare `memory` for each resident's model, or for none",
    ),
}
"""By code of a wall: what cannot be, and what to do."""
