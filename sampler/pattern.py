"""The elimination order and the pattern of the Cholesky factor of the whole dual graph."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bottomup.sampler.kernels.cholesky import LANES
from bottomup.sampler.types import Cholesky, IntArray, Pattern

__all__ = ["MAX_TERMS", "build_pattern", "make_cholesky"]

MAX_TERMS = 40
"""Terms or places that an update of the factor may have; a multiple of LANES."""


def build_pattern(n_units: int, edges: IntArray) -> Pattern:
    """Order the units so that elimination fills in little, and find where entries can appear.

    The order is the minimum degree order of SuperLU. The pattern is read off the factor of Laplacian plus
    identity: it is an M-matrix, whose fill is negative everywhere and so never cancels.

    Parameters
    ----------
    n_units : int
    edges : int32 array, shape (m, 2)

    Returns
    -------
    Pattern
    """
    tail, head = edges[:, 0], edges[:, 1]
    adjacency = sparse.coo_array((np.ones(len(edges)), (tail, head)), shape=(n_units, n_units)).tocsc()
    adjacency = adjacency + adjacency.T
    degree = np.asarray(adjacency.sum(axis=0)).ravel()
    matrix = sparse.csc_array(sparse.diags_array(degree + 1.0) - adjacency)
    solver = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    if not np.array_equal(solver.perm_r, solver.perm_c):
        raise RuntimeError("SuperLU left the diagonal while ordering a symmetric matrix; no order was found.")
    position_of = np.asarray(solver.perm_c, dtype=np.int32)
    unit_at = np.empty(n_units, dtype=np.int32)
    unit_at[position_of] = np.arange(n_units, dtype=np.int32)
    lower = sparse.csc_array(sparse.tril(solver.L, k=-1))
    lower.sort_indices()
    n_entries = lower.nnz
    by_row = sparse.csc_array(
        (np.arange(1, n_entries + 1), lower.indices, lower.indptr), shape=lower.shape
    ).tocsr()
    by_row.sort_indices()
    height = np.diff(lower.indptr)
    above = np.full(n_units, -1, dtype=np.int32)
    above[height > 0] = lower.indices[lower.indptr[:-1][height > 0]]
    return Pattern(
        unit_at=unit_at,
        position_of=position_of,
        column_start=lower.indptr.astype(np.int64),
        row=lower.indices.astype(np.int32),
        row_start=by_row.indptr.astype(np.int64),
        row_column=by_row.indices.astype(np.int32),
        row_entry=by_row.data.astype(np.int64) - 1,
        above=above,
    )


def make_cholesky(pattern: Pattern, n_districts: int) -> Cholesky:
    """Make room for the factor of one chain; :func:`kernels.determinant.factor_all` fills it."""
    n, n_entries, w = len(pattern.unit_at), len(pattern.row), MAX_TERMS
    return Cholesky(
        value=np.zeros(n_entries),
        pivot=np.zeros(n),
        ground=np.zeros(n_districts, dtype=np.int32),
        drift=np.zeros(1),
        note=np.zeros(8, dtype=np.int64),
        work=np.zeros(n),
        bundle=np.zeros((n, w)),
        way=np.zeros(n, dtype=np.int32),
        segment=np.zeros(n, dtype=np.int32),
        stamp=np.zeros((3, n), dtype=np.int64),
        place=np.zeros(n, dtype=np.int32),
        units=np.zeros(w, dtype=np.int32),
        ends=np.zeros((2, w), dtype=np.int32),
        coefficient=np.zeros((4, w)),
        inverse=np.zeros((w, w + LANES)),
        small=np.zeros((w, w)),
    )
