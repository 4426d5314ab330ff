"""A report is one file that asks for nothing, says what the page says, and is written down before."""

from __future__ import annotations

import base64
import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import panel_material_ui as pmui
import pytest
from PIL import Image

from bottomup.dashboard.chart import table_csv
from bottomup.dashboard.health import RungFigures
from bottomup.dashboard.prepared import prepare
from bottomup.dashboard.releases import read_books, release_of
from bottomup.dashboard.reliability import Reliability
from bottomup.dashboard.report import PARTS, draw_charts, write_report
from bottomup.dashboard.report_charts import chart_titles, lets_out, make_chart
from bottomup.dashboard.report_material import gather, release_behind, take
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.views.report import ReportView
from bottomup.sampler.diagnostics import Convergence
from bottomup.sampler.ledger import Ledger

EPSILON = 2.2
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Reads a file, and stops at an element that is closed in the wrong place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self._words: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self._words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def session(meet_plans: Callable[[float], Session]) -> Session:
    return meet_plans(EPSILON)


@pytest.fixture
def view(session: Session, tmp_path: Path) -> ReportView:
    """The page's view with an empty ledger."""
    session.ledger = Ledger(tmp_path / "ledger.csv")
    return ReportView(session)


def click(view: ReportView, label: str) -> str:
    next(b for b in view.__panel__().select(pmui.Button) if b.label == label).clicks += 1
    return view._message.object


def handed(view: ReportView) -> tuple[str, bytes]:
    view._file.file.seek(0)
    return view._file.filename, view._file.file.read()


def lines_of(session: Session) -> list[dict[str, str]]:
    if not session.ledger.path.exists():
        return []
    with session.ledger.path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_report_is_one_file_that_says_what_the_session_has(session: Session, view: ReportView) -> None:
    shown = session.shown_plan()
    view._title.value, view._note.value = "Tuesday & <Wednesday>", "Dear <script>alert(1)</script>\nall"
    assert "<b>Saved</b>" in click(view, "Save the report")
    name, contents = handed(view)
    assert name.endswith(".html")
    text = contents.decode("utf-8")
    report = Reader(text)
    # Nothing is asked for, and no words of the user are taken for marks.
    sources = [value for _, attributes in report.elements for value in attributes.values() if value]
    assert not [value for value in sources if re.search(r"^\s*(https?:)?//", value)]
    assert not re.search(r"url\(|@import", text)
    assert {tag for tag, _ in report.elements} & {"script", "link", "iframe", "object"} == set()
    assert "Tuesday & <Wednesday>" in report.words
    assert "Dear <script>alert(1)</script> all" in report.words
    # Every part is there under its heading, with every chart.
    assert len(report.all("h1")) == 1
    assert len(report.all("section")) == len(PARTS)
    assert all(heading in report.words for heading in PARTS.values())
    pictures = report.all("img")
    assert len(pictures) == len(chart_titles(session.prepared))
    assert all(picture["alt"] for picture in pictures)
    for picture in pictures:
        kind, _, data = (picture["src"] or "").partition(";base64,")
        own = base64.b64decode(data)
        if kind == "data:image/png":
            with Image.open(io.BytesIO(own)) as image:
                image.load()
        else:
            root = ET.fromstring(own)
            assert root.find("{http://www.w3.org/2000/svg}title") is not None
            references = [value for e in root.iter() for key, value in e.attrib.items() if "href" in key]
            assert all(value.startswith(("#", "data:")) for value in references)
    # The figures are the session's.
    sample, baseline = session.sample(), session.baseline()
    assert sample is not None
    assert baseline is not None
    assert f"On average {sample.scores('testimony').mean():.1%} of testimonies" in report.words
    assert f"{baseline.scores('cluster').mean():.1%} on average" in report.words
    assert f"{session.numbers_of(shown).cut_edges:,}" in report.words
    assert f"{session.enacted_numbers.score_testimony:.1%}" in report.words
    assert f"{sample.n_plans:,} plans" in report.words
    assert "change at most ×9.0" in report.words
    assert "testimony is public" in report.words
    for digest in (session.prepared.inputs.geography.digest, session.prepared.testimonies.digest):
        assert digest in report.words
    # Two lines were written before, and the report has them.
    lines = lines_of(session)
    assert [line["how"] for line in lines] == ["report as HTML"] * 2
    for line in lines:
        assert line["run"] in report.words
    assert report.words.count("report as HTML") == 2


def test_the_view_says_what_it_adds_before_and_that_is_what_it_adds(
    session: Session, view: ReportView
) -> None:
    def adds() -> float:
        view.refresh()
        return sum(
            float(each.replace(",", "")) for each in re.findall(r"adds ε\s([\d.,]*\d)", view._adds.object)
        )

    sums = {}
    for parts in (["plans", "influence"], ["comparison"], ["epsilons"], ["influence", "provenance"]):
        view._parts.value = parts
        before = read_books(session).total.epsilon
        said = adds()
        assert "<b>Saved</b>" in click(view, "Save the report")
        sums[parts[0]] = read_books(session).total.epsilon - before
        assert sums[parts[0]] == pytest.approx(said, rel=0.01)
    assert sums["influence"] == 0
    # A chart of every ε tells of the plans of every walk.
    assert 0 < sums["plans"] < sums["comparison"] < sums["epsilons"]
    view._parts.value = ["comparison"]
    view.refresh()
    assert "Already released" in view._adds.object


