"""The folder of a run's plans: whole files only, one table for whoever reads it, small."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from bottomup.sampler import store
from bottomup.sampler.ensembles import Ensemble
from bottomup.sampler.store import PlanStore

SCHEMA = pa.schema(
    [
        ("chain", pa.int32()),
        ("epsilon", pa.float64()),
        ("step", pa.int64()),
        ("black_vap_share", pa.list_(pa.float64())),
        ("assignment", pa.list_(pa.uint8())),
    ],
    metadata={"run": "test", "bottomup_schema": "2"},
)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Of twenty rows."""
    monkeypatch.setattr(store, "GROUP_ROWS", 20)
    monkeypatch.setattr(store, "PART_BYTES", 1)


def rows(first, last):
    """Of two chains, step by step: each plan is told from every other."""
    numbers = range(first, last)
    columns = [
        [number % 2 for number in numbers],
        [1.5] * len(numbers),
        [number // 2 for number in numbers],
        [[number / 1000, 0.5] for number in numbers],
        [[number % 250, 1, 0] for number in numbers],
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def contents(folder):
    return {path.name: path.read_bytes() for path in (folder / "plans.parquet").iterdir()}


def fill(folder, cuts, n_rows=0):
    folder.mkdir(exist_ok=True)
    made = PlanStore(folder, SCHEMA, 1, n_rows)
    for first, last in zip([n_rows, *cuts], cuts, strict=False):
        made.append(rows(first, last))
    return made


def test_every_reader_takes_the_folder_for_one_table(tmp_path):
    fill(tmp_path, [7, 50]).save()
    path = tmp_path / "plans.parquet"
    assert sorted(contents(tmp_path)) == [f"part-0000{part}.parquet" for part in range(3)]
    # What a killed run leaves behind is not taken for a part.
    (tmp_path / ".part-00003.parquet.new").write_bytes(b"PAR1")
    assert pq.read_table(path).equals(rows(0, 50))
    assert ds.dataset(path).count_rows() == 50
    table = pd.read_parquet(path)
    assert table["step"].tolist() == [number // 2 for number in range(50)]
    assert table["assignment"][49].dtype == np.uint8
    metadata = pq.read_schema(path / "part-00000.parquet").metadata
    assert (metadata[b"run"], metadata[b"bottomup_schema"]) == (b"test", b"2")


def test_parts_do_not_depend_on_when_rows_came_or_were_saved(tmp_path):
    fill(tmp_path / "a", [50]).save()
    made = fill(tmp_path / "b", [3])
    made.save()
    for first, last in [(3, 21), (21, 22), (22, 50)]:
        made.append(rows(first, last))
        made.save()
        assert pq.read_table(tmp_path / "b" / "plans.parquet").equals(rows(0, last))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.parametrize("n_rows", [0, 1, 20, 39, 40, 45, 50])
def test_rows_after_a_checkpoint_come_again(tmp_path, n_rows):
    fill(tmp_path / "a", [70]).save()
    fill(tmp_path / "b", [50]).save()
    made = fill(tmp_path / "b", [], n_rows)
    assert made.n_rows == n_rows
    made.save()
    assert pq.read_table(tmp_path / "b" / "plans.parquet").equals(rows(0, n_rows))
    fill(tmp_path / "b", [70], n_rows).save()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_parts_that_have_gone_are_named(tmp_path):
    fill(tmp_path, [50]).save()
    with pytest.raises(ValueError, match=r"part-00002.parquet must hold 11 plans; it has 10"):
        fill(tmp_path, [], 51)
    (tmp_path / "plans.parquet" / "part-00001.parquet").unlink()
    with pytest.raises(ValueError, match=r"part-00001.parquet must hold 20 plans; it has 0"):
        fill(tmp_path, [], 50)


def test_a_table_without_rows_has_its_columns(tmp_path):
    fill(tmp_path, []).save()
    assert pq.read_table(tmp_path / "plans.parquet").equals(rows(0, 0))


@pytest.fixture
def described(tmp_path):
    (tmp_path / "units.csv").write_text("position,id\n0,a\n1,b\n2,c\n")
    (tmp_path / "run.json").write_text(json.dumps({"target": {"n_districts": 2}, "outcome": {}}))
    return tmp_path


def plans(ensemble):
    return [(each.number, each.chain, each.step, each.assignment.tolist()) for each in ensemble.samples()]


def test_an_ensemble_reads_parts_and_the_single_file_of_earlier_versions_alike(described):
    fill(described, [50]).save()
    of_parts = Ensemble(described)
    expected = plans(of_parts)
    assert expected[1] == (2, 0, 1, [2, 1, 0])
    assert expected[49] == (50, 1, 24, [49, 1, 0])
    assert of_parts.sample(50).shares["black_vap_share"].tolist() == [0.049, 0.5]
    for path in (described / "plans.parquet").iterdir():
        path.unlink()
    (described / "plans.parquet").rmdir()
    pq.write_table(rows(0, 50).replace_schema_metadata({"run": "test"}), described / "plans.parquet")
    of_file = Ensemble(described)
    assert plans(of_file) == expected
    assert of_file.sample(50).shares["black_vap_share"].tolist() == [0.049, 0.5]


def test_an_ensemble_keeps_to_the_plans_that_were_there_when_it_was_opened(described):
    made = fill(described, [30])
    made.save()
    ensemble = Ensemble(described)
    before = plans(ensemble)
    made.append(rows(30, 90))
    made.save()
    assert plans(ensemble) == before
    assert len(Ensemble(described)) == 90


def test_plans_of_a_later_version_are_refused(described):
    fill(described, [3]).save()
    path = described / "plans.parquet" / "part-00000.parquet"
    pq.write_table(rows(0, 3).replace_schema_metadata({"run": "test", "bottomup_schema": "3"}), path)
    with pytest.raises(ValueError, match="as a table of version 3; this one reads up to version 2"):
        Ensemble(described)


def test_a_damaged_part_is_named(described):
    fill(described, [50]).save()
    path = described / "plans.parquet" / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"part-00001.parquet is not finished"):
        Ensemble(described)
