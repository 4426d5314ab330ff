"""Trees and marks drawn anew given the plan: a Gibbs step.

All states that stand for a plan have the same probability, so drawing one of them uniformly leaves the law as
it is, whatever the state before. They are a spanning tree of each district and a spanning tree of the
district multigraph, whose edges are the cut edges; both are drawn by Wilson's algorithm.
"""

from bottomup.sampler.jit import kernel
from bottomup.sampler.kernels.draws import draw_below
from bottomup.sampler.kernels.forest import MARKED, OUTSIDE, TREE
from bottomup.sampler.kernels.trees import draw_tree, sum_below

__all__ = ["redraw"]


@kernel
def _list_edges(forest):
    """Write kinds, slots and the list of edges outside the tree from the parents and the marks."""
    kind, slot = forest.kind, forest.slot
    for edge in range(kind.shape[0]):
        kind[edge] = OUTSIDE
    for i in range(forest.marked.shape[0]):
        kind[forest.marked[i]] = MARKED
        slot[forest.marked[i]] = i
    for unit in range(forest.parent_edge.shape[0]):
        if forest.parent_edge[unit] >= 0:
            kind[forest.parent_edge[unit]] = TREE
    n_outside = 0
    for edge in range(kind.shape[0]):
        if kind[edge] == OUTSIDE:
            forest.outside[n_outside] = edge
            slot[edge] = n_outside
            n_outside += 1


@kernel
def _draw_marks(rng, graph, forest, workshop):
    """A uniform spanning tree of the district multigraph, as marked edges."""
    district, cut_edges, next_edge = forest.district, workshop.cut_edges, workshop.next_edge
    first, fill = workshop.first, workshop.fill
    k = next_edge.shape[0]
    # Cut edges by district, each under both of its districts.
    for d in range(k + 1):
        first[d] = 0
    for edge in range(graph.tail.shape[0]):
        one, other = district[graph.tail[edge]], district[graph.head[edge]]
        if one != other:
            first[one + 1] += 1
            first[other + 1] += 1
    for d in range(k):
        first[d + 1] += first[d]
        fill[d] = first[d]
    for edge in range(graph.tail.shape[0]):
        one, other = district[graph.tail[edge]], district[graph.head[edge]]
        if one != other:
            cut_edges[fill[one]] = edge
            fill[one] += 1
            cut_edges[fill[other]] = edge
            fill[other] += 1
    in_tree = workshop.in_multigraph
    for d in range(k):
        in_tree[d] = 0
    in_tree[0] = 1
    n_marks = 0
    for start in range(1, k):
        d = start
        while in_tree[d] == 0:
            edge = cut_edges[first[d] + draw_below(rng, first[d + 1] - first[d])]
            next_edge[d] = edge
            one, other = district[graph.tail[edge]], district[graph.head[edge]]
            d = other if one == d else one
        d = start
        while in_tree[d] == 0:
            in_tree[d] = 1
            edge = next_edge[d]
            forest.marked[n_marks] = edge
            n_marks += 1
            one, other = district[graph.tail[edge]], district[graph.head[edge]]
            d = other if one == d else one


@kernel
def redraw(rng, graph, forest, workshop):
    """Draw one of the states that stand for the current plan, all with the same chance."""
    in_tree, district, order = workshop.in_tree, forest.district, workshop.order
    parent, below = forest.parent, forest.subtree_population
    for unit in range(in_tree.shape[0]):
        in_tree[unit] = 0
    for unit in range(in_tree.shape[0]):
        if in_tree[unit] == 0:
            n_units = draw_tree(
                rng,
                graph,
                graph.equal,
                district,
                district[unit],
                unit,
                parent,
                forest.parent_edge,
                in_tree,
                order,
            )
            sum_below(graph.population, parent, order, n_units, below)
    _draw_marks(rng, graph, forest, workshop)
    _list_edges(forest)
