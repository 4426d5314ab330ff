"""One sparse Cholesky factor for the Laplacians of all districts, kept up to date as units change hands.

The matrix is A = sum over districts of L_d + e_g e_g', where L_d is the Laplacian of the district's own
graph and g its *ground*, any of its units. det(L_d + e_g e_g') is the number of spanning trees of the
district: it is linear in the entry (g, g), L_d is singular, and what remains is the first minor at g
(Kirchhoff). So log det A is the sum of the districts' log tree counts. A is block diagonal, and by the
fill-path theorem its factor L D L' has no entry outside the pattern of the whole dual graph's.

Moving units from a district to another changes A by a few terms +-(e_i - e_j)(e_i - e_j)', one for each edge
that is cut or joined. The determinant then changes by det(I + C U' A^-1 U), with the terms' vectors as
columns of U and their signs in C. A^-1 is needed between a few units only: A^-1_ij is the sum over columns c
of y_ic y_jc / d_c with L y_i = e_i, and y_i is zero off the way from i to the root of the elimination tree.

The loops over ``q`` run over several right-hand sides or terms at once; they are contiguous in memory, and
the compiler turns them into vector instructions.
"""

import numpy as np

from bottomup.sampler.jit import kernel

__all__ = [
    "GAIN",
    "LANES",
    "LEAD",
    "SCALE",
    "SIGN",
    "climb",
    "factor_district",
    "log_det_ratio",
    "solve_between",
    "update_factor",
]

LANES = 8
"""Right-hand sides are rounded up to a multiple of this."""
SIGN, SCALE, LEAD, GAIN = 0, 1, 2, 3
"""Rows of the terms' coefficients."""


@kernel
def factor_district(graph, weight, pattern, value, pivot, work, district, label):
    """Factor the block of one district anew, column by column (left-looking); return its ground.

    The ground is the unit eliminated last. ``weight`` is that of the dual graph's edges, float64, shape (m,).
    ``work`` must be zero and is left so.
    """
    position_of, unit_at = pattern.position_of, pattern.unit_at
    column_start, row_of = pattern.column_start, pattern.row
    last = -1
    for j in range(district.shape[0]):
        unit = unit_at[j]
        if district[unit] != label:
            continue
        last = j
        diagonal = 0.0
        for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
            there = graph.neighbor[i]
            if district[there] == label:
                diagonal += weight[graph.edge[i]]
                if position_of[there] > j:
                    work[position_of[there]] -= weight[graph.edge[i]]
        for i in range(pattern.row_start[j], pattern.row_start[j + 1]):
            entry, column = pattern.row_entry[i], pattern.row_column[i]
            if district[unit_at[column]] != label:
                # Left over from a time when the two units shared a district.
                value[entry] = 0.0
                continue
            if value[entry] == 0.0:
                continue
            scaled = value[entry] * pivot[column]
            diagonal -= value[entry] * scaled
            for e in range(entry + 1, column_start[column + 1]):
                work[row_of[e]] -= value[e] * scaled
        pivot[j] = diagonal
        scale = 1.0 / diagonal if diagonal != 0.0 else 0.0
        for e in range(column_start[j], column_start[j + 1]):
            row = row_of[e]
            value[e] = work[row] * scale
            work[row] = 0.0
    # The last pivot of a singular matrix is 0, but for rounding; the ground adds 1.
    pivot[last] = 1.0
    return unit_at[last]


@kernel
def climb(above, position_of, units, first, last, stamp, now, segment, way, begin):
    """Put the ways from some units to the root of the elimination tree before ``way[begin:]``.

    Children come before parents. Positions stamped ``now`` already lie on a way climbed before; a way ends
    where it meets one of those, which is why later ones are put in front. Returns where the whole begins.
    """
    for i in range(first, last):
        n_new = 0
        j = position_of[units[i]]
        while j >= 0 and stamp[j] != now:
            stamp[j] = now
            segment[n_new] = j
            n_new += 1
            j = above[j]
        begin -= n_new
        for s in range(n_new):
            way[begin + s] = segment[s]
    return begin


