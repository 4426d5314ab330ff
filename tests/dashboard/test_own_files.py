"""A visitor's own files: their columns, the look at them, the repairs on offer, and the screen around it."""

import asyncio

import geopandas as gpd
import panel as pn
import pytest
from awkward import CRS, FRAMES, OTHERS, bow_tie, box, with_island, write

from bottomup.dashboard.inspection import inspect_inputs
from bottomup.dashboard.offers import in_words_of_page, offers_of
from bottomup.dashboard.opened import OpenedMaps
from bottomup.dashboard.own_files import (
    Stopped,
    check_files,
    page_options,
    prepare_own,
    read_columns,
    word_outcome,
)
from bottomup.dashboard.views.data import DataView
from bottomup.data.errors import DataError
from bottomup.data.findings import Finding
from bottomup.data.repairs import ACTIONS, Repair, read_repairs, repairs_text


def write_awkward(folder):
    """An island and a bow tie, with testimonies."""
    frame = with_island(1)
    shapes = frame.geometry.to_numpy().copy()
    shapes[10] = bow_tie()
    frame.set_geometry(gpd.GeoSeries(shapes, crs=CRS)).to_crs(4326).to_file(folder / "units.geojson")
    areas = gpd.GeoDataFrame({"id": ["a", "b"]}, geometry=[box(0, 0, 2, 2), box(4, 4)], crs=CRS)
    areas.to_crs(4326).to_file(folder / "testimonies.geojson")


@pytest.fixture
def folder(tmp_path):
    write_awkward(tmp_path)
    return tmp_path


def options_of(folder, *repairs, **more):
    named = {"units": "units.geojson", "testimonies": "testimonies.geojson"}
    files = {name: str(folder / file) for name, file in named.items()}
    return page_options(
        ledger=str(folder / "ledger.csv"),
        chosen=repairs,
        **{**files, "plan": "district", "name": "Town"} | more,
    )


def check(options):
    return check_files(options, lambda _: None, lambda: False)


def test_columns_are_guessed_by_their_names(folder):
    columns = read_columns(folder / "units.geojson")
    assert columns.names == ("GEOID", "TOTPOP", "district")
    assert (columns.id, columns.population, columns.plan) == ("GEOID", "TOTPOP", "district")
    (folder / "units.csv").write_text("unit,NAME,people\n1,a,2\n")
    columns = read_columns(folder / "units.csv")
    assert (columns.id, columns.population, columns.plan) == ("unit", "", "")
    assert read_columns(write("links", folder)).names == ("id", "TOTPOP")
    with pytest.raises(DataError, match="could not be read"):
        read_columns(write("no map", folder))


def test_repairs_on_offer_settle_what_they_are_offered_for(folder):
    checked = check(options_of(folder))
    assert not checked.is_fit
    labels = {offer.label: offer for offer in checked.offers}
    assert "Make valid 09000010" in labels
    assert "Leave out 09990000" in labels
    chosen = [
        repair
        for label in ("Make valid 09000010", "Leave out 09990000")
        for repair in labels[label].repairs()
    ]
    repaired = check(options_of(folder, *chosen))
    assert repaired.is_fit
    assert repaired.inspection.status == 0
    (folder / "log.csv").write_text(repairs_text(repaired.repairs))
    # The log makes the same map, of the same name, as the command line does with it.
    prepared, again = (
        prepare_own(repaired),
        prepare_own(check(options_of(folder, repairs=str(folder / "log.csv")))),
    )
    record = prepared.inputs.geography.repair_record
    assert record == again.inputs.geography.repair_record
    assert [repair[:2] for repair in read_repairs(folder / "log.csv")] == [
        ("make-valid", "09000010"),
        ("drop", "09990000"),
    ]


