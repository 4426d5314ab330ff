"""The command ``bottomup export``: the plans of a run, or one of them, as files for other programs."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bottomup.dashboard.options import add_map_options, load_map
from bottomup.data.errors import DataError, count

if TYPE_CHECKING:
    from bottomup.data.geography import Geography
    from bottomup.sampler.ensembles import Ensemble

__all__ = ["add_export"]

_OF_ALL = ("jsonl", "csv")
_OF_ONE = ("csv", "geojson", "gpkg", "parquet", "shp")


def add_export(commands: argparse._SubParsersAction) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "export",
        help="write the plans of a run, or one of them, for other programs",
        description="Writes the plans of a folder of `bottomup sample`. All of them: a line of JSON each, as "
        "programs of the GerryChain family read (jsonl), or a table of units and plans (csv). One of them "
        "(--plan N): a table of two columns, or with the units of the run a file for GIS programs.",
    )
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument(
        "--format",
        choices=list(dict.fromkeys(_OF_ALL + _OF_ONE)),
        help="of all plans: jsonl (default) or csv; of one: csv (default), geojson, gpkg (GeoPackage), "
        "parquet (GeoParquet) or shp (zipped shapefile)",
    )
    parser.add_argument(
        "--plan", type=int, metavar="N", help="one plan alone: its number in the file of all, from 1"
    )
    parser.add_argument(
        "--epsilon", type=float, help="which rung of a ladder (default: the one with the largest epsilon)"
    )
    parser.add_argument(
        "--kind",
        choices=["districts", "units"],
        help="of one plan in a GIS format: an outline for each district (default), or every unit with its "
        "district",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: a new one in the folder of the run)"
    )
    add_map_options(parser.add_argument_group("units", "Those of the run, for GIS formats."))
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from bottomup.sampler.ensembles import Ensemble

    _check_options(options)
    ensemble = Ensemble(options.run_folder, options.epsilon)
    written = _export_all(options, ensemble) if options.plan is None else _export_one(options, ensemble)
    print(f"Written: {', '.join(str(path) for path in written)}")
    return 0


def _check_options(options: argparse.Namespace) -> None:
    if options.format is None:
        options.format = "jsonl" if options.plan is None else "csv"
    allowed = _OF_ALL if options.plan is None else _OF_ONE
    if options.format not in allowed:
        of = "all plans; name one with --plan" if options.plan is None else "one plan; leave --plan out"
        raise ValueError(f"--format {options.format} is not for {of}")
    is_table = options.format in ("jsonl", "csv")
    if options.kind is not None and is_table:
        raise ValueError(f"--kind {options.kind} needs a GIS format: {', '.join(_OF_ONE[1:])}")
    if not is_table and options.units is None and not options.demo:
        raise ValueError(f"--format {options.format} needs the units of the run, with --units or --demo")


def _new_file(path: Path) -> Path:
    """Refuse a file that is there: nothing is overwritten."""
    if path.exists():
        raise FileExistsError(f"{path} exists already; name another file with --out")
    return path


def _export_all(options: argparse.Namespace, ensemble: "Ensemble") -> list[Path]:
    from bottomup.data.export_files import provenance_path

    default = "plans.jsonl" if options.format == "jsonl" else "plans_by_unit.csv"
    path = _new_file(options.out or options.run_folder / default)
    beside = _new_file(provenance_path(path))
    print(
        f"{count(len(ensemble), 'plan')} of {count(len(ensemble.ids), 'unit')} at epsilon "
        f"{ensemble.epsilon:g}"
    )
    if options.format == "jsonl":
        ensemble.write_jsonl(path)
    else:
        ensemble.write_table(path)
    beside.write_text(json.dumps(ensemble.about(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [path, beside]


def _export_one(options: argparse.Namespace, ensemble: "Ensemble") -> list[Path]:
    import numpy as np

    from bottomup.data.districts import Plan
    from bottomup.data.export_files import PLAN_FORMATS, write_plan

    sample = ensemble.sample(options.plan)
    kind: Literal["districts", "units"] = options.kind or "districts"
    is_table = options.format == "csv"
    stem = f"plan_{options.plan}" if is_table else f"plan_{options.plan}_{kind}"
    path = _new_file(options.out or options.run_folder / f"{stem}{PLAN_FORMATS[options.format]}")
    if path.suffix.lower() != PLAN_FORMATS[options.format]:
        raise ValueError(
            f"--out {path} must end in {PLAN_FORMATS[options.format]} for --format {options.format}"
        )
    geography = _units_alone(ensemble) if is_table else _same_map(options, ensemble)
    plan = Plan(f"plan {sample.number}", sample.assignment.astype(np.int32), ensemble.labels)
    about: dict[str, Any] = {name: value for name, value in ensemble.description.items() if name != "outcome"}
    about["plan"] = {
        "sample": sample.number,
        "chain": sample.chain,
        "epsilon": sample.epsilon,
        "step": sample.step,
    }
    statistics = sample.shares if kind == "districts" and not is_table else None
    return write_plan(path, geography, plan, kind=kind, statistics=statistics, provenance=about)


def _units_alone(ensemble: "Ensemble") -> "Geography":
    """The units of a run without people and neighbours, which a table does not hold."""
    import numpy as np

    from bottomup.data.geography import Geography

    return Geography(
        name=ensemble.description["geography"]["name"],
        ids=ensemble.ids,
        population=np.zeros(len(ensemble.ids), dtype=np.int64),
        edges=np.empty((0, 2), dtype=np.int32),
        id_column=ensemble.description.get("id_column", "id"),
    )


def _same_map(options: argparse.Namespace, ensemble: "Ensemble") -> "Geography":
    """Read the units, and refuse those of another run."""
    geography = load_map(options)
    if geography.digest != ensemble.description["geography"]["digest"]:
        raise DataError(
            "other_map",
            f"these units are not those of the run in {options.run_folder}: ids, people or neighbours "
            "differ.",
            remedy="Name the files that the run was made with, and its --repairs.",
        )
    return geography
