"""A receipt as one page: no script, nothing from elsewhere, light or dark, and it prints."""

from importlib import resources

from jinja2 import Environment, StrictUndefined

from lab.receipts.view import BEGUN, WRONG, View


def page(view: View) -> str:
    """The HTML; all that comes from a receipt is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = environment.from_string(resources.files("lab.receipts").joinpath("page.html").read_text("utf-8"))
    return template.render(**view._asdict(), wrong=((WRONG, view.faults), (BEGUN, view.begun)))
