"""Maps of 1,000 to 50,000 units, and real ones where a variable of the environment says where they are.

Run with ``pytest tests/benchmarks/bench_*.py``: the files' names keep them out of the ordinary tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import Delaunay, KDTree

from bottomup.data import Geography, Testimonies, load_plan, read_geography, read_testimonies
from bottomup.data.plans import population_bounds
from bottomup.sampler.chain import WALK_ALONE, Chain, Step
from bottomup.sampler.problem import Problem
from bottomup.sampler.start import make_start
from bottomup.sampler.target import Target
from bottomup.sampler.types import Mixture

VARIABLE = "BOTTOMUP_BENCH_DATA"
GRIDS = {1000: (25, 40), 5000: (50, 100), 20_000: (100, 200), 50_000: (200, 250)}
N_DISTRICTS = 8
N_TESTIMONIES = 800
N_CLUSTERS = 35
WALK, ANEW = "walk", "walk, factored anew"
GROWTH: dict[tuple[str, str], dict[int, float]] = {}
"""Seconds per step or call, by benchmark and kind of map, then by number of units."""


@dataclass(frozen=True, eq=False)
class Case:
    """A map to measure on, as files and as what they hold."""

    kind: str
    nodes: Path
    edges: Path
    testimonies: Path | None
    plan: str | None
    """Column of the plan to start from; a plan from random trees without one."""

    def read(self) -> Geography:
        return read_geography(self.nodes, edges=self.edges)

    @cached_property
    def geography(self) -> Geography:
        return self.read()

    def read_testimonies(self) -> Testimonies | None:
        return None if self.testimonies is None else read_testimonies(self.testimonies, self.geography)

    @cached_property
    def problem(self) -> Problem:
        problem = Problem.build(self.geography, self.read_testimonies())
        _ = problem.pattern
        return problem

    @cached_property
    def start(self) -> np.ndarray:
        if self.plan is not None:
            return load_plan(self.plan, self.geography).assignment
        return make_start(self.problem, N_DISTRICTS, *self._bounds(N_DISTRICTS), seed=1)

    def _bounds(self, n_districts: int) -> tuple[int, int]:
        return population_bounds(self.geography.total_population, n_districts, 0.05)

    @cached_property
    def target(self) -> Target:
        n_districts = int(self.start.max()) + 1
        ends = self.start[self.problem.edges]
        cut_edges = int((ends[:, 0] != ends[:, 1]).sum())
        return Target(n_districts, *self._bounds(n_districts), compactness=0.005, cut_edges=cut_edges)

    def make_chain(self, mixture: Mixture = WALK_ALONE, step: Step = "mixed") -> Chain:
        return Chain(self.problem, self.target, self.start, 1, step, mixture=mixture)


def write_map(folder: Path, kind: str, n_units: int) -> Case:
    """Draw people and testimonies for a grid, or for the Delaunay graph of random points."""
    rng = np.random.default_rng(n_units)
    if kind == "grid":
        rows, columns = GRIDS[n_units]
        cells = np.arange(n_units).reshape(rows, columns)
        points = np.column_stack(np.divmod(np.arange(n_units), columns))
        across = np.column_stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()])
        edges = np.concatenate([across, np.column_stack([cells[:-1].ravel(), cells[1:].ravel()])])
    else:
        points = rng.random((n_units, 2))
        corners = Delaunay(points).simplices
        edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
        edges = np.unique(np.sort(edges, axis=1), axis=0)
    ids = np.array([f"{unit:06d}" for unit in range(n_units)])
    people = rng.integers(500, 2500, n_units)
    adults = (0.78 * people).astype(int)
    columns = {"GEOID20": ids, "pop20": people, "vap20_total": adults}
    columns["vap20_black"] = (adults * rng.random(n_units) / 5).astype(int)
    columns["20_pres_dem"] = (adults * rng.random(n_units) / 2).astype(int)
    columns["20_pres_rep"] = adults // 2
    nodes_file, edges_file = folder / "nodes.csv", folder / "edges.csv"
    pd.DataFrame(columns).to_csv(nodes_file, index=False)
    pd.DataFrame(ids[edges], columns=["u", "v"]).to_csv(edges_file, index=False)
    # About as many units to a testimony as on a real map, for its size: one in seventy.
    centres = rng.choice(n_units, N_TESTIMONIES)
    members = KDTree(points).query(points[centres], k=n_units // 70)[1]
    names = np.repeat(np.arange(N_TESTIMONIES), members.shape[1])
    table = {"testimony": names, "GEOID20": ids[members.ravel()], "cluster": names % N_CLUSTERS}
    testimonies_file = folder / "testimonies.csv"
    pd.DataFrame(table).to_csv(testimonies_file, index=False)
    return Case(kind, nodes_file, edges_file, testimonies_file, None)


def real_folder() -> Path | None:
    """Folder of the real files, when the variable names one that holds them."""
    folder = Path(os.environ.get(VARIABLE) or os.devnull)
    return folder if (folder / "missouri_vtd2020" / "nodes.csv").is_file() else None


def pytest_report_header() -> str:
    folder = real_folder()
    if folder is None:
        return f"benchmarks: no real map, for {VARIABLE} names no folder with missouri_vtd2020/nodes.csv"
    return f"benchmarks: real map from {folder / 'missouri_vtd2020'}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each kind and size of map; the real one only where it is."""
    if "case" in metafunc.fixturenames:
        specifications = [(kind, n_units) for n_units in GRIDS for kind in ("grid", "delaunay")]
        if real_folder() is not None:
            specifications.append(("missouri", None))
        ids = [kind if n_units is None else f"{kind}-{n_units}" for kind, n_units in specifications]
        metafunc.parametrize("case", specifications, ids=ids, indirect=True, scope="session")