def test_a_plan_that_cannot_be_a_start_is_offered_another(folder):
    joined = Repair("join", "09990000"), Repair("make-valid", "09000010")
    checked = check(options_of(folder, *joined))
    # What there is to say about a plan does not keep the page from opening.
    assert checked.is_fit
    assert checked.inspection.status == 1
    assert [offer.repairs() for offer in checked.offers] == [()]
    checked = check(options_of(folder, *joined, repair_plan=True))
    assert (checked.inspection.status, checked.offers) == (0, ())


@pytest.mark.parametrize("name", [*FRAMES, *OTHERS])
def test_every_remedy_of_a_command_is_an_offer_or_a_field_here(name, tmp_path):
    options = page_options(ledger="", units=str(write(name, tmp_path)))
    inspection = check(options).inspection
    words = " ".join(f"{finding.message} {finding.remedy}" for finding in inspection.findings)
    assert "--" not in words


def test_offers_are_read_from_every_remedy_that_names_a_repair():
    remedies = [
        ("`--repair drop a b c …`", ("a", "b", "c", "d"), ["drop"]),
        ("Join: `--repair join a`; or leave it out: `--repair drop a b`.", ("a", "b"), ["join", "drop"]),
        ("`--repair make-valid a`", ("a",), ["make-valid"]),
        ("`--repair set-crs EPSG:26915`.", (), ["set-crs"]),
        ("`--repair set-crs EPSG:…`.", (), ["set-crs"]),
        ("`--repair add-edge ID ID`", ("a",), ["add-edge"]),
        ("Draw it again.", ("a",), []),
    ]
    findings = [Finding("x", "settle", "", remedy, units) for remedy, units, _ in remedies]
    offers = offers_of(findings)
    for number, (_, units, actions) in enumerate(remedies):
        own = [offer for offer in offers if offer.number == number]
        assert [offer.action for offer in own] == actions
        assert set(actions) <= set(ACTIONS)
        if actions == ["drop"]:
            assert [repair.subject for repair in own[0].repairs()] == list(units)
    known, asked, edge = [offer for offer in offers if offer.action in ("set-crs", "add-edge")]
    assert known.repairs() == (Repair("set-crs", "EPSG:26915"),)
    assert asked.repairs(" EPSG:4326 ") == (Repair("set-crs", "EPSG:4326"),)
    assert edge.repairs("001, 004") == (Repair("add-edge", "001", "004"),)
    for offer, typed in ((asked, ""), (edge, "001"), (edge, "1,2,3")):
        with pytest.raises(DataError, match="Type it beside the box"):
            offer.repairs(typed)


def test_messages_hide_the_folder_of_uploads():
    said = "'/var/tmp/bottomup-ab12_x9z/units-12/my units.gpkg' has no column; name it with --population."
    assert in_words_of_page(said) == "'my units.gpkg' has no column; name it with “People”."


def test_a_check_that_nobody_waits_for_ends(folder):
    told = []
    with pytest.raises(Stopped):
        check_files(options_of(folder), told.append, lambda: len(told) == 2)
    assert told == ["Unpacking the testimonies …", "Reading the units …"]
    # The turn was given back.
    assert check(options_of(folder)).inspection.geography is not None


class Screen:
    """A data screen, worked as the browser does."""

    def __init__(self, view, wait_until):
        self.view = view
        self._wait_until = wait_until

    def settle(self):
        view = self.view

        def is_settled():
            asyncio.run(view.tick())
            busy = view._checking.outcome.is_running or view._opening.outcome.is_running
            return not (busy or view._fields.is_reading)

        self._wait_until(is_settled)
        asyncio.run(view.tick())

    def send(self, slot, path):
        field, content = self.view._fields._sent[slot], path.read_bytes()
        field._handle_msg({"kind": "begin", "upload": 1, "files": [[path.name, len(content)]]})
        field._handle_msg({"kind": "piece", "upload": 1, "data": content})
        self.settle()

    def press(self, button):
        assert button.visible
        assert not button.disabled
        button.clicks += 1
        self.settle()

    @property
    def words(self):
        return f"{self.view._message.object} {self.view._report.object} {self.view._rest.object}"


