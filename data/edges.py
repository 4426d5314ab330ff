"""Neighbours from a table."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bottomup.data.errors import DataError, count, list_some
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.tables import read_rows

_END_COLUMNS = (("u", "v"), ("source", "target"))
# Lengths in degrees or of unknown kind are left alone.
_PERIMETER = re.compile(r"(shared_)?(perim|perimeter|length|boundary)(_m|_metres|_meters)?")


def read_edges(
    path: str | Path, matcher: UnitMatcher
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    """Read the dual graph from a table of pairs of unit ids.

    Parameters
    ----------
    path : path
        Columns ``u, v`` or ``source, target``, otherwise the first two; a header is not required. A pair may
        be given twice, once from each end. A column such as ``shared_perim_m`` holds metres.
    matcher : UnitMatcher
        The units.

    Returns
    -------
    edges : int32 array, shape (n_edges, 2)
        The smaller position first; rows unique, in lexicographic order.
    shared_perimeter : float64 array, shape (n_edges,), or None
        None when no column holds it for every edge.
    """
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

    names = [(row[first], row[second]) for row in body]
    ends = np.column_stack([matcher.positions(name[side] for name in names) for side in (0, 1)])
    unknown = sorted({names[row][side] for row, side in zip(*np.nonzero(ends < 0), strict=True)})
    if unknown:
        raise DataError(
            "unknown_edge_unit",
            f"columns {first + 1} and {second + 1} of {str(path)!r} name {count(len(unknown), 'id')} "
            "not on the map",
            remedy=f"Ids there look like {matcher.example!r}. The ends of edges are taken from columns named "
            "u and v, or source and target, otherwise from the first two.",
            units=unknown,
        )
    loops = ends[:, 0] == ends[:, 1]
    if loops.any():
        raise DataError(
            "self_loop",
            f"{str(path)!r} joins units to themselves in {count(int(loops.sum()), 'row')}",
            remedy="Remove these rows.",
            units=[names[row][0] for row in np.flatnonzero(loops)],
        )
    edges, rows_kept = np.unique(np.sort(ends, axis=1), axis=0, return_index=True)
    lengths = None if perimeter is None else _lengths([row[perimeter] for row in body])
    return edges.astype(np.int32), None if lengths is None else lengths[rows_kept]


def _lengths(cells: list[str]) -> NDArray[np.float64] | None:
    try:
        lengths = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    return lengths if np.isfinite(lengths).all() and (lengths >= 0).all() else None
