from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from bottomup.data import Geography
from bottomup.data.clusters import cluster_as
from bottomup.data.testimonies import USED, build_testimonies
from bottomup.sampler.naming import describe_run, plan_digest
from bottomup.sampler.problem import Problem
from bottomup.sampler.target import Target

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


def test_another_linkage_is_another_run():
    """Also where it makes the same clusters: the description says how they were made."""
    geography = Geography(
        name="ring",
        ids=("a", "b", "c", "d"),
        population=np.ones(4, dtype=np.int64),
        edges=np.array([[0, 1], [0, 3], [1, 2], [2, 3]], dtype=np.int32),
        shared_perimeter=np.ones(4),
        columns=pd.DataFrame(index=range(4)),
    )
    submitted = build_testimonies({"s": [0], "t": [1], "u": [2]}, [USED] * 3)
    clustered = [cluster_as(f"hausdorff:1{own}", submitted, geography) for own in ("", ":average", ":single")]
    runs = []
    for testimonies in clustered:
        problem = Problem.build(geography, testimonies)
        runs.append(
            describe_run(geography, testimonies, problem, Target(2, 1, 3), [[0, 0, 1, 1]], 1, "mixed")
        )
    assert len({testimonies.digest for testimonies in clustered}) == 1
    assert runs[0]["name"] == runs[1]["name"] != runs[2]["name"]
    assert "single linkage, cut to 1" in runs[2]["testimonies"]["clusters_by"]
