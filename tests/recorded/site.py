"""The inventory of what was recorded: there is no host, only a roster beside it, as it was then."""
