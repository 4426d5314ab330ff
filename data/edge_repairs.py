"""Edges that the user adds, cuts, or lets be found to the nearest unit."""

from __future__ import annotations

from collections.abc import Sequence

import geopandas as gpd
import numpy as np
from numpy.typing import NDArray

from bottomup.data.adjacency import components
from bottomup.data.checks import nearest_outside
from bottomup.data.findings import Findings
from bottomup.data.identifiers import UnitMatcher
from bottomup.data.reading import refuse_unknown
from bottomup.data.repairs import EDGE_ACTIONS, Repair

__all__ = ["repair_edges"]


def repair_edges(
    ids: Sequence[str],
    edges: NDArray[np.int32],
    shared_perimeter: NDArray[np.float64] | None,
    geometry: gpd.GeoSeries | None,
    repairs: Sequence[Repair],
    findings: Findings,
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, tuple[Repair, ...]]:
    """Change the dual graph as the user chose, one repair after the other.

    Parameters
    ----------
    ids : sequence of str
    edges : int32 array, shape (n_edges, 2)
    shared_perimeter : float64 array, shape (n_edges,), or None
    geometry : GeoSeries, length n_units, or None
        For the way to the nearest unit.
    repairs : sequence of Repair
        Those of other kinds are left alone.
    findings : Findings
        Takes repairs that cannot be made, or change nothing.

    Returns
    -------
    edges : int32 array, shape (n_edges, 2)
    shared_perimeter : float64 array, shape (n_edges,), or None
        0 for edges that were added.
    repairs : tuple of Repair
        As they were made: each ``join`` names the two units that it made neighbours.
    """
    matcher = UnitMatcher(ids)
    lengths = {
        (int(u), int(v)): 0.0 if shared_perimeter is None else float(shared_perimeter[row])
        for row, (u, v) in enumerate(edges)
    }
    made: list[Repair] = []
    for repair in repairs:
        if repair.action not in EDGE_ACTIONS:
            made.append(repair)
            continue
        named = [unit for unit in (repair.subject, repair.neighbour) if unit]
        unknown = [unit for unit in named if unit not in matcher]
        if unknown:
            refuse_unknown(repair.action, unknown, findings)
            continue
        ends = [matcher.position(unit) for unit in named]
        if len(ends) == 1:
            pair = _nearest(ids, lengths, ends[0], geometry, findings)
            if pair is None:
                continue
            ends, metres = [pair[0], pair[1]], pair[2]
            repair = repair._replace(
                subject=ids[ends[0]],
                neighbour=ids[ends[1]],
                why=repair.why or f"nearest to the piece of {repair.subject}, {metres / 1000:,.1f} km away",
            )
        else:
            repair = repair._replace(subject=ids[ends[0]], neighbour=ids[ends[1]])
        edge = (min(ends), max(ends))
        is_there = edge in lengths
        if edge[0] == edge[1] or is_there != (repair.action == "cut-edge"):
            findings.add(
                "look",
                "repair_needless",
                f"repair {repair.action} of {ids[ends[0]]} and {ids[ends[1]]} changes nothing: they are "
                f"{'neighbours already' if is_there else 'no neighbours'}",
                "Leave its row out of the log of repairs.",
                [ids[end] for end in ends],
            )
        elif is_there:
            del lengths[edge]
        else:
            lengths[edge] = 0.0
        made.append(repair)
    pairs = sorted(lengths)
    perimeter = None if shared_perimeter is None else np.array([lengths[pair] for pair in pairs])
    return np.array(pairs, dtype=np.int32).reshape(-1, 2), perimeter, tuple(made)


def _nearest(
    ids: Sequence[str],
    lengths: dict[tuple[int, int], float],
    unit: int,
    geometry: gpd.GeoSeries | None,
    findings: Findings,
) -> tuple[int, int, float] | None:
    """The closest pair of a unit of this unit's piece and one outside of it."""
    if geometry is None:
        findings.settle(
            "repair_needs_shapes",
            "repair join looks for the nearest unit, and the map has no shapes",
            "Give shapes, or name both units with `--repair add-edge ID ID`.",
            [ids[unit]],
        )
        return None
    here = ~geometry.isna().to_numpy()
    pieces = components(len(ids), np.array(sorted(lengths), dtype=np.int32).reshape(-1, 2))
    members = np.flatnonzero((pieces == pieces[unit]) & here)
    others = np.flatnonzero((pieces != pieces[unit]) & here)
    if not len(members) or not len(others):
        findings.add(
            "look",
            "repair_needless",
            f"repair join of {ids[unit]} changes nothing: no unit lies outside of its piece",
            "Leave its row out of the log of repairs.",
            [ids[unit]],
        )
        return None
    return nearest_outside(geometry, members, others)
