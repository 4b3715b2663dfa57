"""What stands in the way of serving with Ollama."""

OLLAMA: dict[str, tuple[str, str]] = {
    "ollama_unit_missing": (
        "there is no `ollama.service`",
        "install Ollama on the host",
    ),
    "ollama_program_foreign": (
        "somebody else has put a program where the declared build would go, as upstream's installer does",
        "its hint has both ways: `adopted` keeps it, `replaces` lets exactly that one go",
    ),
    "ollama_program_differs": (
        "the program that was adopted is another now",
        "find out who changed it; adopt what is there, or install a build",
    ),
    "ollama_unit_other_program": (
        "a unit of somebody else runs a program elsewhere, so a build that is installed would not be what serves",
        "let it run `/usr/local/bin/ollama`, or adopt what it runs",
    ),
    "ollama_program_room": (
        "there is no room to unpack the build",
        "free some",
    ),
    "archive_missing": (
        "the archive that is to be sent is not on this machine, or has another size",
        "put it there, or name a URL",
    ),
    "archive_differs": (
        "the archive on this machine has another digest than was declared: it was not sent",
        "find out why; a digest is pinned, not a name",
    ),
    "not_installed": (
        "the build could not be brought to the host, or not be unpacked; whatever runs there was not touched",
        "what it says is why; run again to go on",
    ),
    "ollama_unit_masked": (
        "the unit is masked",
        "`systemctl unmask ollama.service`",
    ),
    "ollama_unit_unreadable": (
        "systemd cannot load the unit",
        "`systemctl status ollama.service`",
    ),
    "ollama_unit_static": (
        "the unit cannot be enabled, so it would not start at boot",
        "give it an `[Install]` section",
    ),
    "ollama_setting_overridden": (
        "a file that systemd reads after ours sets the same variable to another value",
        "take it out of that file",
    ),
    "curl_missing": (
        "residents are declared and the program that loads them at boot is not there",
        "`apt-get install curl`",
    ),
    "model_absent": (
        "a declared model is not there, no Spark of the run that it may be copied from has it, and its pin does not "
        "allow a pull",
        "pull it, set `pull: True`, or name a Spark that has it in `copy_from` of the deployment",
    ),
    "model_digest_differs": (
        "the tag holds another digest than the pin: it was republished",
        "decide: its hint has the row for either, to keep what is there, or to move the tag to what was pinned "
        "(`replaces`)",
    ),
    "model_republished": (
        "a model is to be pulled, and the registry has another one under its tag by now: the pull would end on that",
        "its hint has the row that follows the tag; the pinned one comes from a Spark that has it (`copy_from`)",
    ),
    "resident_digest_differs": (
        "what is loaded under the name is another digest",
        "restart Ollama, and find out why",
    ),
    "resident_on_cpu": (
        "the model is computed by the CPU, wholly or in part. On GB10 that is a misconfiguration, not a lack of memory",
        "look at Ollama's log for CUDA",
    ),
    "resident_context_unknown": (
        "this Ollama does not tell the context of a loaded model",
        "a newer Ollama",
    ),
    "drain_needed": (
        "the change would end a process, or unload a model, that serves and that no run of ours has left running. It "
        "is unstamped, or another program than the stamped one: nobody knows who uses it",
        "`sparks drain` waits until no request runs, and writes that down for exactly this process; see "
        "[health.md](../health.md)",
    ),
    "drain_failed": (
        "a drain could not go on seeing whether a request runs: the connection ended, or the host would not tell",
        "what it says is why; run `sparks drain` again",
    ),
    "nothing_to_drain": (
        "the roster declares nothing that the Spark serves, so there is no process to drain",
        "name a Spark that serves, or a deployment",
    ),
    "ollama_port_taken": (
        "another process listens where Ollama shall: its unit could not start there",
        "find out whose it is, and end it or let Ollama listen elsewhere",
    ),
    "offer_gone": (
        "another Spark would have copied a model from here, and it has gone since the run began",
        "run again: it comes from elsewhere, or is refused",
    ),
    "not_offered": (
        "the server that offers a model to another Spark did not start",
        "what it says is why; run again",
    ),
    "ollama_left_behind": (
        "the roster has no deployment on the Spark, and files of one are there: it would serve again at every boot",
        "its hint has the three ways: put the deployment back, say where it moved (`moved_from`), or `retire` it",
    ),
    "moved_alone": (
        "a deployment has moved, and the run is about the Spark that it left alone",
        "`sparks converge` the deployment by its name, or name both Sparks",
    ),
    "move_not_answered": (
        "a deployment that moves does not answer where it goes, so it was not stopped where it was",
        "look at it there; run again",
    ),
    "move_not_proven": (
        "another host of the run failed before this one would have stopped serving",
        "what it said is why; run again",
    ),
}
"""By code: what it means, and what to do."""
