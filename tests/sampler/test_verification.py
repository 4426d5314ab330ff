"""The sampled law against every plan of a grid: right ones pass, wrong ones fail."""

import numpy as np
import pytest

from bottomup.sampler.chain import WALK_ALONE, default_mixture
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture
from bottomup.sampler.verification import make_grid_problem, verify

N_STEPS = 400_000
# At least one flip: whole communities alone do not reach every plan.
RANDOM_MIXTURES = [
    Mixture(1 + flips, *others) for flips, *others in np.random.default_rng(8).integers(0, 6, (3, 4)).tolist()
]


def target(score, epsilon):
    return Target(4, 3, 5, compactness=0.05, cut_edges=12.0, score=score, epsilon=epsilon)


@pytest.mark.parametrize("step", ["mixed", "paper"])
@pytest.mark.parametrize(("score", "epsilon"), [("testimony", 0.0), ("testimony", 2.0), ("cluster", 2.0)])
def test_the_walk_samples_the_exact_law(score, epsilon, step):
    result = verify(make_grid_problem(4, 4), target(score, epsilon), N_STEPS, step=step)
    assert result.n_plans == 1953
    assert result.passed
    for exact, sampled, error in result.means.values():
        # Four standard errors: a correct walk strays further once in 16,000 comparisons.
        assert abs(sampled - exact) < 4 * error


@pytest.mark.parametrize(
    "mixture",
    [
        Mixture(1, 0, 0, 0),
        Mixture(0, 0, 1, 0),
        Mixture(5, 0, 0, 1),
        Mixture(2, 3, 0, 0),
        Mixture(3, 1, 2, 4),
        default_mixture(16),
        *RANDOM_MIXTURES,
    ],
)
@pytest.mark.parametrize(("score", "epsilon"), [("testimony", 2.0), ("cluster", 2.0)])
def test_companion_moves_alone_and_mixed_sample_the_exact_law(score, epsilon, mixture):
    result = verify(make_grid_problem(4, 4), target(score, epsilon), N_STEPS, mixture=mixture)
    assert result.passed


def test_a_merge_split_without_its_count_of_balanced_edges_fails(monkeypatch):
    law = Target.law
    monkeypatch.setattr(Target, "law", lambda self, problem: law(self, problem)._replace(proposal=0.0))
    result = verify(make_grid_problem(4, 4), target("testimony", 0.0), N_STEPS, mixture=Mixture(0, 0, 1, 0))
    assert not result.passed


@pytest.mark.parametrize("step", ["mixed", "paper"])
def test_a_wrong_ratio_fails(step):
    result = verify(make_grid_problem(4, 4), target("testimony", 2.0), N_STEPS, step=step, control=True)
    assert not result.passed


@pytest.mark.parametrize("mixture", [WALK_ALONE, Mixture(1, 0, 0, 0), Mixture(1, 1, 0, 0)])
def test_a_wrong_exponent_fails(mixture, monkeypatch):
    """A walk at half the epsilon is no sample of the law at the whole."""
    law = Target.law
    monkeypatch.setattr(Target, "law", lambda self, problem: law(self, problem)._replace(per_testimony=0.5))
    result = verify(make_grid_problem(4, 4), target("testimony", 2.0), N_STEPS, mixture=mixture)
    assert not result.passed


def test_a_walk_that_cannot_reach_every_plan_fails():
    result = verify(make_grid_problem(3, 3), Target(3, 3, 3), 20_000)
    assert not result.passed
    assert result.n_missed > 0
    assert result.missed_probability > 0.1


def test_the_limit_is_exceeded_as_seldom_as_it_says():
    """Independent draws from the exact law, compared as a run would be."""
    from bottomup.sampler import verification
    from bottomup.sampler.enumeration import enumerate_plans, exact_law

    problem = make_grid_problem(3, 3)
    aim = Target(3, 2, 4, epsilon=1.0)
    plans = enumerate_plans(problem, 3, 2, 4)
    exact = exact_law(problem, aim, plans)
    rng = np.random.default_rng(3)
    n_alarms, ratio = 0, []
    for _ in range(100):
        frequencies = rng.multinomial(200, exact, size=verification.N_BATCHES) / 200
        result = verification._compare(problem, 3, plans, exact, frequencies, 0)
        n_alarms += not result.passed
        ratio.append(result.distance / result.expected)
    assert n_alarms <= 2  # 0.1 expected; more than 2 comes up once in 6,000
    assert np.mean(ratio) == pytest.approx(1, abs=0.03)
    assert result.effective_size == pytest.approx(200 * verification.N_BATCHES, rel=0.1)
