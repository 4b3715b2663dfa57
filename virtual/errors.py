"""The one error of this package: a sentence that a person can act on."""

import click


class LabError(click.ClickException):
    """Something the user can cause or mend; the command line prints it as one line and exits 1."""
