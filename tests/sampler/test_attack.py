"""The attack experiment on a grid whose plans can all be listed: what it measures is what the laws say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import oracles
from bottomup import sampler
from bottomup.data.changes import Change, flood, replace_cluster
from bottomup.data.clusters import Zones, cluster_by_zones
from bottomup.data.errors import DataError
from bottomup.data.geography import Geography
from bottomup.data.testimonies import Testimonies, build_testimonies
from bottomup.sampler.attack import (
    QUANTITIES,
    Attack,
    Draws,
    Measure,
    Measured,
    Trial,
    run_trials,
)
from bottomup.sampler.attack_findings import GROUPS, Point, Reader, compare
from bottomup.sampler.counterfactual import Counterfactual
from bottomup.sampler.enumeration import enumerate_plans, exact_law
from bottomup.sampler.ladder import Ladder
from bottomup.sampler.problem import Problem
from bottomup.sampler.promise import bounded_chance
from bottomup.sampler.runs import RunFolder
from bottomup.sampler.sensitivity import Weighting
from bottomup.sampler.sources import Ladders
from bottomup.sampler.statistics import score_plans
from bottomup.sampler.stored_draws import measure_stored
from bottomup.sampler.target import Target

EPSILONS = (0.0, 0.1, 1.0, 3.0)
RUNGS = [0.0, 0.7, 1.5, 3.0]
FALSE_ALARMS = 1e-3
"""Chance that a test fails although all is right, were the seed drawn anew."""
MEASURED = tuple(name for name in QUANTITIES if name not in ("score", "cut_edges"))


def make_geography() -> Geography:
    """Three rows of four units of one person."""
    edges = np.array(oracles.grid_edges(3, 4), dtype=np.int32)
    return Geography("grid", tuple("abcdefghijkl"), np.ones(12, dtype=np.int64), edges)


def make_testimonies() -> Testimonies:
    units = {
        "p": [0, 1],
        "q": [0, 1, 4],
        "r": [1, 2],
        "s": [10, 11],
        "t": [7, 11],
        "u": [5, 6],
        "v": [6, 9, 10],
    }
    clusters = {"p": "X", "q": "X", "r": "X", "s": "Y", "t": "Y", "u": "Z", "v": ""}
    return build_testimonies(units, ["used"] * 7, clusters)


def make_change() -> Change:
    adversary = [np.array([3, 2]), np.array([3, 7, 6]), np.array([8, 9])]
    return replace_cluster(make_testimonies(), make_geography(), 0, adversary)


def make_target(score: str) -> Target:
    return Target(3, 3, 5, 0.05, 8.0, score, EPSILONS[-1])


def problems_of(change: Change, weighting: Weighting) -> tuple[Problem, Problem]:
    return tuple(Problem.build(make_geography(), own, weighting) for own in (change.before, change.after))


def make_trials(change: Change, score: str, weighting: Weighting, n_rounds: int) -> list[Trial]:
    attack, trials = Attack.prepare(change), []
    before, after = problems_of(change, weighting)
    plans = enumerate_plans(before, 3, 3, 5)
    counterfactual = Counterfactual(make_geography(), change, score, weighting)
    for seed, problem in enumerate((before, after)):
        starts = [plans[0], plans[-1]]
        ladder = Ladder(problem, make_target(score), starts, RUNGS, 31 + seed, steps_per_round=20)
        ladder.advance(40, 41)
        trials.append(Trial(ladder, attack, counterfactual if seed == 0 else None))
    run_trials(trials, n_rounds)
    return trials


def store_runs(
    change: Change, score: str, weighting: Weighting, n_rounds: int, out: Path, rungs: Sequence[float] = RUNGS
) -> list[Path]:
    """The runs of `make_trials`, with their plans in folders and nothing measured."""
    folders, problems = [out / "honest", out / "attacked"], problems_of(change, weighting)
    plans = enumerate_plans(problems[0], 3, 3, 5)
    for seed, (problem, folder) in enumerate(zip(problems, folders, strict=True)):
        starts = [plans[0], plans[-1]]
        ladder = Ladder(problem, make_target(score), starts, rungs, 31 + seed, steps_per_round=20)
        ladder.advance(40, 41)
        source = Ladders(ladder, 1)
        with RunFolder(folder, make_geography(), 3, {"name": "x"}) as run:
            for size in (1, n_rounds - 1):
                run.write(source.advance(size))
    return folders


def measures_of(change: Change, score: str, weighting: Weighting) -> list[Measure]:
    """Of the data sets before and after."""
    attack, predicts = Attack.prepare(change), Counterfactual(make_geography(), change, score, weighting)
    return [
        Measure(attack, problem, score, 3, own)
        for problem, own in zip(problems_of(change, weighting), (predicts, None), strict=True)
    ]


def assert_same_draws(one: Measured, other: Measured) -> None:
    np.testing.assert_array_equal(one.epsilons, other.epsilons)
    for row, twin in zip(one.draws, other.draws, strict=True):
        for draws, same in zip(row, twin, strict=True):
            np.testing.assert_array_equal(draws.figures, same.figures)
            np.testing.assert_array_equal(draws.kept, same.kept)


def exact_means(change: Change, score: str, weighting: Weighting, epsilon: float) -> list[dict[str, float]]:
    """Of both data sets, by listing every plan."""
    attack, found = Attack.prepare(change), []
    for problem in problems_of(change, weighting):
        plans = enumerate_plans(problem, 3, 3, 5)
        law = exact_law(problem, replace(make_target(score), epsilon=epsilon), plans)
        quantities, _ = attack.measure(plans, 3, weighting)
        found.append({name: float(law @ quantities[name]) for name in MEASURED})
    return found


KINDS = [("testimony", Weighting()), ("cluster", Weighting()), ("cluster", Weighting("mass"))]


@pytest.fixture(scope="module", params=KINDS, ids=["testimony", "coverage", "mass"])
def kind(request) -> tuple[str, Weighting]:
    return request.param


@pytest.fixture(scope="module")
def readers(kind) -> tuple[Reader, Reader]:
    before, after = make_trials(make_change(), *kind, n_rounds=350)
    return Reader(before), Reader(after)


def largest_z(points: list[tuple[Point, dict[str, float], Sequence[str]]]) -> tuple[float, float]:
    """The largest deviation in standard errors, and the one that chance exceeds once in a thousand runs."""
    deviations = [
        abs(point.estimates[name].mean - exact[name]) / point.estimates[name].error
        for point, exact, names in points
        for name in names
    ]
    assert all(math.isfinite(each) for each in deviations)
    return max(deviations), float(norm.isf(FALSE_ALARMS / len(deviations) / 2))


def test_what_is_measured_is_what_the_laws_say(readers, kind):
    change = make_change()
    measured = []
    for epsilon in EPSILONS:
        exact = exact_means(change, *kind, epsilon)
        finding = compare(*readers, epsilon, change.cost)
        told = [name for name in MEASURED if finding.prediction(name) is not None]
        if epsilon <= 1:
            assert told == list(MEASURED)
        measured += [
            (finding.honest, exact[0], MEASURED),
            (finding.attacked, exact[1], MEASURED),
            (finding.predicted, exact[1], told),
        ]
        assert min(each.effective_size for each in finding.attacked.estimates.values()) > 100
        assert max(each.rhat for each in finding.attacked.estimates.values()) < 1.05
        for group in GROUPS:
            mean = finding.honest.kept[group].mean()
            assert mean == pytest.approx(finding.honest.estimates[f"kept_{group}"].mean)
    found, limit = largest_z(measured)
    assert found < limit


def test_a_twin_with_other_testimonies_fails(readers, kind):
    """The same comparison for a run that had other testimonies than the law it is compared with."""
    twin = readers[0].point(3.0)
    found, limit = largest_z([(twin, exact_means(make_change(), *kind, 3.0)[1], MEASURED)])
    assert found > limit


def test_the_formal_limit_holds_for_the_laws_and_for_what_is_measured(readers, kind):
    change = make_change()
    assert change.cost == 3
    plans = enumerate_plans(problems_of(change, kind[1])[0], 3, 3, 5)
    quantities, kept = Attack.prepare(change).measure(plans, 3, kind[1])
    for epsilon in EPSILONS:
        finding = compare(*readers, epsilon, change.cost)
        assert set(finding.limits) == {"kept_honest", "kept_adversary", "best_honest", "best_adversary"}
        assert not any(finding.exceeds(name) for name in finding.limits)
        laws = [
            exact_law(problem, replace(make_target(kind[0]), epsilon=epsilon), plans)
            for problem in problems_of(change, kind[1])
        ]
        cost = change.cost * epsilon
        for own in (*kept.T, quantities["best_honest"], quantities["best_adversary"]):
            without, under = (float(law @ own) for law in laws)
            assert bounded_chance(without, -cost) - 1e-12 <= under <= bounded_chance(without, cost) + 1e-12
        for name, limit in finding.limits.items():
            is_wider = (
                limit.with_error >= limit.value if "adversary" in name else limit.with_error <= limit.value
            )
            assert is_wider


def test_a_limit_that_is_too_low_is_found_exceeded(readers):
    assert any(compare(*readers, 3.0, 0.0).exceeds(name) for name in ("kept_adversary", "kept_honest"))
    assert compare(*readers, 3.0, None).limits == {}


def test_a_prediction_needs_enough_draws(kind):
    change = make_change()
    before, after = make_trials(change, *kind, n_rounds=20)
    finding = compare(Reader(before), Reader(after), 3.0, change.cost)
    assert finding.predicted.estimates["kept_adversary"].effective_size < 50
    assert finding.prediction("kept_adversary") is None


def test_figures_do_not_depend_on_how_a_run_is_cut_up():
    change, kind = make_change(), KINDS[0]
    one, other = (make_trials(change, *kind, n_rounds=0) for _ in range(2))
    run_trials(one, 24)
    for size in (1, 5, 2, 16):
        for trial in reversed(other):
            trial.ladder.n_threads = 2
            trial.advance(size)
    for left, right in zip(one, other, strict=True):
        assert left.n_rounds == right.n_rounds == 24
        assert_same_draws(left, right)


@pytest.mark.parametrize(("max_draws", "n_kept"), [(40, 35), (2_000, 70)])
def test_stored_plans_give_the_figures_that_trials_give(kind, tmp_path, monkeypatch, max_draws, n_kept):
    monkeypatch.setattr(sampler.attack, "draws_of_rung", lambda n_rungs: max_draws)
    change = make_change()
    trials = make_trials(change, *kind, n_rounds=70)
    folders = store_runs(change, *kind, 70, tmp_path)
    stored = [
        measure_stored([folder], measure)
        for folder, measure in zip(folders, measures_of(change, *kind), strict=True)
    ]
    for trial, found in zip(trials, stored, strict=True):
        assert {len(draws.figures) for row in found.draws for draws in row} == {n_kept}
        assert_same_draws(trial, found)
    readers = [[Reader(own) for own in each] for each in (trials, stored)]
    # Undefined figures are nan, which is like nothing, itself included.
    one, other = (str(compare(*each, 0.5, change.cost)) for each in readers)
    assert one == other


def test_seeds_are_more_ladders(tmp_path):
    change, kind = make_change(), KINDS[0]
    folder, other = store_runs(change, *kind, 12, tmp_path)
    measure = measures_of(change, *kind)[0]
    once, twice = (measure_stored([folder] * n, measure) for n in (1, 2))
    assert [len(each.draws) for each in (once, twice)] == [2, 4]
    for draws, same in zip(twice.draws, [*once.draws, *once.draws], strict=True):
        np.testing.assert_array_equal(draws[-1].figures, same[-1].figures)
    with pytest.raises(DataError, match="not those that these testimonies give") as found:
        measure_stored([folder, other], measure)
    assert str(other) in str(found.value)


def test_runs_that_do_not_belong_together_are_refused(tmp_path):
    change, kind = make_change(), KINDS[0]
    measure = measures_of(change, *kind)[0]
    folders = [
        store_runs(change, *kind, 4, tmp_path / name, rungs)[0]
        for name, rungs in (("a", RUNGS), ("b", [0.0, 0.7, 1.6, 3.0]))
    ]
    with pytest.raises(DataError, match=r"the same epsilons: 0, 0.7, 1.5, 3, and 0, 0.7, 1.6, 3\."):
        measure_stored(folders, measure)
    with RunFolder(tmp_path / "empty", make_geography(), 3, {"name": "x"}):
        pass
    with pytest.raises(DataError, match="holds no plans"):
        measure_stored([tmp_path / "empty"], measure)


def test_the_clock_gives_all_trials_as_many_rounds():
    trials = make_trials(make_change(), *KINDS[0], n_rounds=0)
    turns = []
    assert run_trials(trials, None, 0.05, turns.append)
    assert trials[0].n_rounds == trials[1].n_rounds == sum(turns) >= 8
    # An interrupt ends the run, and says so.
    assert not run_trials(trials, None, 60.0, is_stopped=lambda: True)
    with pytest.raises(ValueError, match="n_rounds or seconds must be given"):
        run_trials(trials, None)


def test_memory_is_bounded_and_what_is_kept_depends_on_the_number_of_draws_alone():
    figures = np.arange(100.0)[:, None] * np.ones(len(QUANTITIES) + 1)
    kept = np.arange(100)[:, None] % 2 == 0
    found = []
    for sizes in ([100], [1] * 100, [30, 3, 67]):
        draws, begin = Draws(1, 20), 0
        for size in sizes:
            rows = np.arange(begin, begin + size)[draws.choose(size)]
            draws.append(figures[rows], kept[rows])
            assert len(draws.figures) <= 20
            begin += size
        found.append(draws.quantity("score").tolist())
        assert draws.kept[:, 0].tolist() == [number % 2 == 0 for number in found[-1]]
    assert found[0] == found[1] == found[2] == [float(number) for number in range(7, 100, 8)]


def test_copies_of_a_flood_that_count_once_change_nothing():
    testimonies, geography = make_testimonies(), make_geography()
    change = flood(testimonies, geography, "s", 400)
    plans = enumerate_plans(Problem.build(geography, testimonies), 3, 3, 5)
    loud = Attack.prepare(change, flooded="s")
    assert (loud.change.cost, loud.adversary.ids, loud.honest.ids) == (399 / 2, ("s",), ())
    quiet = Attack.prepare(change, flooded="s", copies_count_once=True)
    assert (quiet.change.cost, quiet.change.n_replaced, len(quiet.submitted.added)) == (0, 0, 399)
    assert quiet.change.words == "testimony s submitted 400 times; copies count once"
    for score, weighting in KINDS:
        target = make_target(score)
        law, flooded, once = (
            exact_law(Problem.build(geography, own, weighting), target, plans)
            for own in (testimonies, loud.change.after, quiet.change.after)
        )
        np.testing.assert_allclose(once, law, rtol=1e-9)
        assert np.abs(flooded - law).max() > 1e-2
        gain = Counterfactual(geography, quiet.change, score, weighting).exponent_change(
            plans,
            getattr(
                score_plans(Problem.build(geography, testimonies, weighting), plans, 3), f"score_{score}"
            ),
            3.0,
        )
        np.testing.assert_allclose(gain, gain[0], atol=1e-9)
    # Who is not concerned is followed all the same; the flooded one is not among them.
    assert quiet.others.ids == ("p", "q", "r", "t", "u", "v")


@pytest.mark.parametrize(("score", "weighting"), KINDS)
def test_a_copy_of_an_honest_testimony_that_comes_first_takes_nothing_from_it(score, weighting):
    """In public zones an adversary may repeat what somebody else says, from an earlier place in the list."""
    geography = make_geography()
    zones = Zones(("west", "east"), np.array([0, 0, 1, 1] * 3, dtype=np.int32), "column half of the units")
    testimonies = cluster_by_zones(make_testimonies(), geography, zones)
    # p and q, in the west, give way; s and t, in the east, come later in the list.
    change = replace_cluster(testimonies, geography, 0, [np.array([10, 11]), np.array([3, 7])])
    attack = Attack.prepare(change, copies_count_once=True)
    names = [change.before.ids[place] for place in attack.change.removed]
    assert "s" in names
    assert "s" in attack.others.ids
    assert attack.adversary.units.tolist()[:2] == [10, 11]
    before, after = problems_of(attack.change, weighting)
    plans, target = enumerate_plans(before, 3, 3, 5), make_target(score)
    scores = getattr(score_plans(before, plans, 3), f"score_{score}")
    gain = Counterfactual(geography, attack.change, score, weighting).exponent_change(plans, scores, 3.0)
    moved = exact_law(before, target, plans) * np.exp(gain)
    np.testing.assert_allclose(moved / moved.sum(), exact_law(after, target, plans), rtol=1e-9)


def test_communities_without_weight_and_groups_of_none():
    testimonies = build_testimonies({"p": [0, 1], "q": []}, ["used", "empty"], {"p": "X", "q": "Y"})
    change = replace_cluster(testimonies, make_geography(), 1, [np.arange(6)])
    attack = Attack.prepare(change)
    assert attack.honest.hopeless(np.ones(12, dtype=np.int64), 5) == ("q",)
    assert attack.adversary.hopeless(np.ones(12, dtype=np.int64), 5) == ("adversary 1",)
    assert attack.adversary.hopeless(np.ones(12, dtype=np.int64), 6) == ()
    plans = np.array([[0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 2]], dtype=np.uint8)
    found, kept = attack.measure(plans, 3, Weighting())
    assert kept.tolist() == [[False, False]]
    assert found["kept_others"].tolist() == [1]
    assert np.isnan(found["best_honest"]).all()
    assert found["best_adversary"].tolist() == [4 / 6]
    only = build_testimonies({"p": [0, 1]}, ["used"], {"p": "X"})
    found, _ = Attack.prepare(replace_cluster(only, make_geography(), 0, [np.array([5, 6])])).measure(
        plans, 3, Weighting()
    )
    assert np.isnan(found["kept_others"]).all()
    assert (found["kept_honest"].tolist(), found["kept_adversary"].tolist()) == ([1], [0])


def test_what_never_varied_has_no_error():
    """No plan keeps six units whole: the figure is 0, and how sure that is cannot be told from draws."""
    change = replace_cluster(make_testimonies(), make_geography(), 0, [np.arange(6)] * 3)
    before, after = make_trials(change, *KINDS[0], n_rounds=40)
    point = Reader(after).point(1.0)
    found = point.estimates["kept_adversary"]
    assert found.mean == 0
    assert math.isnan(found.error)
    assert math.isnan(found.effective_size)
    assert not found.is_reliable
    assert found.agrees(found) is None
    finding = compare(Reader(before), Reader(after), 1.0, change.cost)
    # So the limit is 0 by what was seen, and none when nothing is taken for known.
    assert finding.limits["kept_adversary"] == (0, 1)
    assert not finding.exceeds("kept_adversary")
