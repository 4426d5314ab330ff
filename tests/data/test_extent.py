"""What one testimony covers, against its definition."""

from __future__ import annotations

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data.extent import extent_of
from bottomup.data.testimonies import EMPTY, PARTLY_OUTSIDE, USED, build_testimonies

N_ROWS, N_COLUMNS = 4, 5
N = N_ROWS * N_COLUMNS
SETS = st.lists(st.sets(st.integers(0, N - 1)), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def grid(make_grid):
    return make_grid(N_ROWS, N_COLUMNS, population=list(range(1, N + 1)))


def submit(shapes):
    status = [USED if own else EMPTY for own in shapes]
    return build_testimonies({f"t{n}": own for n, own in enumerate(shapes)}, status)


@settings(deadline=None, max_examples=60)
@given(shapes=SETS, cut=st.sets(st.integers(0, 30), max_size=8))
def test_units_people_and_pieces_by_their_definition(grid, shapes, cut):
    grid = dataclasses.replace(grid, edges=np.delete(grid.edges, sorted(cut), axis=0))
    graph = nx.Graph(grid.edges.tolist())
    graph.add_nodes_from(range(N))
    submitted = submit(shapes)
    for number, own in enumerate(shapes):
        found = extent_of(submitted, grid, f"t{number}")
        assert found.units.tolist() == sorted(own)
        assert found.ids == tuple(grid.ids[unit] for unit in sorted(own))
        assert found.population.tolist() == [unit + 1 for unit in sorted(own)]
        pieces = {frozenset(piece) for piece in nx.connected_components(graph.subgraph(own))}
        assert {frozenset(found.units[found.piece == p].tolist()) for p in range(found.n_pieces)} == pieces
        # Pieces are numbered in the order of their first units.
        firsts = [found.piece.tolist().index(piece) for piece in range(found.n_pieces)]
        assert firsts == sorted(firsts)


@settings(deadline=None, max_examples=60)
@given(shapes=SETS, upper=st.integers(1, 60), outside=st.sets(st.integers(0, 5)))
def test_every_status_by_its_definition(grid, shapes, upper, outside):
    """Several things may be said of one; of copies each names the first with the same units."""
    status = [
        EMPTY if not own else PARTLY_OUTSIDE if number in outside else USED
        for number, own in enumerate(shapes)
    ]
    submitted = build_testimonies({f"t{n}": own for n, own in enumerate(shapes)}, status)
    for number, said in enumerate(submitted.statuses(grid.population, upper)):
        own = shapes[number]
        first = shapes.index(own)
        expected = {
            "empty on this map": not own,
            "partly outside": bool(own) and number in outside,
            "larger than a district": sum(unit + 1 for unit in own) > upper,
            f"duplicate of t{first}": bool(own) and first != number,
        }
        words = [text for text, holds in expected.items() if holds] or ["used"]
        assert said == "; ".join(words)
