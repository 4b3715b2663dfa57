"""What could serve at all: an artefact, a runtime, a kernel, a split and a transport that are known to go together."""
