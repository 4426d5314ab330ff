"""What the page saves is read back by our own readers: plans in every form, and all plans as a run."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import panel as pn
import panel_material_ui as pmui
import pyarrow.parquet as pq
import pytest

from bottomup.dashboard.cli import main
from bottomup.dashboard.ensemble_files import gather_plans
from bottomup.dashboard.prepared import prepare
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.releases import release_of, release_of_charts, release_of_plans
from bottomup.dashboard.saving import FORMS, file_bytes, file_name
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.views.export import ExportView
from bottomup.data import read_plan
from bottomup.sampler.accounting import ALREADY_RELEASED, CHARTS, COUNTED
from bottomup.sampler.ensembles import Ensemble
from bottomup.sampler.ledger import Ledger
from bottomup.sampler.naming import plan_digest

EPSILON = 2.2


@pytest.fixture(scope="module")
def session(meet_plans: Callable[[float], Session]) -> Session:
    return meet_plans(EPSILON)


@pytest.fixture
def view(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExportView:
    """The page's tab with an empty ledger; what it hands over is kept in ``view.handed``."""
    session.ledger = Ledger(tmp_path / "ledger.csv")
    view = ExportView(session)
    view.handed = []
    monkeypatch.setattr(
        view, "_hand_over", lambda name, file: view.handed.append((name, file, len(rows_of(session))))
    )
    return view


def rows_of(session: Session) -> list[dict[str, str]]:
    with session.ledger.path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def save(view: ExportView, kind: str) -> str:
    view._kind.value = kind
    next(b for b in view.__panel__().select(pmui.Button) if b.label == "Save").clicks += 1
    return view._message.object


def words(view: ExportView) -> str:
    return " ".join(pane.object or "" for pane in view.__panel__().select(pn.pane.HTML) if pane.visible)


@pytest.mark.parametrize(
    ("kind", "form"),
    [*((kind, form) for kind in ("districts", "units") for form in FORMS.values()), ("table", "csv")],
)
def test_a_plan_comes_back_from_every_form_and_carries_its_run(
    session: Session, tmp_path: Path, kind: str, form: str
) -> None:
    shown = session.shown_plan()
    release = release_of(session, shown, "")
    assert release is not None
    contents = file_bytes(session, shown, kind, form)
    path = tmp_path / file_name(session, shown, kind, form)
    path.write_bytes(contents)
    back = read_plan(path, session.prepared.inputs.geography)
    assert plan_digest(back.assignment) == release.plan
    assert back.labels == shown.names
    assert release.run in path.stem
    if form == "shp":
        with zipfile.ZipFile(path) as archive:
            contents = archive.read(f"{kind}.txt")
    # A table has no place for it but its name.
    assert (release.run.encode() in contents) == (form != "csv")


def test_forms_are_offered_where_there_is_a_choice(
    session: Session, inputs_of: Callable[..., object]
) -> None:
    view = ExportView(session)
    assert list(view._kind.options) == ["Districts", "Units", "Two columns", "All plans"]
    offered = {}
    for kind in view._kind.options.values():
        view._kind.value = kind
        offered[kind] = view._form.visible
    assert offered == {"districts": True, "units": True, "table": False, "all": False}
    bare = Session(prepare(inputs_of(outlines=False)), slots=FairSlots(1), ledger=session.ledger)
    bare_view = ExportView(bare)
    assert list(bare_view._kind.options) == ["Two columns", "All plans"]
    assert not bare_view._form.visible
    assert "came without outlines" in words(bare_view)
    assert "no plans on record yet" in save(bare_view, "all")
    bare.close()


