from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bottomup.sampler.naming import plan_digest

plans = st.lists(st.integers(0, 5), min_size=1, max_size=30)


@given(plan=plans, names=st.permutations(range(6)))
def test_a_plan_has_the_same_digest_whatever_its_districts_are_called(plan, names):
    assert plan_digest([names[district] for district in plan]) == plan_digest(plan)


@given(plan=plans, other=plans)
def test_other_plans_have_other_digests(plan, other):
    def mates(assignment):
        return [[a == b for a in assignment] for b in assignment]

    assert (plan_digest(plan) == plan_digest(other)) == (mates(plan) == mates(other))


def test_the_digest_does_not_depend_on_the_type_of_the_numbers():
    assert plan_digest(np.array([3, 3, 1], dtype=np.uint8)) == plan_digest([0, 0, 1])
