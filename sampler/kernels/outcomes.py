"""How a step can end, and which move it was."""

__all__ = [
    "ACCEPTED",
    "COMMUNITY_FLIP",
    "FLIP",
    "MERGE_SPLIT",
    "REJECTED_MARKED",
    "REJECTED_POPULATION",
    "REJECTED_RATIO",
    "TREE_ONLY",
    "UNCHANGED",
    "WALK",
]

ACCEPTED = 0
"""The plan changed."""
TREE_ONLY = 1
"""The tree or the marks changed, the plan did not."""
UNCHANGED = 2
"""The proposal was the state itself."""
REJECTED_POPULATION = 3
"""The bounds, or the connection of a district, forbade the proposal."""
REJECTED_MARKED = 4
"""An edge was to be marked twice."""
REJECTED_RATIO = 5
"""The Metropolis test failed."""

FLIP, COMMUNITY_FLIP, MERGE_SPLIT, WALK = 0, 1, 2, 3
"""Moves, in the order of `types.Mixture`."""