def test_all_plans_are_written_down_first_and_read_back_as_a_run(
    view: ExportView, session: Session, tmp_path: Path
) -> None:
    charts, recorded = release_of_charts(session), session.worker.progress.standing.recorded
    assert charts is not None
    view._kind.value = "all"
    assert f"{charts.draws} plans on record count as {charts.draws} draws" in words(view)
    assert not session.ledger.path.exists()
    message = save(view, "all")
    ((name, contents, n_rows),) = view.handed
    (row,) = rows_of(session)
    assert n_rows == 1
    assert (row["what"], row["how"], row["status"]) == (CHARTS, "saved as Parquet", COUNTED)
    assert (int(row["draws"]), row["run"]) == (charts.draws, charts.run)
    assert "Plans behind the charts, saved as Parquet" in words(view)
    assert f"plans at ε = {max(session.sample().rungs):.3g}" in message
    assert "every round is on record" in message
    # The charts of this moment show nothing more.
    assert session.ledger.write(charts).status == ALREADY_RELEASED
    assert "Already released: saving them again adds nothing." in (view.refresh() or words(view))

    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        archive.extractall(tmp_path)
    assert name == f"Squareville_all-plans_eps-2.2_testimony_{row['run']}.zip"
    folder = tmp_path / name.removesuffix(".zip")
    n_charted = 0
    for rung in (0.0, *session.sample().rungs):
        ensemble = Ensemble(folder, rung)
        place = recorded.epsilons.index(rung)
        assert ensemble.description["name"] == row["run"]
        assert ensemble.ids == session.prepared.inputs.geography.ids
        assert ensemble.labels == ("1", "2", "3", "4")
        for each in ensemble.samples():
            met = recorded.plan_at(each.chain, place, each.step)
            assert np.array_equal(each.assignment, met.assignment)
        for ladder, held in enumerate(row[place].read() for row in recorded.recordings):
            steps = [each.step for each in ensemble.samples() if each.chain == ladder]
            assert steps == held.step[len(held.step) // 2 :].tolist()
        n_charted += len(ensemble) if rung else 0
    assert n_charted == charts.draws
    first = Ensemble(folder).sample(1)
    assert set(first.shares) == {"black_vap_share", "democratic_share"}
    # Scores are figures of the testimonies.
    table = pq.read_table(folder / "plans.parquet")
    assert {table[name].null_count for name in ("score_testimony", "score_cluster")} == {len(table)}

    # The command takes the folder for a run.
    assert main(["export", str(folder), "--out", str(tmp_path / "all.jsonl")]) == 0
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert len(lines) == len(Ensemble(folder))
    assert main(["export", str(folder), "--plan", "1", "--out", str(tmp_path / "one.csv")]) == 0
    back = read_plan(tmp_path / "one.csv", session.prepared.inputs.geography)
    assert plan_digest(back.assignment) == plan_digest(first.assignment)


def test_the_baseline_alone_adds_nothing(view: ExportView, session: Session, tmp_path: Path) -> None:
    session.settings.epsilon = 0.0
    try:
        assert "adds ε\u00a00" in save(view, "all")
    finally:
        session.settings.epsilon = EPSILON
    (row,) = rows_of(session)
    assert (float(row["adds"]), row["status"]) == (0.0, COUNTED)
    (tmp_path / "all.zip").write_bytes(view.handed[0][1])
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        archive.extractall(tmp_path)
    folder = next(tmp_path.glob("Squareville*"))
    assert len(Ensemble(folder)) == int(row["draws"])
    assert Ensemble(folder).epsilon == 0


def test_plans_dropped_while_they_are_read_are_left_out_and_not_counted(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = session.worker.progress.standing.recorded
    whole = gather_plans(recorded, EPSILON)
    assert whole is not None
    read = Recording.read_assignments

    def read_late(self: Recording, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As if every second plan had gone since its step was read."""
        rows, plans = read(self, steps[1::2])
        return 2 * rows + 1, plans

    monkeypatch.setattr(Recording, "read_assignments", read_late)
    left = gather_plans(recorded, EPSILON)
    assert left is not None
    for before, after in zip(whole.parts, left.parts, strict=True):
        assert after.records.step.tolist() == before.records.step[1::2].tolist()
        assert np.array_equal(after.records.assignment, before.records.assignment[1::2])
    assert release_of_plans(session, left, "").draws == left.n_plans < whole.n_plans
