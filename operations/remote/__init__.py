"""Python that runs on a host to act there: standard library only."""
