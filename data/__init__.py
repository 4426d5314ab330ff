"""Reads, checks and writes what the sampler and the page need."""

from bottomup.data.errors import DataError
from bottomup.data.export import plan_csv, plan_geojson
from bottomup.data.geography import Geography, read_geography
from bottomup.data.plans import Plan, load_plan, read_plan
from bottomup.data.testimonies import Clusters, Testimonies, read_testimonies

__all__ = [
    "Clusters",
    "DataError",
    "Geography",
    "Plan",
    "Testimonies",
    "load_plan",
    "plan_csv",
    "plan_geojson",
    "read_geography",
    "read_plan",
    "read_testimonies",
]
