"""Neighbours from a table, or from a graph in JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.findings import Findings
from bottomup.data.graph_files import GraphFile, read_graph
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.tables import read_rows

_END_COLUMNS = (("u", "v"), ("source", "target"))
# Lengths in degrees or of unknown kind are left alone.
_PERIMETER = re.compile(r"(shared_)?(perim|perimeter|length|boundary)(_m|_metres|_meters)?")


def read_edges(
    path: str | Path, matcher: UnitMatcher, findings: Findings, dropped: Sequence[str] = ()
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    """Read the dual graph from a table of pairs of unit ids, or from a graph in JSON.

    Parameters
    ----------
    path : path
        A graph as `bottomup.data.graph_files` reads it; otherwise a table with the columns ``u, v`` or
        ``source, target``, otherwise its first two; a header is not required. A pair may be given twice, once
        from each end. A column such as ``shared_perim_m`` holds metres.
    matcher : UnitMatcher
        The units.
    findings : Findings
        Takes what is wrong with single edges.
    dropped : sequence of str
        Units that were left out, and their edges with them.

    Returns
    -------
    edges : int32 array, shape (n_edges, 2)
        The smaller position first; rows unique, in lexicographic order.
    shared_perimeter : float64 array, shape (n_edges,), or None
        None when no column holds it for every edge.

    Raises
    ------
    DataError
        If the file cannot be read, or rows are incomplete.
    """
    graph = read_graph(path)
    if graph is not None:
        note_virtual(graph, path, findings)
        return join_units(graph.pairs_of(matcher), matcher, path, findings, dropped)
    rows = list(read_rows(path))
    first, second, perimeter = 0, 1, None
    n_header = 0
    if rows and all(matcher.may_be_header(cell) for cell in rows[0][:2]):
        n_header = 1
        header = [name.lower() for name in rows[0]]
        for left, right in _END_COLUMNS:
            if left in header and right in header:
                first, second = header.index(left), header.index(right)
        perimeter = next((i for i, name in enumerate(header) if _PERIMETER.fullmatch(name)), None)
    body = rows[n_header:]
    width = max(first, second, perimeter or 0) + 1
    short = [
        str(number)
        for number, row in enumerate(body, start=n_header + 1)
        if len(row) < width or not row[first] or not row[second]
    ]
    if short or not body:
        raise DataError(
            "edges_columns",
            f"{str(path)!r} must hold two unit ids in every row, but "
            + (
                f"not in these (blank lines do not count): {list_some(short)}."
                if short
                else "holds no pairs."
            ),
            remedy="Give a table with a row for each pair of neighbours.",
        )

    lengths = None if perimeter is None else _lengths([row[perimeter] for row in body])
    return join_units([(row[first], row[second]) for row in body], matcher, path, findings, dropped, lengths)


def join_units(
    names: Sequence[tuple[str, str]],
    matcher: UnitMatcher,
    path: str | Path,
    findings: Findings,
    dropped: Sequence[str] = (),
    lengths: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    """Turn pairs of ids into edges; a pair may be given twice, once from each end.

    Ids that are not on the map and units joined to themselves are findings, and left out; so are edges of
    `dropped` units, without a word.
    """
    ends = np.column_stack([matcher.positions(pair[side] for pair in names) for side in (0, 1)])
    strange = {names[row][side] for row, side in zip(*np.nonzero(ends < 0), strict=True)}
    left_out = UnitMatcher(dropped)
    unknown = sorted(unit for unit in strange if unit not in left_out)
    if unknown:
        findings.settle(
            "unknown_edge_unit",
            f"the edges of {str(path)!r} name {count(len(unknown), 'id')} not on the map",
            f"Ids there look like {matcher.example!r}. In a table the ends of edges are taken from columns "
            "named u and v, or source and target, otherwise from the first two.",
            unknown,
        )
    known = (ends >= 0).all(axis=1)
    loops = known & (ends[:, 0] == ends[:, 1])
    if loops.any():
        findings.settle(
            "self_loop",
            f"{str(path)!r} joins units to themselves in {count(int(loops.sum()), 'row')}",
            "Remove these rows.",
            [names[row][0] for row in np.flatnonzero(loops).tolist()],
        )
    used = np.flatnonzero(known & ~loops)
    edges, rows_kept = np.unique(np.sort(ends[used], axis=1), axis=0, return_index=True)
    return edges.astype(np.int32).reshape(-1, 2), None if lengths is None else lengths[used][rows_kept]


def note_virtual(graph: GraphFile, path: str | Path, findings: Findings) -> None:
    """Note that a node outside of the map was left out."""
    if graph.n_virtual:
        findings.add(
            "note",
            "virtual_node",
            f"{str(path)!r} joins units to a node for what is outside of the map in "
            f"{count(graph.n_virtual, 'place')}; these edges were left out",
        )


def _lengths(cells: list[str]) -> NDArray[np.float64] | None:
    try:
        lengths = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    return lengths if np.isfinite(lengths).all() and (lengths >= 0).all() else None
