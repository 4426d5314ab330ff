"""The attack of a study: which testimonies a group puts in a cluster's place, and the table of them all."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bottomup.dashboard.options import Inputs
from bottomup.data.changes import find_cluster, replace_by_drawn
from bottomup.data.clusters import is_by_distance
from bottomup.data.errors import DataError
from bottomup.sampler.durable import write_whole

if TYPE_CHECKING:
    from bottomup.data.changes import Change
    from bottomup.data.geography import Geography
    from bottomup.data.testimonies import Testimonies

__all__ = ["attacked_inputs", "change_of", "write_submitted"]


def change_of(inputs: Inputs, n_districts: int, cluster: str | None, adversary_seed: int) -> "Change":
    """Put a drawn group in a cluster's place, on a border of the enacted plan when there is one.

    Parameters
    ----------
    inputs : Inputs
        With testimonies.
    n_districts : int
    cluster : str or None
        The name of the cluster, see :func:`bottomup.data.changes.find_cluster`.
    adversary_seed : int

    Raises
    ------
    DataError
        When there are no testimonies, there is no such cluster, or no testimony is in it.
    """
    if inputs.testimonies is None:
        raise DataError(
            "no_testimonies", "An attack changes testimonies, and there are none.", remedy="Name their file."
        )
    across = None if inputs.enacted is None else inputs.enacted.assignment
    return replace_by_drawn(
        inputs.testimonies,
        inputs.geography,
        find_cluster(inputs.testimonies, cluster),
        n_districts,
        adversary_seed,
        across,
    )


def write_submitted(
    path: Path,
    geography: "Geography",
    testimonies: "Testimonies",
    places: Sequence[int] | None = None,
) -> None:
    """Write testimonies as a table that is read as the same testimonies again.

    A row has a testimony, a unit of the map and, where there are clusters, a cluster; a testimony without a
    unit has a row without one, for it counts. Clusters without a testimony are not in it, which leaves every
    score as it is; what `bottomup.data.testimonies` knows besides, such as texts, is not either.

    Parameters
    ----------
    path : path
        Is there as a whole or not at all.
    geography : Geography
    testimonies : Testimonies
    places : sequence of int, optional
        Of those to write; all by default.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    clusters = testimonies.clusters
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["testimony", "unit", *([] if clusters is None else ["cluster"])])
    for place in range(testimonies.n_testimonies) if places is None else places:
        cluster = []
        if clusters is not None:
            number = int(clusters.of_testimony[place])
            cluster = [clusters.names[number] if number >= 0 else ""]
        units = [geography.ids[unit] for unit in testimonies.units_of(place).tolist()]
        for unit in units or [""]:
            writer.writerow([testimonies.ids[place], unit, *cluster])
    text = table.getvalue()
    write_whole(path, lambda file: file.write(text.encode()))


def attacked_inputs(inputs: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The inputs of a study with the table of attacked testimonies in place of those submitted.

    Clusters of near testimonies are those in the table: made anew, they would be others for everybody.
    Clusters from public geography are taken from it again, so that the run says that they are public.

    Parameters
    ----------
    inputs : mapping
        Of a study, by the names of options.
    path : path
        That of :func:`write_submitted`.
    """
    left_out = {"crosswalk"}
    if is_by_distance(inputs.get("clusters", "")):
        left_out.add("clusters")
    return {name: own for name, own in inputs.items() if name not in left_out} | {"testimonies": str(path)}
