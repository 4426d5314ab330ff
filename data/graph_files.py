"""Dual graphs in JSON, as GerryChain, NetworkX and Dave's Redistricting write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bottomup.data.errors import DataError
from bottomup.data.identifiers import ID_COLUMNS, UnitMatcher
from bottomup.data.tables import find_column, require_file, text_ids

__all__ = ["KEY", "GraphFile", "read_graph"]

KEY = "id"
"""Name of the column of node keys."""
_VIRTUAL_NODES = frozenset({"OUT_OF_STATE"})
_N_PEEKED = 4096
_MAP = re.compile(rb'"type"\s*:\s*"(FeatureCollection|Feature|Topology|GeometryCollection)"|"geometryType"')


class GraphFile(NamedTuple):
    """Nodes and edges of a graph as they stand in a file.

    Attributes
    ----------
    keys : list of str
        Keys of the nodes.
    attributes : DataFrame
        What the file says about each node; :data:`KEY` is its key.
    pairs : list of (str, str)
        Keys of the ends of each edge; an edge may come from either end, or both.
    n_virtual : int
        Edges to a node that stands for what is outside of the map; they are left out.
    """

    keys: list[str]
    attributes: pd.DataFrame
    pairs: list[tuple[str, str]]
    n_virtual: int

    def id_column(self) -> str:
        """The column that tells the units apart best: one known to hold ids, or the keys."""
        names = [str(name) for name in self.attributes.columns if name != KEY]
        known = [name for name in ID_COLUMNS if name != KEY]
        while (found := find_column(names, known)) is not None:
            ids = text_ids(self.attributes[found])
            if all(ids) and len(set(ids)) == len(ids):
                return found
            names.remove(found)
        return KEY

    def pairs_of(self, matcher: UnitMatcher) -> list[tuple[str, str]]:
        """The edges with nodes called as the units are, by whichever of their names fits the most units."""
        names = [KEY, *(name for name in self.attributes.columns if str(name).lower() in ID_COLUMNS)]
        best = max(names, key=lambda name: sum(unit in matcher for unit in text_ids(self.attributes[name])))
        called = dict(zip(self.keys, text_ids(self.attributes[best]), strict=True))
        return [(called.get(u, u), called.get(v, v)) for u, v in self.pairs]


def read_graph(path: str | Path) -> GraphFile | None:
    """Read a graph; None when the file is no JSON, or JSON of a map.

    Understood are the node-link data of NetworkX, with edges under ``links`` or ``edges``, its adjacency
    data, which GerryChain writes, and an object with the neighbours of every unit.

    Raises
    ------
    DataError
        If the file ends in .json and holds neither a map nor a graph.
    """
    if Path(path).suffix.lower() != ".json":
        return None
    content = require_file(path).read_bytes()
    if _MAP.search(content[:_N_PEEKED]):
        return None
    try:
        data = json.loads(content)
    except ValueError as error:
        raise DataError(
            "unreadable", f"{str(path)!r} is not readable JSON: {error}.", remedy="Save it again."
        ) from error
    if isinstance(data, dict) and str(data.get("type")) in ("FeatureCollection", "Topology"):
        return None
    try:
        nodes, pairs = _parse(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            "unreadable",
            f"{str(path)!r} is JSON, but neither of a map nor of a graph that is known here.",
            remedy="A graph has nodes and links, edges or adjacency, as GerryChain and NetworkX write it, or "
            "is an object that lists the neighbours of every unit.",
        ) from error
    keys = [key for key, _ in nodes if key not in _VIRTUAL_NODES]
    if not keys:
        raise DataError("empty_file", f"{str(path)!r} holds no nodes.", remedy="Give a graph with nodes.")
    own = [attributes for key, attributes in nodes if key not in _VIRTUAL_NODES]
    table = pd.DataFrame(own, index=range(len(own))).drop(columns=KEY, errors="ignore")
    table.insert(0, KEY, keys)
    real = [pair for pair in pairs if not _VIRTUAL_NODES.intersection(pair)]
    return GraphFile(keys, table, real, len(pairs) - len(real))


Node = tuple[str, Mapping[str, Any]]
Pairs = list[tuple[str, str]]


def _parse(data: Mapping[str, Any]) -> tuple[list[Node], Pairs]:
    if "nodes" not in data:
        lists = {str(unit): [_text(v) for v in neighbours] for unit, neighbours in data.items()}
        if not all(isinstance(neighbours, list | dict) for neighbours in data.values()):
            raise ValueError
        bare: list[Node] = [(unit, {}) for unit in lists]
        return bare, [(u, v) for u, own in lists.items() for v in own]
    keys = [_text(node.get(KEY, row)) for row, node in enumerate(data["nodes"])]
    nodes: list[Node] = [(key, _plain(node)) for key, node in zip(keys, data["nodes"], strict=True)]
    if "adjacency" in data:
        return nodes, [
            (key, _text(end[KEY])) for key, ends in zip(keys, data["adjacency"], strict=True) for end in ends
        ]
    links = data["links"] if isinstance(data.get("links"), list) else data["edges"]
    return nodes, list(_by_key(keys, [(link["source"], link["target"]) for link in links]))


def _by_key(keys: Sequence[str], ends: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    """Old files count nodes where newer ones have their keys."""
    pairs = [(_text(u), _text(v)) for u, v in ends]
    known = set(keys)
    rows = {str(row): key for row, key in enumerate(keys)}
    are_rows = any(end not in known for pair in pairs for end in pair) and all(
        end in rows for pair in pairs for end in pair
    )
    for u, v in pairs:
        yield (rows[u], rows[v]) if are_rows else (u, v)


def _text(key: object) -> str:
    return text_ids([key])[0]


def _plain(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """What can stand in a table: outlines in a graph are given up, shapes bring them back."""
    return {name: value for name, value in node.items() if name != "geometry"}
