"""`python -m virtual …`, the same as `sparks virtual …`."""

from virtual.cli import virtual

virtual(prog_name="sparks virtual")
