"""Log tree counts: how many states of the walk stand for one plan.

By Kirchhoff's theorem a connected graph has as many spanning trees as any first minor of its Laplacian. With
a Cholesky factorisation that leaves the last vertex of the elimination order out, the log count is the sum of
the logs of the other pivots. A district's Laplacian is eliminated in the one order that was computed for the
whole dual graph: by the fill-path theorem its factor has no entry outside the pattern of the whole graph's.
"""

import numpy as np

from bottomup.sampler.jit import kernel

__all__ = ["count_district_trees", "count_multigraph_trees", "update_tree_counts"]


@kernel
def count_district_trees(graph, factor, district, label):
    """Log number of spanning trees of the units whose ``district`` is ``label``; they must be connected.

    A left-looking square-root-free Cholesky factorisation, column by column.
    """
    n = district.shape[0]
    work, value, pivot = factor.work, factor.value, factor.pivot
    log_count, last = 0.0, 0.0
    for j in range(n):
        unit = factor.unit_at[j]
        if district[unit] != label:
            continue
        # The last pivot is that of the vertex left out: zero but for rounding.
        log_count += last
        diagonal = 0.0
        for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
            there = graph.neighbor[i]
            if district[there] == label:
                diagonal += 1.0
                if factor.position_of[there] > j:
                    work[factor.position_of[there]] -= 1.0
        for i in range(factor.row_start[j], factor.row_start[j + 1]):
            column = factor.row_column[i]
            if district[factor.unit_at[column]] != label:
                continue
            entry = factor.row_entry[i]
            if value[entry] == 0.0:
                continue
            scaled = value[entry] * pivot[column]
            diagonal -= value[entry] * scaled
            for e in range(entry + 1, factor.column_start[column + 1]):
                work[factor.row[e]] -= value[e] * scaled
        pivot[j] = diagonal
        last = np.log(max(diagonal, 1e-300))
        for e in range(factor.column_start[j], factor.column_start[j + 1]):
            value[e] = work[factor.row[e]] / diagonal if work[factor.row[e]] != 0.0 else 0.0
            work[factor.row[e]] = 0.0
    return log_count


@kernel
def count_multigraph_trees(between, dense):
    """Log number of spanning trees of the district multigraph, ``between`` counting its parallel edges.

    ``dense`` is overwritten.
    """
    k = between.shape[0]
    for a in range(k):
        dense[a, a] = 0.0
        for b in range(k):
            if a != b:
                dense[a, b] = -between[a, b]
                dense[a, a] += between[a, b]
    log_count = 0.0
    for a in range(k - 1):
        log_count += np.log(dense[a, a])
        for b in range(a + 1, k - 1):
            ratio = dense[b, a] / dense[a, a]
            for c in range(a + 1, k - 1):
                dense[b, c] -= ratio * dense[a, c]
    return log_count


@kernel
def update_tree_counts(graph, factor, state):
    """Count anew the districts marked as changed, and the multigraph; return the change of the log total."""
    tallies, scratch = state.tallies, state.scratch
    k = tallies.population.shape[0]
    change = 0.0
    for d in range(k):
        if scratch.changed[d]:
            new = count_district_trees(graph, factor, state.forest.district, d)
            change += new - tallies.log_trees[d]
            tallies.log_trees[d] = new
    new = count_multigraph_trees(tallies.between, scratch.dense)
    change += new - tallies.log_trees[k]
    tallies.log_trees[k] = new
    return change
