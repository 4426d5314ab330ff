"""The elimination order and the pattern of the Cholesky factor of the whole dual graph."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bottomup.sampler.types import Factor, IntArray

__all__ = ["build_factor", "copy_scratch"]


def build_factor(n_units: int, edges: IntArray) -> Factor:
    """Order the units so that elimination fills in little, and find where entries can appear.

    The order is the minimum degree order of SuperLU. The pattern is read off the factor of Laplacian plus
    identity: it is an M-matrix, whose fill is negative everywhere and so never cancels.

    Parameters
    ----------
    n_units : int
    edges : int32 array, shape (m, 2)

    Returns
    -------
    Factor
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
    return Factor(
        unit_at=unit_at,
        position_of=position_of,
        column_start=lower.indptr.astype(np.int64),
        row=lower.indices.astype(np.int32),
        row_start=by_row.indptr.astype(np.int64),
        row_column=by_row.indices.astype(np.int32),
        row_entry=by_row.data.astype(np.int64) - 1,
        pivot=np.zeros(n_units),
        value=np.zeros(n_entries),
        work=np.zeros(n_units),
    )


def copy_scratch(factor: Factor) -> Factor:
    """The same factor with scratch arrays of its own, for one more chain."""
    return factor._replace(
        pivot=np.zeros_like(factor.pivot),
        value=np.zeros_like(factor.value),
        work=np.zeros_like(factor.work),
    )
