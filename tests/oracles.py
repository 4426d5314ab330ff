"""Brute force for small maps: slow, obvious, and sharing no code with what it checks."""

from __future__ import annotations

import itertools
from collections import defaultdict

import networkx as nx
import numpy as np


def grid_edges(rows: int, cols: int) -> list[tuple[int, int]]:
    graph = nx.grid_2d_graph(rows, cols)
    number = {cell: cell[0] * cols + cell[1] for cell in graph}
    return sorted(tuple(sorted((number[a], number[b]))) for a, b in graph.edges)


def parts_of(n, edges):
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(n))
    return [frozenset(part) for part in nx.connected_components(graph)]


def all_states(population, edges, n_districts, lower, upper):
    """Every (tree, marks) whose districts are within the bounds, as pairs of frozensets of edges."""
    n = len(population)
    states = []
    for tree in itertools.combinations(edges, n - 1):
        if len(parts_of(n, tree)) > 1:
            continue
        for marks in itertools.combinations(tree, n_districts - 1):
            parts = parts_of(n, set(tree) - set(marks))
            if all(lower <= sum(population[u] for u in part) <= upper for part in parts):
                states.append((frozenset(tree), frozenset(marks)))
    return states


def plan_of(n, state):
    return frozenset(parts_of(n, state[0] - state[1]))


def n_cut(plan, edges):
    where = {u: part for part in plan for u in part}
    return sum(where[u] != where[v] for u, v in edges)


def cycle_of(n, tree, entering):
    graph = nx.Graph(tree)
    graph.add_nodes_from(range(n))
    path = nx.shortest_path(graph, *entering)
    return {tuple(sorted(pair)) for pair in itertools.pairwise(path)} | {entering}


def edges_at(tree, unit):
    return [edge for edge in tree if unit in edge]


def proposals(n, edges, state, step):
    """All the ways a step can go from a state: (chance, chance of the same way back, tree, marks)."""
    tree, marks = state
    outside = [edge for edge in edges if edge not in tree]

    def exchanges():
        for entering in outside:
            cycle = cycle_of(n, tree, entering)
            for leaving in cycle - marks:
                yield cycle, entering, (tree | {entering}) - {leaving}

    def new_marks(tree):
        for mark in marks:
            for end in mark:
                for new in edges_at(tree, end):
                    if new not in marks - {mark}:
                        yield end, new, (marks - {mark}) | {new}

    if step == "mixed":
        for cycle, _, new_tree in exchanges():
            chance = 1 / 2 / len(outside) / len(cycle - marks)
            yield chance, chance, new_tree, marks
        for end, _, changed in new_marks(tree):
            chance = 1 / 2 / len(marks) / 2 / len(edges_at(tree, end))
            yield chance, chance, tree, changed
    else:
        for cycle, entering, new_tree in exchanges():
            for end, new, changed in new_marks(new_tree):
                if new == entering:
                    continue
                draws = 1 / len(outside) / len(marks) / 2
                there = draws / len(cycle - marks) / len(edges_at(new_tree, end))
                back = draws / len(cycle - changed) / len(edges_at(tree, end))
                yield there, back, new_tree, changed


