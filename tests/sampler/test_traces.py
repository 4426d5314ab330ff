import itertools

import numpy as np
import pytest

from bottomup.sampler.chain import Chain, Records
from bottomup.sampler.diagnostics import quantities_of, share_of_units_moved
from bottomup.sampler.start import make_start
from bottomup.sampler.target import Target
from bottomup.sampler.traces import Traces
from bottomup.sampler.verification import make_grid_problem

N_DRAWS = 100


@pytest.fixture(scope="module")
def run():
    """A problem, a start, and the records of a chain from it."""
    problem = make_grid_problem(4, 4)
    start = make_start(problem, 4, 3, 5, 1)
    records = Chain(problem, Target(4, 3, 5, compactness=0.05, cut_edges=12.0), start, 1).advance(
        10 * N_DRAWS, 10
    )
    return problem, start, records


def shares(problem):
    rng = np.random.default_rng(0)
    return {"Green": (rng.random(problem.n_units), np.ones(problem.n_units))}


def split(records, *places):
    edges = [0, *places, len(records.step)]
    return [records.take(slice(one, other)) for one, other in itertools.pairwise(edges)]


def test_the_draws_are_those_of_the_records(run):
    problem, start, records = run
    traces = Traces(1, 4, shares(problem), start)
    for part in split(records, 1, 1, 40):
        traces.add(0, part)
    found = traces.quantities()
    expected = quantities_of([records], 4, shares(problem))
    expected["units_moved"] = [share_of_units_moved(records.assignment, start, 4)]
    assert list(found) == list(expected)
    for name, chains in expected.items():
        np.testing.assert_array_equal(found[name][0], chains[0])
    assert found["units_moved"][0].max() > 0


@pytest.mark.parametrize(("limit", "spacing"), [(N_DRAWS, 1), (99, 2), (50, 2), (49, 4), (12, 8), (1, 64)])
def test_long_traces_are_thinned_evenly_whatever_the_batches(run, limit, spacing):
    problem, start, records = run
    for places in ([], [1, 2, 3, 50, 77], range(1, N_DRAWS)):
        traces = Traces(2, 4, shares(problem), start, max_draws=limit)
        for part in split(records, *places):
            traces.add(1, part)
            assert len(traces.quantities()["cut_edges"][1]) <= limit
        kept = traces.quantities()["cut_edges"]
        assert len(kept[0]) == 0
        np.testing.assert_array_equal(kept[1], records.cut_edges[spacing - 1 :: spacing])


def test_what_no_chain_has_is_left_out(run):
    problem, start, records = run
    nothing = np.full(N_DRAWS, np.nan)
    traces = Traces(1, 4, {"Green": (np.zeros(16), np.zeros(16))}, start)
    traces.add(0, Records(*records)._replace(score_testimony=nothing, score_cluster=nothing))
    assert list(traces.quantities()) == ["cut_edges", "units_moved"]
    with pytest.raises(ValueError, match="max_draws must be at least 1; got 0"):
        Traces(1, 4, shares(problem), start, max_draws=0)