@pytest.fixture(scope="session")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    kind, n_units = request.param
    if n_units is not None:
        return write_map(tmp_path_factory.mktemp(f"{kind}-{n_units}"), kind, n_units)
    folder = real_folder()
    testimonies = folder / "missouri_coi" / "surrogate_testimonies.csv"
    files = folder / "missouri_vtd2020"
    return Case(
        kind,
        files / "nodes.csv",
        files / "edges.csv",
        testimonies if testimonies.is_file() else None,
        "cd2025_hb1",
    )


@pytest.fixture
def time_steps(benchmark, case: Case) -> Callable[..., None]:
    """Return a function that measures another and notes, by a name, the time of one of its ``n_steps``."""

    def measure(name: str, function: Callable[..., object], *arguments: object, n_steps: int = 1) -> None:
        benchmark(function, *arguments)
        # Without statistics the function has been called once, to see that it can be.
        if benchmark.stats is not None:
            row = GROWTH.setdefault((name, case.kind), {})
            row[case.geography.n_units] = benchmark.stats.stats.median / n_steps

    return measure


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Growth with the number of units, and what the incremental determinant is worth."""
    if not GROWTH:
        return
    sizes = sorted({size for row in GROWTH.values() for size in row})
    terminalreporter.section("microseconds a step or call (CPU, median), by number of units")
    head = f"{'':<28}{'map':<10}" + "".join(f"{size:>12,}" for size in sizes)
    terminalreporter.write_line(f"{head}{'power':>8}")
    for (name, kind), row in sorted(GROWTH.items()):
        power = ""
        if len(row) > 1:
            power = f"{np.polyfit(np.log(list(row)), np.log(list(row.values())), 1)[0]:.2f}"
        microseconds = {size: seconds * 1e6 for size, seconds in row.items()}
        _write_row(terminalreporter, name, kind, sizes, microseconds, power)
        walk = GROWTH.get((WALK, kind), {})
        if name == ANEW and walk.keys() >= row.keys():
            ratios = {size: seconds / walk[size] for size, seconds in row.items()}
            _write_row(terminalreporter, "  times the walk", kind, sizes, ratios, "")


def _write_row(
    reporter: pytest.TerminalReporter,
    name: str,
    kind: str,
    sizes: list[int],
    values: dict[int, float],
    power: str,
) -> None:
    cells = "".join(f"{values[size]:>12,.1f}" if size in values else f"{'':>12}" for size in sizes)
    reporter.write_line(f"{name:<28}{kind:<10}{cells}{power:>8}")
