"""Reading maps and testimonies, building problems, and recording plans."""

import time

import pytest

from bottomup.data.demo import load_demo
from bottomup.sampler.problem import Problem
from bottomup.sampler.runs import Part, RunFolder

pytestmark = pytest.mark.benchmark(timer=time.process_time, min_rounds=3, max_time=0.5)

N_RECORDS = 100


def test_read_geography(case, time_steps):
    time_steps("read geography", case.read)


def test_read_testimonies(case, time_steps):
    time_steps("read testimonies", case.read_testimonies)


def test_build_problem(case, time_steps):
    testimonies = case.read_testimonies()

    def build():
        return Problem.build(case.geography, testimonies).pattern

    time_steps("build problem and pattern", build)


def test_load_demo(benchmark):
    assert benchmark(load_demo).geography.n_units > 5000


def test_record(case, time_steps):
    """Every step recorded; without records it would be a step of the walk."""
    chain = case.make_chain()
    chain.advance(N_RECORDS, N_RECORDS)
    time_steps("record every step", chain.advance, N_RECORDS, 1, n_steps=N_RECORDS)


def test_write(case, tmp_path, time_steps):
    records = case.make_chain().advance(N_RECORDS, 1)
    with RunFolder(tmp_path / "run", case.geography, case.target.n_districts, {"name": "bench"}) as folder:
        time_steps("write a record", folder.write, [Part(0, 0.0, records)], n_steps=N_RECORDS)
