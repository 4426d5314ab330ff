"""The answer to an attack from plans on record, against the exact laws of a small map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import panel as pn
import pytest

from bottomup.dashboard import whatif
from bottomup.dashboard.design import Design
from bottomup.dashboard.pool import RecordedLadders
from bottomup.dashboard.recording import Recording
from bottomup.dashboard.session import Session
from bottomup.dashboard.views.attack import AttackView
from bottomup.dashboard.whatif import RungPlans, answer_what_if, collect_plans
from bottomup.data.changes import flood, replace_cluster
from bottomup.data.geography import Geography
from bottomup.data.testimonies import build_testimonies
from bottomup.sampler.chain import Records
from bottomup.sampler.counterfactual import Counterfactual
from bottomup.sampler.enumeration import enumerate_plans, exact_law
from bottomup.sampler.problem import Problem
from bottomup.sampler.promise import bounded_chance
from bottomup.sampler.sensitivity import Weighting
from bottomup.sampler.statistics import find_preserved, score_plans
from bottomup.sampler.target import Target

RUNGS = (0.0, 1.0)
N_DRAWS = 600


@pytest.fixture
def geography() -> Geography:
    cells = [(x, y) for y in range(3) for x in range(3)]
    edges = [
        (i, j) for i in range(9) for j in range(i) if sum(map(abs, np.subtract(cells[i], cells[j]))) == 1
    ]
    pairs = np.array(sorted((j, i) for i, j in edges), dtype=np.int32)
    return Geography("grid", tuple("abcdefghi"), np.ones(9, dtype=np.int64), pairs)


@pytest.fixture
def testimonies():
    units = {"p": [0, 1], "q": [0, 1, 3], "r": [4, 5, 8], "s": [5, 8]}
    return build_testimonies(units, ["used"] * 4, {"p": "X", "q": "X", "r": "Y", "s": "Y"})


def target(epsilon: float) -> Target:
    return Target(3, 2, 4, 0.02, 6.0, "testimony", epsilon)


def recorded(problem: Problem, plans: np.ndarray) -> RecordedLadders:
    """Two ladders, each rung with independent draws from its law; the first half is never read."""
    rng = np.random.default_rng(11)
    rows = []
    for _ in range(2):
        row = []
        for epsilon in RUNGS:
            drawn = plans[rng.choice(len(plans), 2 * N_DRAWS, p=exact_law(problem, target(epsilon), plans))]
            scores = score_plans(problem, drawn, 3)
            recording = Recording(spacing=1, capacity=2 * N_DRAWS, shares=[])
            recording.append(
                Records(
                    step=np.arange(1, 2 * N_DRAWS + 1),
                    assignment=drawn,
                    cut_edges=scores.cut_edges.astype(np.int32),
                    score_testimony=scores.score_testimony,
                    score_cluster=scores.score_cluster,
                    preserved=find_preserved(
                        drawn, problem.testimony.member_indptr, problem.testimony.member
                    ).astype(np.uint8),
                    cluster_best_share=np.empty((2 * N_DRAWS, 0), dtype=np.float32),
                ),
                {},
            )
            row.append(recording)
        rows.append(tuple(row))
    return RecordedLadders(
        design=Design("enacted", 0.05, 0.02, 1),
        delta=problem.sensitivity("testimony").delta,
        starts=("one", "other"),
        epsilons=RUNGS,
        placings=(),
        steps_per_round=1,
        recordings=tuple(rows),
        enacted=plans[0].astype(np.int32),
        population=np.ones(9, dtype=np.int64),
    )


def kept_exactly(problem, plans, testimonies, places, epsilon):
    units = [testimonies.units_of(int(place)) for place in places]
    whole = find_preserved(plans, np.cumsum([0, *map(len, units)]), np.concatenate(units))
    return exact_law(problem, target(epsilon), plans) @ whole


def test_shares_agree_with_both_exact_laws(geography, testimonies):
    change = replace_cluster(testimonies, geography, 0, [np.array([6, 7]), np.array([3, 6, 7])])
    before, after = (Problem.build(geography, each) for each in (change.before, change.after))
    plans = enumerate_plans(before, 3, 2, 4)
    counterfactual = Counterfactual(geography, change, "testimony", Weighting())
    held = collect_plans(recorded(before, plans), counterfactual, lambda: False)
    answers = answer_what_if(held, (0.0, 0.5, 1.0), before.sensitivity("testimony").delta, change.cost)
    assert [answer.epsilon for answer in answers] == [0.0, 0.5, 1.0]
    for answer in answers:
        for places, of, shares in (
            (change.removed, change.before, answer.removed),
            (change.added, change.after, answer.added),
        ):
            # A mean of two shares of .5 or less spread; five standard errors of the fewest effective plans.
            allowed = 5 * 0.5 / np.sqrt(answer.n_effective)
            exact = [kept_exactly(problem, plans, of, places, answer.epsilon) for problem in (before, after)]
            assert shares.without == pytest.approx(exact[0].mean(), abs=allowed)
            assert shares.under == pytest.approx(exact[1].mean(), abs=allowed)
            assert shares.least - 1e-9 <= shares.under <= shares.most + 1e-9
            limit = [bounded_chance(chance, change.cost * answer.epsilon) for chance in exact[0]]
            assert shares.most == pytest.approx(np.mean(limit), abs=allowed)
    # Nothing changes where testimony is ignored; at the top the attack shows beyond what chance explains.
    assert answers[0].added.under == pytest.approx(answers[0].added.without)
    assert answers[-1].added.under > answers[-1].added.without + 0.1


def test_what_no_plan_shows_is_not_taken_for_impossible_nor_what_all_show_for_certain():
    """Plans that all keep the first community, and never the second."""
    whole = np.array([[1.0, 0.0], [1.0, 0.0]] * 30)
    rung = RungPlans(0.0, np.zeros(60), np.zeros(60), whole, whole)
    (answer,) = answer_what_if([rung], (0.0,), 0.1, 2.0)
    assert (answer.added.least, answer.added.most) == pytest.approx(((1 - 0.5 / 60) / 2, (1 + 0.5 / 60) / 2))
    assert answer.added.least <= answer.added.under <= answer.added.most


def test_where_too_few_plans_speak_there_is_no_answer(geography, testimonies):
    change = flood(testimonies, geography, "r", 60)
    problem = Problem.build(geography, testimonies)
    plans = enumerate_plans(problem, 3, 2, 4)
    counterfactual = Counterfactual(geography, change, "testimony", Weighting())
    held = collect_plans(recorded(problem, plans), counterfactual, lambda: False)
    answers = answer_what_if(held, (0.0, 0.1, 1.0), problem.sensitivity("testimony").delta, change.cost)
    # Sixty voices for r leave, at epsilon 1, nothing but the few plans that keep it.
    assert 0.0 in [answer.epsilon for answer in answers]
    assert all(answer.n_effective >= 50 for answer in answers)
    assert answers[0].removed is None
    assert answers[0].added is not None


def test_going_through_the_plans_can_be_stopped(geography, testimonies):
    change = flood(testimonies, geography, "r", 3)
    problem = Problem.build(geography, testimonies)
    plans = enumerate_plans(problem, 3, 2, 4)
    counterfactual = Counterfactual(geography, change, "testimony", Weighting())
    assert collect_plans(recorded(problem, plans), counterfactual, lambda: True) is None


@pytest.mark.parametrize(("weighting", "has_limit"), [("coverage", False), ("mass", True)])
def test_the_page_shows_a_limit_only_where_the_attack_leaves_delta_alone(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    wait_until: Callable[..., None],
    weighting: str,
    has_limit: bool,
) -> None:
    """Every testimony has two units; those put in have four, so that by coverage the largest is another."""
    pn.extension()
    monkeypatch.setattr(whatif, "LEAST_EFFECTIVE", 1)
    geography, testimonies = session.prepared.inputs.geography, session.prepared.testimonies
    change = replace_cluster(testimonies, geography, 0, [np.array([0, 1, 2, 3])] * 3)
    monkeypatch.setattr(AttackView, "_make_change", lambda *_: change)
    session.settings.param.update(score="cluster", weighting=weighting)
    session.attend(True)
    wait_until(lambda: (found := session.worker.progress.standing) is not None and found.rounds > 30)
    session.attend(False)
    wait_until(lambda: session.worker.progress.phase == "paused")
    view = AttackView(session)
    wait_until(lambda: not session.background.outcome.is_running)
    view.refresh()
    problem = session.problem
    after = Problem.build(geography, change.after, problem.weighting)
    assert (problem.sensitivity("cluster").most == after.sensitivity("cluster").most) == has_limit
    assert ("No limit holds." in view._words.object) == (not has_limit)
    assert view._words.object.count("<td>no limit</td>") == (0 if has_limit else 2)
    assert ("what the limit allows" in view._key.object) == has_limit
    for plot in view._plots.values():
        data = plot.points.data
        assert len(data["place"]) > 0
        assert np.isnan(data["least"]).all() == np.isnan(data["most"]).all() == (not has_limit)
        assert not np.isnan(data["under"]).any()
