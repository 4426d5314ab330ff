"""Testimonies of a kind that files do hold: none, one, one many times, none that any plan could keep."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bottomup.dashboard.cli import main
from bottomup.dashboard.options import load_inputs, parse_page_options
from bottomup.dashboard.prepared import prepare
from bottomup.data.errors import DataError

SHORT = ["--plan", "even", "--tolerance", "0.3", "--steps", "4000", "--thin", "100"]


@pytest.fixture
def sample(grid_tables, tmp_path, capsys):
    """Return a function that samples with a file of these rows; it gives status, output, run and plans."""

    def run(rows: list[str], *options: str):
        file, folder = tmp_path / "rows.csv", tmp_path / f"run{len(list(tmp_path.glob('run*')))}"
        file.write_text("testimony,GEOID20,cluster\n" + "".join(row + "\n" for row in rows))
        inputs = [*grid_tables[:-1], str(file)]
        status = main(["sample", *inputs, *SHORT, *options, "--out", str(folder)])
        words = capsys.readouterr()
        if status:
            return status, words.err, None, None
        made = json.loads((folder / "run.json").read_text())
        return status, words.out, made, pd.read_parquet(folder / "plans.parquet")

    return run


def test_no_testimony_leaves_the_base_measure(grid_tables, tmp_path, capsys):
    inputs = grid_tables[:4]
    options = ["sample", *inputs, *SHORT, "--out"]
    assert main([*options, str(tmp_path / "a")]) == 0
    assert pd.read_parquet(tmp_path / "a" / "plans.parquet")["score_testimony"].isna().all()
    assert "odds" not in capsys.readouterr().out
    # With nothing to count, it cannot count for something.
    assert main([*options, str(tmp_path / "b"), "--epsilon", "1"]) == 2
    assert "--epsilon 1 needs --testimonies" in capsys.readouterr().err


def test_a_file_without_testimonies_is_refused(sample):
    status, words, _, _ = sample([])
    assert status == 2
    assert "holds no testimonies" in words


def test_one_testimony_has_the_limit_of_one(sample):
    status, words, run, plans = sample(["a,00,X", "a,01,X"], "--epsilon", "2")
    assert status == 0
    assert "the odds of any plan change at most ×7.4" in words
    assert "Δ = 1, 1/T, T = 1" in words
    assert run["sensitivity"] == {
        "delta": 1.0,
        "formula": "1/T",
        "relation": "replace one testimony",
        "public": {"T": 1},
        "looks_at_data": False,
    }
    assert set(plans["score_testimony"]) <= {0.0, 1.0}


def test_400_copies_count_400_times_unless_copies_are_left_out(sample):
    rows = [f"a{i},{unit},X" for i in range(400) for unit in ("00", "01")] + ["b,55,Y", "b,56,Y"]
    status, words, run, _ = sample(rows, "--epsilon", "0.1")
    assert status == 0
    assert run["sensitivity"]["public"] == {"T": 401}
    status, words, without, plans = sample(rows, "--epsilon", "0.1", "--deduplicate")
    assert status == 0
    assert "399 left out as copies" in words
    # They still are submissions: the number of them is what is public, and they count as not kept.
    assert without["sensitivity"] == run["sensitivity"]
    assert without["name"] != run["name"]
    assert plans["score_testimony"].max() <= 2 / 401


def test_testimonies_larger_than_a_district_change_no_odds(sample):
    rows = [f"{name},{i}{j},X" for name in "ab" for i in range(5) for j in range(8)]
    status, words, _, plans = sample(rows, "--epsilon", "5", "--seed", "3")
    assert status == 0
    assert "No plan can keep these testimonies whole" in words
    assert "a, b" in words
    assert (plans["score_testimony"] == 0).all()
    # The law is the base measure, so the same seed gives the same plans as without testimony's weight.
    _, _, _, same = sample(rows, "--seed", "3")
    np.testing.assert_array_equal(
        np.stack(plans["assignment"].to_numpy()), np.stack(same["assignment"].to_numpy())
    )


def test_clusters_from_geography_make_the_promise_unconditional(sample):
    rows = ["a,00,X", "a,01,X", "b,55,Y", "b,56,Y"]
    score = ["--score", "cluster", "--epsilon", "1"]
    _, words, run, _ = sample(rows, *score)
    assert "Conditional on the clusters" in words
    assert "computed from the data" in words
    assert (run["sensitivity"]["clusters"], run["sensitivity"]["looks_at_data"]) == ("conditional", True)
    _, words, run, _ = sample(rows, *score, "--weighting", "mass", "--clusters", "even")
    assert "Conditional" not in words
    assert "computed from the data" not in words
    assert (run["sensitivity"]["clusters"], run["sensitivity"]["formula"]) == ("public geography", "1/T")
    _, words, run, _ = sample(rows, *score, "--cap", "1")
    assert run["sensitivity"]["public"] == {"T": 2, "B": 1}
    assert math.isclose(run["sensitivity"]["delta"], 0.5)


def test_the_page_refuses_to_open_without_testimony(inputs_of):

    with pytest.raises(DataError, match="The page needs testimonies"):
        prepare(replace(inputs_of(), testimonies=None))


def test_options_for_testimonies_need_some(grid_tables):

    options = parse_page_options([*grid_tables[:4], "--plan", "even", "--deduplicate", "--clusters", "even"])
    with pytest.raises(DataError, match="--clusters, --deduplicate given without --testimonies"):
        load_inputs(options)
