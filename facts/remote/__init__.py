"""Python that runs on a host: standard library (and PyYAML) only, sent as text, read-only."""