def test_without_the_plan_on_the_map_a_report_tells_nothing_of_it(session: Session, view: ReportView) -> None:
    shown = session.shown_plan()
    view._parts.value = [part for part in PARTS if part != "plans"]
    click(view, "Save the report")
    release = release_of(session, shown, "")
    assert release is not None
    words = Reader(handed(view)[1].decode("utf-8")).words
    assert shown.title not in words
    assert release.run not in words
    assert [line["what"] for line in lines_of(session)] == ["charts"]


def test_every_chart_is_saved_as_picture_drawing_and_numbers(session: Session, view: ReportView) -> None:
    for key in chart_titles(session.prepared):
        view._chart.value = key
        n_before = len(lines_of(session))
        for form in ("png", "svg", "csv") if key in ("map", "clusters") else ("csv",):
            view._form.value = form
            assert "<b>Saved</b>" in click(view, "Save the chart")
            name, contents = handed(view)
            assert name.endswith(f".{form}")
            if form == "png":
                Image.open(io.BytesIO(contents)).verify()
            elif form == "svg":
                ET.fromstring(contents)
            else:
                assert len(pd.read_csv(io.BytesIO(contents)))
        assert (len(lines_of(session)) > n_before) == (lets_out(key) != "nothing")


def test_the_numbers_of_a_chart_are_those_of_its_plans(session: Session) -> None:
    material = gather(session, take(session, session.shown_plan()))
    sample = material.sample
    assert sample is not None
    scores = make_chart(material, "scores-testimony")
    assert scores is not None
    assert scores.table["plans"].sum() == sample.n_plans
    curve = make_chart(material, "epsilon-testimony")
    assert curve is not None
    at_zero = curve.table.loc[curve.table["ε"] == 0, "testimony score, mean %"].item()
    assert material.baseline is not None
    assert at_zero == pytest.approx(100 * material.baseline.scores("testimony").mean(), abs=0.01)
    clusters = make_chart(material, "clusters")
    assert clusters is not None
    named = session.prepared.testimonies.clusters
    kept = sample.kept(session.prepared.testimonies.n_testimonies)
    expected = [100 * kept[named.members(c)].mean() for c in range(len(named.names))]
    np.testing.assert_allclose(clusters.table["kept whole, %"], expected, atol=0.01)
    districts = make_chart(material, "map-enacted")
    assert districts is not None
    assert districts.table["people"].sum() == session.prepared.inputs.geography.total_population


def test_a_judged_report_has_the_figures_of_the_walks_and_names_what_is_kept_less_often(
    session: Session,
) -> None:
    gathered = gather(session, take(session, None))
    assert gathered.sample is not None
    judged = RungFigures(EPSILON, (Convergence("cut_edges", 2, 40, 1.004, 1234.0, 1111.0, False),))
    # As if the plans told very much, of which the first testimony is whole in none.
    found = Reliability(EPSILON, "agree", rhat=1.004, ess=1e6, rungs=(judged,))
    plans = gathered.sample.plans
    first_split = plans._replace(preserved=plans.preserved & np.uint8(0b01111111))
    material = replace(
        gathered,
        progress=replace(gathered.progress, reliability=found),
        sample=replace(gathered.sample, n_effective=1e6, plans=first_split),
        baseline=replace(gathered.baseline, n_effective=1e6),
    )
    assert material.baseline is not None
    assert material.baseline.kept(6)[0] > 0.06
    text = write_report(
        material, {}, ["table", "reliability"], read_books(session), title="", note="", releases=[]
    )
    words = Reader(text).words
    lost = words.partition("Kept whole less often than in the baseline")[2].partition("All clusters")[0]
    assert "t0" in lost
    assert "less often (▼)" in lost
    assert "Can be relied on" in words
    for figure in ("1.004", "1,234", "1,111"):
        assert figure in words


def test_names_that_are_formulas_to_a_spreadsheet_are_not() -> None:
    text = table_csv(pd.DataFrame({"cluster": ["=HYPERLINK(1)", "plain"], "kept": [1.5, -2.0]}))
    assert text.splitlines() == ["cluster,kept", "'=HYPERLINK(1),1.5", "plain,-2.0"]


def test_a_ledger_that_cannot_be_written_keeps_the_report_back(
    session: Session, view: ReportView, tmp_path: Path
) -> None:
    session.ledger = Ledger(tmp_path / "none" / "such" / "ledger.csv")
    said = click(view, "Save the report")
    assert "Nothing was saved" in said
    assert "--ledger" in said
    assert handed(view)[1] == b""
    session.ledger = Ledger(tmp_path / "ledger.csv")
    view._parts.value = []
    assert "Choose at least one part" in click(view, "Save the report")


def test_before_the_first_plans_and_without_outlines_a_report_says_so(
    inputs_of: Callable[..., object], tmp_path: Path
) -> None:
    prepared = prepare(inputs_of(outlines=False, electorate=False, clusters=False))
    session = Session(prepared, slots=FairSlots(1), ledger=Ledger(tmp_path / "ledger.csv"))
    try:
        material = gather(session, take(session, session.shown_plan()))
        drawn = draw_charts(material, PARTS)
        text = write_report(material, drawn, list(PARTS), read_books(session), title="", note="", releases=[])
        assert release_behind(session, None, None, "", of_every_epsilon=True) is None
    finally:
        session.close()
        session.worker.stop(timeout=5)
    report = Reader(text)
    assert "no maps" in report.words
    assert "no plans on record" in report.words
    assert len(report.all("img")) == 1
