"""What an inspection found, as a list on the page: in place of the page, or under a click."""

import html
import re
from collections.abc import Iterable

import panel as pn

from bottomup.dashboard.inspection import Inspection
from bottomup.dashboard.views.style import TEXT_STYLE
from bottomup.data.errors import list_some
from bottomup.data.findings import SEVERITIES, Finding

__all__ = ["counted", "findings_pane", "findings_table", "notes", "report"]

_N_UNITS = 12
# What is to be typed, between marks; and options that words name, whose two dashes would run into one.
_OPTION = re.compile(r"`([^`]+)`|(?<![\w-])(--[a-z][a-z-]*)")

_LOOK = """
table { border-collapse: collapse; width: 100%; margin: 4px 0 14px 0; }
th, td { text-align: left; vertical-align: top; padding: 4px 14px 6px 0; border-top: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 400; font-size: 0.9375rem; border-top: 0; padding-bottom: 0; }
td { overflow-wrap: anywhere; }
td:nth-child(1) { width: 46%; }
td:nth-child(2) { width: 20%; }
code { font-size: 0.9375rem; }
"""


def report(inspection: Inspection, error: Exception) -> pn.viewable.Viewable:
    """The whole report, for a page that cannot be shown.

    Parameters
    ----------
    inspection : Inspection
    error : Exception
        Why there is no page; said when it is not one of the findings.
    """
    is_found = any(finding.code == getattr(error, "code", None) for finding in inspection.findings)
    words = "These files cannot be used as they are." if is_found else html.escape(str(error))
    reason = f'<div class="error"><b>Something needs your attention.</b> {words}</div>'
    content = (
        f"{reason}<p style='margin-top: 10px'>{_verdict(inspection)}</p>{findings_table(inspection.findings)}"
    )
    return findings_pane(f"<div style='padding: 16px; max-width: 75rem'>{content}</div>")


def counted(findings: Iterable[Finding]) -> str:
    """How many findings there are to settle and to look at, in brackets; empty when there are none."""
    found = tuple(findings)
    n_looks = sum(finding.severity == "look" for finding in found)
    n_stopping = sum(finding.stops for finding in found)
    counts = [f"{n_stopping} to settle"] * bool(n_stopping) + [f"{n_looks} worth a look"] * bool(n_looks)
    return f" ({', '.join(counts)})" if counts else ""


def notes(findings: Iterable[Finding]) -> pn.viewable.Viewable | None:
    """What is good to know about files that can be used; None when that is nothing."""
    found = tuple(findings)
    if not found:
        return None
    return findings_pane(f"<h2>About these files{counted(found)}</h2>{findings_table(found)}")


def findings_table(findings: Iterable[Finding]) -> str:
    """Markup of a table for each severity, with all words of the files escaped."""
    found = tuple(findings)
    parts = []
    for severity, heading in SEVERITIES.items():
        rows = [_row(finding) for finding in found if finding.severity == severity]
        if rows:
            head = "<tr><th>What</th><th>Which</th><th>What to do</th></tr>"
            parts.append(f"<h2>{heading}</h2><table>{head}{''.join(rows)}</table>")
    return "".join(parts)


def _row(finding: Finding) -> str:
    message = f"{finding.message[:1].upper()}{finding.message[1:].rstrip('.')}."
    which = f"{len(finding.units):,}: {list_some(finding.units, _N_UNITS)}" if finding.units else ""
    cells = (
        _OPTION.sub(r"<code>\1\2</code>", html.escape(cell)) for cell in (message, which, finding.remedy)
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _verdict(inspection: Inspection) -> str:
    return (
        f"{html.escape(inspection.verdict())} <code>bottomup check</code>, with the same files, says the "
        "same and writes a log of repairs that you choose; give it to the page with "
        "<code style='white-space: nowrap'>--repairs</code>."
    )


def findings_pane(markup: str) -> pn.pane.HTML:
    """Show markup with the look of a table of findings."""
    return pn.pane.HTML(
        markup,
        stylesheets=[*TEXT_STYLE["stylesheets"], _LOOK],
        margin=TEXT_STYLE["margin"],
        sizing_mode="stretch_width",
    )
