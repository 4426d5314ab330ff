"""Reads, checks and writes what the sampler and the page need."""

from bottomup.data.electorate import Electorate, Votes
from bottomup.data.errors import DataError
from bottomup.data.export import plan_csv, plan_geojson
from bottomup.data.export_files import write_plan
from bottomup.data.geography import Geography, read_geography
from bottomup.data.plan_repair import nearest_start
from bottomup.data.plans import Plan, check_plan, load_plan, read_plan
from bottomup.data.testimonies import Clusters, Testimonies, read_testimonies

__all__ = [
    "Clusters",
    "DataError",
    "Electorate",
    "Geography",
    "Plan",
    "Testimonies",
    "Votes",
    "check_plan",
    "load_plan",
    "nearest_start",
    "plan_csv",
    "plan_geojson",
    "read_geography",
    "read_plan",
    "read_testimonies",
    "write_plan",
]