@pytest.fixture
def screen(tmp_path, wait_until):
    view = DataView(str(tmp_path / "ledger.csv"), opened=OpenedMaps(idle_seconds=60))
    yield Screen(view, wait_until)
    view.close()


def test_from_files_over_a_repair_to_the_page(screen, folder):
    view = screen.view
    assert view._check.disabled
    screen.send("units", folder / "units.geojson")
    fields = view._fields
    assert (fields._id.value, fields._population.value, fields._plan.value) == ("GEOID", "TOTPOP", "district")
    screen.press(view._check)
    assert "crosses itself" in screen.words
    assert "The page needs testimonies as well." in screen.words
    assert not view._open.visible
    screen.send("testimonies", folder / "testimonies.geojson")
    assert "check again" in view._state.object
    screen.press(view._check)
    join, leave_out = (
        next(box for offer, box, _ in view._offered._rows if offer.action == action)
        for action in ("join", "drop")
    )
    # One of two is enough.
    join.value = True
    leave_out.value = True
    assert not join.value
    next(box for offer, box, _ in view._offered._rows if offer.action == "make-valid").value = True
    screen.press(view._repair)
    assert "Fit to run." in screen.words
    assert "Save the log of 2 repairs" in view._log.object
    screen.press(view._open)
    token = view._journey.address.removeprefix("?map=")
    prepared = view._opened.enter(token)
    geography = prepared.inputs.geography
    assert (geography.n_units, geography.name) == (64, "units")
    assert {repair.action for repair in geography.repairs} == {"drop", "make-valid"}
    assert screen.view._uploads.root.exists()
    root = screen.view._uploads.root
    view.close()
    assert not root.exists()


def test_other_units_take_back_repairs_and_offers(screen, folder):
    view = screen.view
    screen.send("units", folder / "units.geojson")
    screen.press(view._check)
    next(box for offer, box, _ in view._offered._rows if offer.action == "drop").value = True
    screen.press(view._repair)
    assert view._repairs
    screen.send("units", write("plain", folder))
    assert view._repairs == ()
    assert not view._repair.visible
    screen.press(view._check)
    assert "Fit to run." in screen.words


def test_a_failure_is_shown_and_logged(screen, folder, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("<the disk> is gone")

    screen.send("units", folder / "units.geojson")
    monkeypatch.setattr("bottomup.dashboard.views.data.check_files", fail)
    screen.press(screen.view._check)
    assert "&lt;the disk&gt; is gone" in screen.words
    assert "Traceback" in caplog.text
    assert not screen.view._check.disabled


def test_the_files_of_the_server_are_gone_on_with_by_those_who_may_name_them(folder, wait_until):
    options = options_of(folder)
    view = DataView(options.ledger, may_name_paths=True)
    try:
        screen = Screen(view, wait_until)
        view.begin_with(pn.pane.HTML("The report."), word_outcome(options, inspect_inputs(options)))
        screen.settle()
        assert view._fields.path("units") == options.units
        assert "crosses itself" in screen.words
        for offer, box, _ in view._offered._rows:
            box.value = offer.action in ("make-valid", "drop")
        screen.press(view._repair)
        assert "Fit to run." in screen.words
    finally:
        view.close()


def test_nothing_that_a_browser_says_names_a_file_of_the_server(screen, folder):
    view, fields = screen.view, screen.view._fields
    screen.send("units", folder / "units.geojson")
    sent = fields.path("units")
    # As a changed message of a browser would set them.
    fields._way.value = "path"
    assert fields._paths == {}
    assert fields.path("units") == sent
    secret = folder / "secret.csv"
    secret.write_text("GEOID,district\n09000000,1\n")
    fields._plan.param.update(options=[str(secret)], value=str(secret))
    view._start_check()
    assert "cannot be the column of the plan" in screen.words
    assert not view._checking.outcome.is_running
