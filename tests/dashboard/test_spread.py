from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import panel as pn
import panel_material_ui as pmui
import pytest

from bottomup.dashboard.options import Inputs
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.dashboard.views.spread import SpreadView
from bottomup.data.electorate import Electorate, Votes

ELECTORATE = Electorate(
    "vap",
    {"Black": "black", "<Others>": "others"},
    {"President 2020": Votes("dem", "rep"), "Governor 2018": Votes("rep", "dem")},
)


@pytest.fixture(scope="module")
def many(inputs_of: Callable[..., Inputs]) -> Prepared:
    """A page's inputs with two groups and two elections."""
    inputs = inputs_of()
    columns = inputs.geography.columns
    columns = columns.assign(others=columns["vap"] - columns["black"])
    geography = replace(inputs.geography, columns=columns, electorate=ELECTORATE)
    return prepare(replace(inputs, geography=geography))


def choices(view: SpreadView) -> list[pmui.Select]:
    return list(view.__panel__().select(pmui.Select))


def words(view: SpreadView) -> str:
    return " ".join(str(pane.object) for pane in view.__panel__().select(pn.pane.HTML))


def test_one_of_several_groups_and_elections_is_chosen(
    many: Prepared, wait_until: Callable[..., None]
) -> None:
    session = Session(many, slots=FairSlots(1))
    session.settings.tolerance = 0.5
    session.attend(True)
    try:
        wait_until(lambda: session.sample() is not None)
        session.settings.running = False
        wait_until(lambda: session.worker.progress.phase == "paused")
        view = SpreadView(session)
        view.refresh()
        group, election = choices(view)
        assert (group.label, list(group.options)) == ("Group", ["Black", "<Others>"])
        assert (election.label, list(election.options)) == ("Election", ["President 2020", "Governor 2018"])
        assert "Black share of voting-age people" in words(view)
        assert "Democratic share of two-party votes, President 2020" in words(view)
        assert "judged by Black and President 2020 alone" in words(view)
        plots = [pane.object for pane in view.__panel__().select(pn.pane.Bokeh)]

        def shows(number: int, shares: np.ndarray) -> bool:
            sources = [renderer.data_source.data for renderer in plots[number].renderers]
            drawn = [np.asarray(data["share"]) for data in sources if "share" in data]
            return any(len(each) == len(shares) and np.allclose(each, shares) for each in drawn)

        numbers = session.enacted_numbers.shares
        assert shows(0, numbers["Black"])
        assert shows(1, numbers["Democratic, President 2020"])
        group.value, election.value = "<Others>", "Democratic, Governor 2018"
        assert shows(0, numbers["<Others>"])
        assert not shows(0, numbers["Black"])
        assert shows(1, 1 - numbers["Democratic, President 2020"][::-1])
        assert "&lt;Others&gt; share of voting-age people" in words(view)
        assert plots[0].xaxis[0].axis_label == "districts from the lowest <Others> share to the highest"
        assert "Governor 2018" in words(view)

        # Every share is recorded, and two of them are to agree.
        sample = session.sample()
        assert sample is not None
        assert list(sample.plans.shares) == list(many.shares)
        assert all(values.shape == (sample.n_plans, 4) for values in sample.plans.shares.values())
    finally:
        session.close()
        session.worker.stop(timeout=5)


def test_there_is_no_choice_of_one(session: Session) -> None:
    view = SpreadView(session)
    assert choices(view) == []
    assert "Democratic share of two-party votes, President 2020" in words(view)
    assert "judged by" not in words(view)
