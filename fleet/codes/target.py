"""Names that are no target."""

TARGET: dict[str, tuple[str, str]] = {
    "target_empty": ("no name was given", "name one spark or one deployment; there is no target of everything"),
    "target_all": ("`all` was named", "name one spark or one deployment; there is no target of everything"),
    "target_unknown": ("neither a spark nor a deployment of the roster has that name", "name one of those in the hint"),
    "target_only_named": (
        "the roster only names that spark: it is somebody else's, or not ready, and is never touched",
        "let the roster say `enrolled: True` once it is yours to converge",
    ),
    "target_ambiguous": (
        "a spark and a deployment have that name",
        "give the deployment a name of its own in the roster",
    ),
}
"""By code: what it means, and what to do."""