@kernel
def solve_between(pattern, value, pivot, way, begin, units, first, last, bundle, inverse):
    """Add the entries of A^-1 between some units of one block to ``inverse[first:last, first:last]``.

    Parameters
    ----------
    pattern : Pattern
    value, pivot : float64 arrays
        The factor.
    way : int32 array, shape (n,)
        From ``begin`` on, the positions on the ways of the units to the root, children first.
    units : int32 array
        The units are ``units[first:last]``.
    bundle : float64 array, shape (n, at least last - first rounded up to LANES)
        Must be zero and is left so.
    inverse : float64 array
        Columns up to ``last - first`` rounded up to LANES are touched, by zero past ``last``.
    """
    column_start, row_of = pattern.column_start, pattern.row
    n = last - first
    width = (n + LANES - 1) // LANES * LANES
    for p in range(n):
        bundle[pattern.position_of[units[first + p]], p] = 1.0
    for w in range(begin, way.shape[0]):
        j = way[w]
        size = 0.0
        for q in range(width):
            size += abs(bundle[j, q])
        if size == 0.0:
            # A column of another district.
            continue
        for e in range(column_start[j], column_start[j + 1]):
            factor = value[e]
            if factor != 0.0:
                row = row_of[e]
                for q in range(width):
                    bundle[row, q] -= factor * bundle[j, q]
        weight = 1.0 / pivot[j]
        for p in range(n):
            scaled = bundle[j, p] * weight
            if scaled != 0.0:
                for q in range(width):
                    inverse[first + p, first + q] += scaled * bundle[j, q]
        for q in range(width):
            bundle[j, q] = 0.0


@kernel
def log_det_ratio(ends, coefficient, n_terms, inverse, small):
    """Log of det(I + C U' A^-1 U) by Gaussian elimination with row exchanges.

    Term t is sign_t (e_i - e_j)(e_i - e_j)', or sign_t e_i e_i' when j is negative, with i and j the places
    ``ends[0, t]`` and ``ends[1, t]`` in ``inverse``. ``small`` is overwritten.
    """
    for s in range(n_terms):
        one, other = ends[0, s], ends[1, s]
        for t in range(n_terms):
            found = inverse[one, ends[0, t]]
            if other >= 0:
                found -= inverse[other, ends[0, t]]
            if ends[1, t] >= 0:
                found -= inverse[one, ends[1, t]]
                if other >= 0:
                    found += inverse[other, ends[1, t]]
            small[s, t] = coefficient[SIGN, s] * found
        small[s, s] += 1.0
    log_ratio = 0.0
    for a in range(n_terms):
        best = a
        for b in range(a + 1, n_terms):
            if abs(small[b, a]) > abs(small[best, a]):
                best = b
        if best != a:
            for c in range(a, n_terms):
                kept = small[a, c]
                small[a, c] = small[best, c]
                small[best, c] = kept
        log_ratio += np.log(abs(small[a, a]))
        for b in range(a + 1, n_terms):
            ratio = small[b, a] / small[a, a]
            if ratio != 0.0:
                for c in range(a + 1, n_terms):
                    small[b, c] -= ratio * small[a, c]
    return log_ratio


@kernel
def update_factor(pattern, value, pivot, way, begin, units, ends, coefficient, first, last, bundle):
    """Add the terms ``first`` to ``last`` - 1 to the matrix, one after another, in one pass over the factor.

    Each is a rank-one change by method C1 of Gill, Golub, Murray and Saunders (Methods for modifying matrix
    factorizations, Mathematics of Computation 28, 1974). What a term does to a column rests on the terms
    before it at that column and on its own earlier columns, so the columns may be the outer loop. The matrix
    must be positive definite after every single term.

    Parameters are those of :func:`solve_between` and :func:`log_det_ratio`.
    """
    column_start, row_of = pattern.column_start, pattern.row
    n = last - first
    for q in range(n):
        t = first + q
        bundle[pattern.position_of[units[ends[0, t]]], q] = 1.0
        if ends[1, t] >= 0:
            bundle[pattern.position_of[units[ends[1, t]]], q] = -1.0
        coefficient[SCALE, q] = coefficient[SIGN, t]
    for w in range(begin, way.shape[0]):
        j = way[w]
        is_touched = False
        after = pivot[j]
        for q in range(n):
            lead = bundle[j, q]
            gain = 0.0
            if lead != 0.0:
                is_touched = True
                bundle[j, q] = 0.0
                before = after
                after = before + coefficient[SCALE, q] * lead * lead
                gain = coefficient[SCALE, q] * lead / after
                coefficient[SCALE, q] *= before / after
            coefficient[LEAD, q] = lead
            coefficient[GAIN, q] = gain
        if not is_touched:
            continue
        pivot[j] = after
        for e in range(column_start[j], column_start[j + 1]):
            row = row_of[e]
            entry = value[e]
            for q in range(n):
                x = bundle[row, q] - coefficient[LEAD, q] * entry
                bundle[row, q] = x
                entry += coefficient[GAIN, q] * x
            value[e] = entry
