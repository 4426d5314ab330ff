"""Rooted district trees in arrays: cutting, rerooting, grafting, and the cycle that an edge closes.

The spanning tree with its marked edges is kept as one rooted tree per district; a marked edge joins two of
them and lies in neither. Costs are those of walking up a tree, plus one visit of each unit that changes
district.
"""

from bottomup.sampler.jit import kernel

__all__ = [
    "MARKED",
    "OUTSIDE",
    "TREE",
    "cut",
    "find_cycle",
    "link",
    "reroot",
    "root_of",
    "swap_kinds",
    "tree_degree",
]

OUTSIDE, TREE, MARKED = 0, 1, 2


@kernel
def root_of(forest, unit):
    """Root of the tree that holds ``unit``."""
    while forest.parent[unit] >= 0:
        unit = forest.parent[unit]
    return unit


@kernel
def cut(forest, child):
    """Take the part below the edge from ``child`` to its parent out of its tree; ``child`` is its root."""
    lost = forest.subtree_population[child]
    unit = forest.parent[child]
    while unit >= 0:
        forest.subtree_population[unit] -= lost
        unit = forest.parent[unit]
    forest.parent[child] = -1
    forest.parent_edge[child] = -1


@kernel
def reroot(forest, unit):
    """Make ``unit`` the root of its tree by turning round the edges on its way up."""
    whole = forest.subtree_population[root_of(forest, unit)]
    below, below_edge = -1, -1
    below_population = 0
    while unit >= 0:
        above, above_edge = forest.parent[unit], forest.parent_edge[unit]
        own = forest.subtree_population[unit]
        forest.parent[unit] = below
        forest.parent_edge[unit] = below_edge
        # What hangs below the unit now is everything but the part that led up to it.
        forest.subtree_population[unit] = whole - below_population
        below, below_edge, below_population = unit, above_edge, own
        unit = above


@kernel
def link(forest, root, onto, edge):
    """Hang the tree rooted at ``root`` below the unit ``onto`` of another tree by ``edge``."""
    gained = forest.subtree_population[root]
    forest.parent[root] = onto
    forest.parent_edge[root] = edge
    unit = onto
    while unit >= 0:
        forest.subtree_population[unit] += gained
        unit = forest.parent[unit]


@kernel
def swap_kinds(forest, entering, leaving):
    """Make ``entering`` a plain tree edge and give the tree edge ``leaving`` the kind and slot it had."""
    kind, slot = forest.kind[entering], forest.slot[entering]
    if kind == OUTSIDE:
        forest.outside[slot] = leaving
    else:
        forest.marked[slot] = leaving
    forest.kind[leaving], forest.slot[leaving] = kind, slot
    forest.kind[entering] = TREE


@kernel
def tree_degree(graph, forest, unit):
    """Number of tree edges at ``unit``, marked ones included."""
    degree = 0
    for i in range(graph.indptr[unit], graph.indptr[unit + 1]):
        if forest.kind[graph.edge[i]] != OUTSIDE:
            degree += 1
    return degree


@kernel
def _tree_path(forest, scratch, enter, leave, segment, n_path):
    """Append the tree edges between two units of one district to the path; return its new length."""
    scratch.clock[0] += 1
    now = scratch.clock[0]
    unit = enter
    while unit >= 0:
        scratch.stamp[unit] = now
        unit = forest.parent[unit]
    meet = leave
    while scratch.stamp[meet] != now:
        scratch.path_child[n_path] = meet
        scratch.path_segment[n_path] = segment
        scratch.path_near[n_path] = 0
        n_path += 1
        meet = forest.parent[meet]
    unit = enter
    while unit != meet:
        scratch.path_child[n_path] = unit
        scratch.path_segment[n_path] = segment
        scratch.path_near[n_path] = 1
        n_path += 1
        unit = forest.parent[unit]
    return n_path


@kernel
def _find_route(graph, forest, scratch, start, end):
    """Fill ``route`` with the way between the districts of two units; return the number of districts on it.

    ``route[0]`` holds the districts in order, ``route[1]`` and ``route[2]`` the units where the cycle enters
    and leaves each of them. The search goes from the end back to the start, along the tree of districts.
    """
    district, marked, route = forest.district, forest.marked, scratch.route
    goal = district[start]
    # Depth-first search from the district of ``end``; the stack is the route itself, written backwards.
    k = route.shape[1]
    route[0, 0] = district[end]
    route[1, 0] = -1
    route[2, 0] = 0
    depth = 0
    while route[0, depth] != goal:
        here = route[0, depth]
        found = False
        while route[2, depth] < k - 1:
            edge = marked[route[2, depth]]
            route[2, depth] += 1
            if edge == route[1, depth]:
                continue
            one, other = district[graph.tail[edge]], district[graph.head[edge]]
            if one == here or other == here:
                depth += 1
                route[0, depth] = other if one == here else one
                route[1, depth] = edge
                route[2, depth] = 0
                found = True
                break
        if not found:
            depth -= 1
    # Turn it round: route[1, i] is the marked edge between the districts i - 1 and i of the search.
    n_route = depth + 1
    for i in range(n_route // 2):
        j = n_route - 1 - i
        route[0, i], route[0, j] = route[0, j], route[0, i]
    for i in range(1, n_route):
        edge = route[1, n_route - i]
        route[2, i - 1] = edge
    for i in range(n_route - 1):
        edge = route[2, i]
        near, far = graph.tail[edge], graph.head[edge]
        if district[near] != route[0, i]:
            near, far = far, near
        route[2, i] = near
        route[1, i + 1] = far
        scratch.edge_stamp[edge] = scratch.clock[0]
    route[1, 0] = start
    route[2, n_route - 1] = end
    return n_route


@kernel
def find_cycle(graph, forest, scratch, edge):
    """The cycle that an edge outside the tree closes.

    Fills ``path_*`` with its unmarked tree edges and ``route`` with the districts along it, entered at the
    edge's tail and left at its head.

    Returns
    -------
    n_path, n_route : int
        Number of unmarked tree edges on the cycle, and of districts; it has ``n_route - 1`` marked edges.
    """
    start, end = graph.tail[edge], graph.head[edge]
    scratch.clock[0] += 1
    cycle = scratch.clock[0]
    if forest.district[start] == forest.district[end]:
        scratch.route[0, 0] = forest.district[start]
        scratch.route[1, 0] = start
        scratch.route[2, 0] = end
        n_route = 1
    else:
        n_route = _find_route(graph, forest, scratch, start, end)
    n_path = 0
    for i in range(n_route):
        n_path = _tree_path(forest, scratch, scratch.route[1, i], scratch.route[2, i], i, n_path)
    for i in range(n_path):
        scratch.edge_stamp[forest.parent_edge[scratch.path_child[i]]] = cycle
    scratch.edge_stamp[edge] = cycle
    return n_path, n_route
