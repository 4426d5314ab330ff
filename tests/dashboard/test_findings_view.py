"""The report of an inspection on the page: in its place, and under a click."""

from __future__ import annotations

import panel as pn
import pytest
from awkward import box, grid, write

from bottomup.dashboard import app
from bottomup.dashboard.options import parse_page_options
from bottomup.dashboard.views.findings import findings_table, notes
from bottomup.data.errors import DataError
from bottomup.data.findings import Finding


@pytest.fixture(autouse=True)
def _no_cache():
    pn.state.cache.clear()
    yield
    pn.state.cache.clear()


@pytest.fixture
def options_of(tmp_path):
    frame = grid().head(1)[["geometry"]].assign(id="a")
    frame.geometry = [box(0, 0, 2, 2)]
    frame.to_crs(4326).to_file(tmp_path / "testimonies.gpkg")

    def options(name):
        path = write(name, tmp_path)
        given = ["--plan", "district", "--testimonies", str(tmp_path / "testimonies.gpkg")]
        return parse_page_options(["--units", str(path), *given])

    return options


def test_words_of_files_are_escaped_and_options_stand_out():
    finding = Finding(
        "overlap", "look", "units <b>overlap</b>", "Do `--repair drop <x>`.", ("<script>", *"abcdefghijklmno")
    )
    markup = findings_table([finding, Finding("crs", "note", "in WGS 84")])
    assert "<script>" not in markup
    assert "16: &lt;script&gt;, a, b, c, d, e, f, g, h, i, j, k and 4 more" in markup
    assert "Units &lt;b&gt;overlap&lt;/b&gt;." in markup
    assert "<code>--repair drop &lt;x&gt;</code>" in markup
    assert markup.index("Worth a look") < markup.index("For the record")
    assert "Must be settled" not in markup


def test_what_is_worth_a_look_is_counted_before_the_click():
    looks = [Finding("gap", "look", "a gap"), Finding("crs", "note", "in WGS 84")]
    assert "<h2>About these files (1 worth a look)</h2>" in notes(looks).object
    assert "<h2>About these files</h2>" in notes(looks[1:]).object
    stops = [Finding("x", "settle", "a reason", "With --repair-plan it is taken."), *looks]
    shown = notes(stops).object
    assert "<h2>About these files (1 to settle, 1 worth a look)</h2>" in shown
    assert "With <code>--repair-plan</code> it is taken." in shown
    assert notes([]) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "island of two units",
            ["in 2 pieces", "2: 09990000, 09990001", "<code>--repair join 09990000</code>"],
        ),
        ("no population in two units", ["holds no population in 2 of 64 units", "2: 09000005, 09000009"]),
        ("hidden CRS", ["EPSG:32615", "longitudes and latitudes"]),
        ("bow tie", ["crosses itself", "09000010"]),
        ("no map", ["could not be read as a map", "A file cannot be read."]),
    ],
)
def test_a_page_without_a_map_says_all_that_must_be_settled(name, words, options_of):
    options = options_of(name)
    with pytest.raises(DataError) as caught:
        app._prepare(options)
    shown = app.unusable(options, caught.value).object
    assert "Something needs your attention." in shown
    for word in words:
        assert word in shown
    assert "Traceback" not in shown


def test_a_page_with_a_map_has_the_same_report_a_click_away(options_of):
    options = options_of("plan in pieces")
    prepared = app._prepare(options)
    assert {finding.code for finding in prepared.findings} >= {"district_not_connected", "columns", "crs"}
    # Looking at the files and loading them are one reading.
    assert prepared.inputs.geography is app._inspect(options).geography
    page = app.create_app(prepared)
    try:
        page.open_view("Data")
        panes = page.__panel__().select(pn.pane.HTML)
        (about,) = [pane for pane in panes if "About these files" in str(pane.object)]
        assert "is not connected" in about.object
    finally:
        page.session.close()


def test_the_demonstration_has_nothing_to_say_about_files():
    options = parse_page_options([])
    assert "One reason" in app.unusable(options, DataError("x", "one reason")).object
    assert app._prepare(options).findings == ()


def test_a_reason_that_is_no_finding_is_said_above_them(options_of):
    options = options_of("plain")
    options.testimonies = None
    with pytest.raises(DataError, match="needs testimonies") as caught:
        app._prepare(options)
    shown = app.unusable(options, caught.value).object
    assert (
        shown.index("The page needs testimonies") < shown.index("Fit to run.") < shown.index("For the record")
    )


def test_a_log_of_repairs_that_is_not_there_is_said(options_of, tmp_path):
    options = options_of("plain")
    options.repairs = str(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="absent") as caught:
        app._prepare(options)
    assert "absent.csv" in app.unusable(options, caught.value).object
