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
