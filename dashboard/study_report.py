"""The command ``bottomup report``: what a study found, as an HTML page with figures and numbers beside it."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bottomup.dashboard.chart import Chart
    from bottomup.dashboard.study_material import Law, StudyMaterial

__all__ = ["REPORT", "add_report", "write_study_report"]

REPORT = "report"
PAGE, FIGURES, TABLES = "report.html", "figures", "tables"


def add_report(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "report",
        help="report what a study found, in figures and tables",
        description="Reads the finished cells of a study that `bottomup sweep` made, and writes a report "
        "into its folder: an HTML page, every figure as PNG and SVG, and the numbers behind each as CSV.",
    )
    parser.add_argument("study", metavar="FOLDER", type=Path, help="the folder of the study")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the report (default: report/ in that of the study)",
    )
    parser.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    # Imported by the command that needs them: they take seconds.
    from bottomup.dashboard.study_material import gather_study

    out = options.out or options.study / REPORT
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder with --out")
    print(f"Reading the plans of {options.study} ...", flush=True)
    material = gather_study(options.study)
    n_charts = write_study_report(material, out)
    unfinished = [cell.name for cell in material.folder.cells if not cell.is_finished]
    if unfinished:
        print(f"Left out, for they are not finished: {', '.join(unfinished)}")
    print(f"{n_charts} figures and their numbers are in {out}; the report is {out / PAGE}")
    return 0


def write_study_report(material: "StudyMaterial", out: Path) -> int:
    """Write the report of a study; return the number of its charts.

    Parameters
    ----------
    material : StudyMaterial
    out : path
        Folder, made when missing; files of an earlier report are replaced.
    """
    from bottomup.dashboard.chart import table_csv
    from bottomup.dashboard.report_html import document, figure, section
    from bottomup.dashboard.study_charts import law_key, testimony_table
    from bottomup.dashboard.study_words import header, provenance
    from bottomup.sampler.durable import write_whole

    for folder in (out / FIGURES, out / TABLES):
        folder.mkdir(parents=True, exist_ok=True)

    def write(path: Path, contents: bytes) -> None:
        write_whole(path, lambda file: file.write(contents))

    body, n_charts = [header(material), "<main>"], 0
    for heading, words, charts in _sections(material):
        figures = []
        for chart in charts:
            n_charts += 1
            svg = chart.picture("svg")
            write(out / FIGURES / f"{chart.key}.svg", svg)
            write(out / FIGURES / f"{chart.key}.png", chart.picture("png"))
            write(out / TABLES / f"{chart.key}.csv", table_csv(chart.table).encode())
            figures.append(figure(svg, "svg", chart.alt, chart.title, chart.table.round(4)))
        if words or figures:
            body.append(section(heading, words, *figures))
    for law in material.honest:
        every = testimony_table(material, law)
        if every is not None:
            write(out / TABLES / f"testimonies-{law_key(law.group)}.csv", table_csv(every).encode())
    body += [section("Where does this come from?", provenance(material)), "</main>"]
    page = document(f"{material.folder.title}: report of a study", body)
    write(out / PAGE, page.encode())
    return n_charts


def _sections(material: "StudyMaterial") -> Iterator[tuple[str, str, Sequence["Chart"]]]:
    """Heading, words as HTML, and charts of each part."""
    from bottomup.dashboard import study_words as words
    from bottomup.dashboard.study_agreement import agreement_section
    from bottomup.dashboard.study_attack_report import attack_section
    from bottomup.dashboard.study_charts import (
        cluster_charts,
        convergence_charts,
        score_charts,
        share_charts,
    )

    def each(make: "Callable[[StudyMaterial, Law], Iterator[Chart]]", laws: "Sequence[Law]") -> "list[Chart]":
        return [chart for law in laws for chart in make(material, law)]

    laws, honest = material.laws, material.honest
    yield "Can this be relied on?", words.convergence_words(material), each(convergence_charts, laws)
    yield "How far are the chains apart?", *agreement_section(material)
    if material.inputs.testimonies is not None:
        yield "What does every ε buy?", words.score_words(material), each(score_charts, honest)
        yield (
            "Which communities are kept together?",
            words.cluster_words(material),
            each(cluster_charts, honest),
        )
    yield "Who ends up where?", words.share_words(material), each(share_charts, honest)
    yield "How much can a group sway?", *attack_section(material)
