"""What stands on the fabric ports and is not ours, and what a roster can say of it."""

OTHERS: dict[str, tuple[str, str]] = {
    "undeclared_netplan": (
        "a netplan file that the roster does not declare binds a port of the fabric, with a rail or without, or the "
        "management interface where the roster says what that shall be; by name "
        "or by a pattern; the sentence says whose it probably is and what it sets",
        "`sparks adopt HOST` prints the roster rows that declare it as it is; or put its path into `revert`. One in "
        "`/run` beside a rail: remove it and run `netplan generate`",
    ),
    "undeclared_profile": (
        "the same for a NetworkManager keyfile that stays",
        "`sparks adopt HOST`, or `revert`",
    ),
    "leftover_document": (
        "a document of ours lies on a port for which the roster has no rail any more, or beside an adopted file that "
        "keeps the port",
        "put its path into `revert`, or put the rail back",
    ),
    "mixed_file": (
        "a file configures fabric ports and something else, or the file of management that is to go does; both are "
        "named with their lines",
        "move the lines into a file of their own by hand: one that mixes them is never rewritten, adopted or removed",
    ),
    "adopted_missing": (
        "an adopted file is not on the host",
        "bring it back, or take it out of `adopted`",
    ),
    "adopted_changed": (
        "an adopted file is not byte for byte what was adopted",
        "look at it; `sparks adopt HOST` prints the row for what it is now",
    ),
    "adopted_address_differs": (
        "an adopted file gives the port of a rail another address or prefix, several, DHCP, or none",
        "correct the rail, or revert the file",
    ),
    "adopted_mtu_differs": (
        "an adopted file gives the port of a rail another MTU; where it says none, that is 1500",
        "correct the rail, or revert the file",
    ),
    "adopted_renderer_differs": (
        "netplan gives an adopted file's port to networkd at the next boot: the last renderer that a file sets is "
        "another, or none sets one",
        "let the last file that sets a renderer say NetworkManager, or revert the file",
    ),
    "adopted_routes_missing": (
        "an adopted file keeps the port of a rail and has not the routes of transit",
        "revert the file: our document has them",
    ),
    "adopted_several": (
        "several adopted definitions are for the port of one rail, and would compete",
        "revert all but one",
    ),
    "renderer_rests_on_file": (
        "a file to be reverted is the only one that sets `renderer:`; without it NetworkManager would let go of every "
        "wired interface",
        "set it in a file of its own first",
    ),
    "removal_needs_guard": (
        "a file to be reverted may carry SSH: it binds no port of the fabric, or one over which you came in. The file "
        "of management goes only together with what comes instead",
        "say what `management` shall be; or come in over another interface; or take the file out of `revert`",
    ),
}
"""About files and profiles of others, by code: what it means, and what to do."""

DECLARED: dict[str, tuple[str, str]] = {
    "adopted_and_reverted": (
        "a file is in `adopted` and in `revert` of one Spark",
        "keep it or let it go",
    ),
    "adopted_twice": (
        "a file is in `adopted` twice",
        "one digest for a file",
    ),
    "adopted_ours": (
        "`adopted` names a document of ours",
        "say the rail in `fabrics`; our documents follow from it",
    ),
    "reverted_ours": (
        "`revert` names the document of a rail that the roster has",
        "take the rail out, or the path out of `revert`",
    ),
}
"""About `adopted` and `revert` in a roster."""