def transition_matrix(n, edges, states, law, step):
    """Metropolis-Hastings, way by way; a way that leads out of the list is a rejection."""
    place = {state: i for i, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for there, back, tree, marks in proposals(n, edges, state, step):
            j = place.get((tree, marks))
            if j is not None and j != i:
                matrix[i, j] += there * min(1.0, law[j] * back / (law[i] * there))
        matrix[i, i] = 1 - matrix[i].sum()
    return matrix


def spanning_trees(nodes, edges):
    inside = [edge for edge in edges if set(edge) <= set(nodes)]
    for tree in itertools.combinations(inside, len(nodes) - 1):
        graph = nx.Graph(tree)
        graph.add_nodes_from(nodes)
        if nx.is_connected(graph):
            yield frozenset(tree)


def plan_proposals(move, plan, edges, population, bounds, testimonies, weight):
    """All the ways a move on plans can go: (chance, new plan, factor of the ratio beside the law, guess).

    The factor is that of Hastings; the guess stands for the early test that a merge-split has to pass.
    """
    lower, upper = bounds
    cut = [edge for edge in edges if not any(set(edge) <= part for part in plan)]

    def part_with(unit, of=plan):
        return next(part for part in of if unit in part)

    def is_valid(parts):
        graph = nx.Graph(edges)
        return all(
            part
            and nx.is_connected(graph.subgraph(part))
            and lower <= sum(population[u] for u in part) <= upper
            for part in parts
        )

    def n_cut_edges(of):
        return sum(not any(set(edge) <= part for part in of) for edge in edges)

    if move in ("flip", "community"):
        groups = testimonies if move == "community" else [[u] for u in range(len(population))]
        covering = defaultdict(list)
        for which, group in enumerate(groups):
            for unit in group:
                covering[unit].append(which)
        chance, chance_back = defaultdict(float), defaultdict(float)
        for edge in cut:
            for unit, other in (edge, edge[::-1]):
                for which in covering[unit]:
                    chance[which, part_with(other)] += 1 / len(cut) / 2 / len(covering[unit])
        for (which, there), there_chance in chance.items():
            group = frozenset(groups[which])
            here = part_with(groups[which][0])
            if not group <= here or not is_valid([here - group, there | group]):
                continue
            new = (plan - {here, there}) | {here - group, there | group}
            for edge in edges:
                for unit, other in (edge, edge[::-1]):
                    if unit in group and other in here - group:
                        chance_back[which, there] += 1 / n_cut_edges(new) / 2 / len(covering[unit])
            yield there_chance, new, chance_back[which, there] / there_chance, None
        return

    def trees_of(nodes):
        trees = {tree: np.prod([weight[edge] for edge in tree]) for tree in spanning_trees(nodes, edges)}
        return trees, sum(trees.values())

    def balanced(tree, nodes):
        for edge in tree:
            graph = nx.Graph(tree - {edge})
            graph.add_nodes_from(nodes)
            parts = frozenset(map(frozenset, nx.connected_components(graph)))
            if all(lower <= sum(population[u] for u in part) <= upper for part in parts):
                yield parts

    cut_weight = sum(weight[edge] for edge in cut)
    for edge in cut:
        one, other = part_with(edge[0]), part_with(edge[1])
        union = one | other
        trees, n_trees = trees_of(union)
        trees_one, n_one = trees_of(one)
        trees_other, n_other = trees_of(other)
        for new_tree, new_weight in trees.items():
            ways = list(balanced(new_tree, union))
            for parts in ways:
                new = (plan - {one, other}) | parts
                if new == plan:
                    continue
                new_cut_weight = sum(weight[e] for e in edges if not any(set(e) <= part for part in new))
                factor = n_one * n_other * cut_weight / new_cut_weight
                for part in parts:
                    factor /= trees_of(part)[1]
                guess = np.exp(0.67 * (n_cut_edges(new) - len(cut)))
                for tree_one, weight_one in trees_one.items():
                    for tree_other, weight_other in trees_other.items():
                        chance = weight[edge] / cut_weight * new_weight / n_trees / len(ways)
                        chance *= weight_one / n_one * weight_other / n_other
                        n_old = len(list(balanced(tree_one | tree_other | {edge}, union)))
                        yield chance, new, factor * len(ways) / n_old, guess


def plan_transition_matrix(plans, law, move, *arguments):
    """Metropolis-Hastings on plans, way by way; with a guess, in two stages."""
    place = {plan: i for i, plan in enumerate(plans)}
    matrix = np.zeros((len(plans), len(plans)))
    for i, plan in enumerate(plans):
        for chance, new, factor, guess in plan_proposals(move, plan, *arguments):
            j = place[new]
            ratio = law[j] / law[i]
            if guess is None:
                matrix[i, j] += chance * min(1.0, ratio * factor)
            else:
                matrix[i, j] += chance * min(1.0, ratio * guess) * min(1.0, factor / guess)
        matrix[i, i] = 1 - matrix[i].sum()
    return matrix


def law_of_states(n, states, log_weight_of_plan):
    """Law on states that gives each plan its weight, shared equally by its states."""
    by_plan = defaultdict(list)
    for i, state in enumerate(states):
        by_plan[plan_of(n, state)].append(i)
    law = np.zeros(len(states))
    for plan, members in by_plan.items():
        law[members] = np.exp(log_weight_of_plan(plan)) / len(members)
    return law / law.sum()


def log_tree_count(nodes, edges):
    """Kirchhoff's theorem with a dense determinant; parallel edges are counted."""
    nodes = list(nodes)
    place = {u: i for i, u in enumerate(nodes)}
    laplacian = np.zeros((len(nodes), len(nodes)))
    for u, v in edges:
        if u in place and v in place and u != v:
            i, j = place[u], place[v]
            laplacian[i, i] += 1
            laplacian[j, j] += 1
            laplacian[i, j] -= 1
            laplacian[j, i] -= 1
    return np.linalg.slogdet(laplacian[1:, 1:])[1] if len(nodes) > 1 else 0.0


def all_plans(population, edges, n_districts, lower, upper):
    """Every plan, by trying each set partition of the units into connected parts."""
    n = len(population)
    graph = nx.Graph(edges)
    plans = set()

    def extend(unit, parts):
        if unit == n:
            if len(parts) == n_districts and all(
                lower <= sum(population[u] for u in part) <= upper and nx.is_connected(graph.subgraph(part))
                for part in parts
            ):
                plans.add(frozenset(map(frozenset, parts)))
            return
        for part in parts:
            part.append(unit)
            extend(unit + 1, parts)
            part.pop()
        if len(parts) < n_districts:
            extend(unit + 1, [*parts, [unit]])

    extend(0, [])
    return plans


def plan_from_labels(labels):
    parts = defaultdict(set)
    for unit, label in enumerate(labels):
        parts[int(label)].add(unit)
    return frozenset(map(frozenset, parts.values()))


def unpack_factor(pattern, cholesky):
    """The unit lower triangle as a dense matrix, in the order of elimination."""
    lower = np.eye(len(pattern.unit_at))
    for j in range(len(lower)):
        for e in range(pattern.column_start[j], pattern.column_start[j + 1]):
            lower[pattern.row[e], j] = cholesky.value[e]
    return lower
