"""Steps of each move and of the mixture that contains them all."""

import time

import pytest

from bottomup.sampler import pattern
from bottomup.sampler.chain import WALK_ALONE, default_mixture
from bottomup.sampler.types import Mixture

pytestmark = pytest.mark.benchmark(timer=time.process_time, min_rounds=3, max_time=0.5)

NEVER = 2**62
COMPANIONS = [name for name in Mixture._fields if name != "walks"]


@pytest.mark.parametrize("step", ["mixed", "paper"])
def test_walk(case, step, time_steps):
    chain = case.make_chain(step=step)
    n_steps = 2000
    chain.advance(n_steps, NEVER)
    time_steps(
        "walk" if step == "mixed" else "walk, paper's step", chain.advance, n_steps, NEVER, n_steps=n_steps
    )


def test_walk_factored_anew(case, monkeypatch, time_steps):
    """No change fits into no terms, so each is answered by factoring its districts anew."""
    monkeypatch.setattr(pattern, "MAX_TERMS", 0)
    chain = case.make_chain()
    n_steps = 200
    chain.advance(n_steps, NEVER)
    time_steps("walk, factored anew", chain.advance, n_steps, NEVER, n_steps=n_steps)


@pytest.mark.parametrize("move", COMPANIONS)
def test_companion(case, move, time_steps):
    """One move alone, as often in a cycle as in the default mixture, with all that ends a cycle."""
    usual = default_mixture(case.problem.n_units)
    nothing = WALK_ALONE._replace(walks=0)
    mixture = nothing._replace(**{move: getattr(usual, move)})
    chain = case.make_chain(mixture)
    chain.advance(sum(mixture), NEVER)
    name = f"{move.replace('_', ' ')} alone"
    time_steps(name, chain.advance, sum(mixture), NEVER, n_steps=sum(mixture))


def test_mixture(case, time_steps):
    mixture = default_mixture(case.problem.n_units)
    chain = case.make_chain(mixture)
    chain.advance(sum(mixture), NEVER)
    time_steps("mixture", chain.advance, sum(mixture), NEVER, n_steps=sum(mixture))
