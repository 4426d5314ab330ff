"""The frame of a report: one HTML file that asks for nothing from outside."""

import base64
import html
from collections.abc import Sequence

import pandas as pd

from bottomup.dashboard.prints.sheet import Form
from bottomup.dashboard.views.numbers import numbers_table

__all__ = ["data_uri", "disclosed", "document", "facts_table", "figure", "section"]

_TYPES: dict[Form, str] = {"png": "image/png", "svg": "image/svg+xml"}
# The browser itself is told to ask for nothing, whatever the words inside may hold.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_CSS = """
:root { --ink: #1d2733; --quiet: #4d5864; --line: #b6bdc4; --faint: #e3e7ea; --accent: #1f5c99;
  --good: #00794f; --warn: #b35900; --bad: #c1121f; }
body { margin: 0 auto; max-width: 58rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink); background: #ffffff;
  font: 1rem/1.45 Roboto, 'Liberation Sans', Arial, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.25rem; }
h2 { font-size: 1.3125rem; margin: 2.25rem 0 0.5rem; padding-top: 0.75rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1.0625rem; margin: 1.25rem 0 0.25rem; }
p { margin: 0 0 0.6rem; }
ul { margin: 0 0 0.6rem; padding-left: 1.25rem; }
.said { font-size: 1.125rem; }
.quiet, caption, figcaption, summary { color: var(--quiet); font-size: 0.9375rem; }
.note { white-space: pre-line; border-left: 5px solid var(--accent); padding: 0.25rem 0 0.25rem 0.75rem; }
.reliability { border-left: 5px solid var(--line); padding: 2px 0 2px 10px; }
.reliability.agree { border-color: var(--good); }
.reliability.disagree { border-color: var(--warn); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1.25rem; }
figure { margin: 0.75rem 0 1.25rem; break-inside: avoid; }
figure img { display: block; width: 100%; height: auto; }
.numbers { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; margin: 0.4rem 0 0.8rem; }
caption { text-align: left; padding-bottom: 4px; }
th, td { padding: 2px 12px 2px 0; border-bottom: 1px solid var(--faint); text-align: left;
  vertical-align: top; }
thead th { color: var(--quiet); font-weight: 400; vertical-align: bottom; border-bottom-color: var(--line); }
td { font-variant-numeric: tabular-nums; }
.facts th { font-weight: 400; color: var(--quiet); white-space: nowrap; }
.facts td { overflow-wrap: anywhere; }
summary { cursor: pointer; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } }
@media print {
  @page { margin: 16mm 15mm; }
  :root { font-size: 10.5pt; }
  body { max-width: none; padding: 0; }
  h1, h2, h3 { break-after: avoid; }
  tr, figure, .note { break-inside: avoid; }
  thead { display: table-header-group; }
  .numbers { overflow: visible; }
  details:not([open]) { display: none; }
}
"""


def document(title: str, body: Sequence[str]) -> str:
    """The whole file.

    Parameters
    ----------
    title : str
        As plain text.
    body : sequence of str
        HTML.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>\n"
    )


def section(heading: str, *parts: str) -> str:
    """A heading, as plain text, and the HTML below it."""
    return f"<section>\n<h2>{html.escape(heading)}</h2>\n" + "\n".join(filter(None, parts)) + "\n</section>"


def data_uri(contents: bytes, form: Form) -> str:
    """A picture as an address that holds all of it."""
    return f"data:{_TYPES[form]};base64,{base64.b64encode(contents).decode('ascii')}"


def figure(contents: bytes, form: Form, alt: str, caption: str, table: pd.DataFrame) -> str:
    """A picture with the words for those who do not see it, and its numbers behind a line to open."""
    return (
        f'<figure><img src="{data_uri(contents, form)}" alt="{html.escape(alt)}">'
        f"{disclosed('The numbers of this chart', numbers_table(table, caption))}</figure>"
    )


def disclosed(summary: str, inside: str, *, is_open: bool = False) -> str:
    """HTML that is opened and closed by its summary, which is plain text; on paper it is there when open."""
    return f"<details{' open' if is_open else ''}><summary>{html.escape(summary)}</summary>{inside}</details>"


def facts_table(facts: Sequence[tuple[str, str]]) -> str:
    """Pairs of name and value, as plain text."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table class="facts"><tbody>{rows}</tbody></table>'
