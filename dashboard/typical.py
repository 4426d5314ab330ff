"""The most typical of many plans: the one whose borders run most like those of all others."""

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.facts import WholePlans

__all__ = ["typical_plan"]


def typical_plan(whole: WholePlans, edges: NDArray[np.int32]) -> int:
    """Row of the medoid by cut edges; the first one of several.

    Two plans differ by the number of edges that are cut in one of them alone, which does not depend on what
    their districts are called. The plan with the least sum of differences from all others is the one whose
    cut pattern has the least squared distance from the cut frequencies.

    Parameters
    ----------
    whole : WholePlans
        At least one plan.
    edges : int32 array, shape (m, 2)
        Of the dual graph.
    """
    worth = 1 - 2 * whole.cut_frequency(edges)
    u, v = edges.T
    distances = [float(worth @ (plan[u] != plan[v])) for plan in whole.plans]
    return int(np.argmin(distances))
