"""A town of 36 square units with four districts and six testimonies, and pages made of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import panel as pn
import pytest
import shapely

from bottomup.dashboard.options import Inputs
from bottomup.dashboard.prepared import Prepared, prepare
from bottomup.dashboard.session import Session
from bottomup.dashboard.slots import FairSlots
from bottomup.data.adjacency import rook_edges
from bottomup.data.electorate import Electorate, Votes
from bottomup.data.geography import Geography
from bottomup.data.plans import Plan
from bottomup.data.testimonies import Clusters, Testimonies
from bottomup.sampler.chain import default_mixture, warm_up
from bottomup.sampler.ledger import Ledger

SIDE = 6


def make_geography(*, outlines: bool = True, electorate: bool = True) -> Geography:
    """Squares of a kilometre, row by row from the south-west, ten people each."""
    squares = [
        shapely.box(500_000 + 1000 * x, 4_270_000 + 1000 * y, 501_000 + 1000 * x, 4_271_000 + 1000 * y)
        for y in range(SIDE)
        for x in range(SIDE)
    ]
    geometry = gpd.GeoSeries(squares, crs="EPSG:32615")
    edges, shared_perimeter = rook_edges(geometry)
    rng = np.random.default_rng(3)
    columns = pd.DataFrame(
        {name: rng.integers(1, 9, SIDE * SIDE) for name in ("vap", "black", "dem", "rep")}, dtype=float
    )
    columns["black"] = np.minimum(columns["black"], columns["vap"])
    named = Electorate("vap", {"Black": "black"}, {"President 2020": Votes("dem", "rep")})
    return Geography(
        name="Squareville",
        ids=tuple(f"0{i:02d}" for i in range(SIDE * SIDE)),
        population=np.full(SIDE * SIDE, 10, dtype=np.int64),
        edges=edges,
        shared_perimeter=shared_perimeter,
        columns=columns,
        geometry=geometry if outlines else None,
        electorate=named if electorate else Electorate(),
    )


def quadrants() -> Plan:
    """Four squares of nine units."""
    y, x = np.divmod(np.arange(SIDE * SIDE), SIDE)
    return Plan("quadrants", (2 * (y >= 3) + (x >= 3)).astype(np.int32), ("1", "2", "3", "4"))


def make_testimonies(*, clusters: bool = True) -> Testimonies:
    """Six pairs of neighbours; the first two straddle a border of the quadrants."""
    pairs = [(2, 3), (17, 23), (0, 1), (7, 13), (28, 29), (33, 34)]
    return Testimonies(
        ids=tuple(f"t{i}" for i in range(6)),
        indptr=np.arange(0, 13, 2),
        units=np.array(pairs, dtype=np.int32).ravel(),
        clusters=Clusters(("A", "B"), np.array([0, 0, 0, 1, 1, -1], dtype=np.int32), "column")
        if clusters
        else None,
        status=("used",) * 6,
    )


def make_inputs(*, outlines: bool = True, electorate: bool = True, clusters: bool = True) -> Inputs:
    """Inputs of a page, with a second plan of horizontal stripes."""
    plan = quadrants()
    stripes = np.repeat([0, 1, 2, 3], SIDE * SIDE // 4).astype(np.int32)
    return Inputs(
        geography=make_geography(outlines=outlines, electorate=electorate),
        enacted=plan,
        plans={"quadrants": plan, "stripes": Plan("stripes", stripes, plan.labels)},
        testimonies=make_testimonies(clusters=clusters),
    )


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Compile the walk once, before tests whose waits would run out in the meantime."""
    warm_up("mixed", default_mixture(SIDE * SIDE))


@pytest.fixture(scope="session")
def prepared() -> Prepared:
    return prepare(make_inputs())


@pytest.fixture
def session(prepared: Prepared) -> Iterator[Session]:
    session = Session(prepared, slots=FairSlots(1))
    # Districts of nine units move one by one only within wide bounds.
    session.settings.tolerance = 0.5
    yield session
    session.close()
    session.worker.stop(timeout=5)


@pytest.fixture(scope="session")
def inputs_of() -> Callable[..., Inputs]:
    """Return a maker of inputs with or without outlines, electorate and clusters."""
    return make_inputs


def _wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not true within {seconds} seconds")
        time.sleep(0.01)


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., None]:
    """Return a function that waits for a condition. The first run of a machine compiles the kernels."""
    return _wait_until


@pytest.fixture(scope="module")
def meet_plans(
    prepared: Prepared, tmp_path_factory: pytest.TempPathFactory, wait_until: Callable[..., None]
) -> Iterator[Callable[[float], Session]]:
    """Return a maker of sessions at an epsilon that have met some plans and stand still."""
    pn.extension()
    sessions: list[Session] = []

    def make(epsilon: float) -> Session:
        ledger = Ledger(tmp_path_factory.mktemp("session") / "ledger.csv")
        session = Session(prepared, slots=FairSlots(1), ledger=ledger)
        sessions.append(session)
        session.settings.param.update(tolerance=0.5, epsilon=epsilon)
        session.attend(True)
        wait_until(lambda: (found := session.worker.progress.standing) is not None and found.rounds >= 45)
        session.attend(False)
        wait_until(lambda: session.worker.progress.phase == "paused")
        return session

    yield make
    for session in sessions:
        session.close()
        session.worker.stop(timeout=5)


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def grid_tables(tmp_path: Path) -> list[str]:
    """Options for 64 units of 10 people, with plans of four districts: rows, and rows that are unequal."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    cells = [(i, j) for i in range(8) for j in range(8)]
    unequal = [0, 0, 0, 1, 1, 2, 2, 3]
    lines = [f"{i}{j},10,{i // 2},{unequal[i]}\n" for i, j in cells]
    nodes.write_text("GEOID20,pop20,even,uneven\n" + "".join(lines))
    pairs = [(a, b) for a in cells for b in cells if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    edges.write_text("u,v\n" + "".join(f"{a[0]}{a[1]},{b[0]}{b[1]}\n" for a, b in pairs))
    testimonies = tmp_path / "testimonies.csv"
    testimonies.write_text("testimony,GEOID20\na,00\na,01\nb,33\nb,43\nb,53\n")
    return ["--units", str(nodes), "--edges", str(edges), "--testimonies", str(testimonies)]
