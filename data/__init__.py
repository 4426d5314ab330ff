"""Reads, checks and writes what the sampler and the page need."""

from bottomup.data.errors import DataError
from bottomup.data.geography import Geography, read_geography

__all__ = ["DataError", "Geography", "read_geography"]
