"""Plans from columns and files, population bounds, and what makes a start."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.data import DataError, Plan, load_plan, read_plan
from bottomup.data.plans import (
    check_feasible,
    check_start,
    natural_order,
    plan_from_column,
    population_bounds,
)


@pytest.fixture
def grid(make_grid):
    return make_grid(2, 2, cd=[1.0, 1.0, 10.0, 2.0], county=["b", "b", "a", None], share=[1, 0.5, 1, 1])


@pytest.fixture
def read(tmp_path, grid):
    def read(text, **options):
        path = tmp_path / "plan.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_plan(path, grid, **options)

    return read


def labels_of(plan):
    return [plan.labels[district] for district in plan.assignment]


def test_column_labels_lose_decimals_and_come_in_natural_order(grid):
    plan = plan_from_column(grid, "cd")
    assert plan.labels == ("1", "2", "10")
    assert plan.assignment.tolist() == [0, 0, 2, 1]
    assert plan.assignment.dtype == np.int32
    assert plan.n_districts == 3


def test_columns_that_are_no_plan_are_refused(grid):
    with pytest.raises(DataError) as caught:
        plan_from_column(grid, "county")
    assert (caught.value.code, caught.value.units) == ("plan_missing_units", ("011",))
    with pytest.raises(DataError) as caught:
        plan_from_column(grid, "share")
    assert (caught.value.code, caught.value.units) == ("plan_fraction", ("001",))
    with pytest.raises(DataError, match="they have cd, county, share"):
        plan_from_column(grid, "nope")


@pytest.mark.parametrize(
    "text",
    [
        "000,1\n001,1\n010,2\n011,2\n",
        "GEOID20,district\n000,1\n001,1\n010,2\n011,2\n",
        "\ufeffGEOID20|district\r\n000|1\r\n\r\n001|1\r\n010|2\r\n011|2\r\n",
        "id\tdistrict\n011\t2\n010\t2\n001\t1\n000\t1",
        '"id","district",\n"000","1",\n"001","1",\n"010","2",\n"011","2",\n,,\n',
        "id,district\n0,1.0\n1,1.0\n10,2.0\n11,2.0\n",
        "000,1\n001,1\n010,2\n011,2\n011,2\n",
        "id,d\xe9partement\n000,1\n001,1\n010,2\n011,2\n".encode("cp1252"),
    ],
    ids=["bare", "header", "pipes, mark", "tabs", "quotes", "spreadsheet", "line twice", "windows"],
)
def test_files_are_read_as_people_send_them(read, text):
    plan = read(text)
    assert plan.name == "plan"
    assert labels_of(plan) == ["1", "1", "2", "2"]


def test_labels_are_kept_as_written(read):
    plan = read("000,North East\n001,07\n010,7\n011,North East\n", name="mine")
    assert plan.name == "mine"
    assert labels_of(plan) == ["North East", "07", "7", "North East"]


@pytest.mark.parametrize(
    ("text", "code", "units"),
    [
        ("000,1\n001,1\n010,2\n", "plan_missing_units", ("011",)),
        ("000,1\n001,1\n010,\n011,2\n", "plan_missing_units", ("010",)),
        ("000,1\n001,1\n010,2\n011,2\n011,1\n", "plan_repeated_units", ("011",)),
        ("id,county,d\n000,a,1\n001,a,1\n010,b,2\n011,b,2\n", "plan_columns", ()),
        ("000\n001\n", "plan_columns", ()),
        ("", "plan_columns", ()),
    ],
)
def test_files_that_do_not_match_are_refused(read, text, code, units):
    with pytest.raises(DataError) as caught:
        read(text)
    assert (caught.value.code, caught.value.units) == (code, units)


def test_the_match_is_counted(read):
    with pytest.raises(DataError) as caught:
        read("000,1\n000,2\n001,1\nX,2\nY,2\n")
    text = str(caught.value)
    assert "2 of 4 units matched, 2 missing, 2 unknown ids, 0 duplicates, 1 in several districts" in text
    assert "Without a district: 010, 011. Not on the map: X, Y; ids there look like '000'." in text


def test_the_row_with_too_many_columns_is_named(read):
    with pytest.raises(DataError, match="row 3 has 3 columns"):
        read("id,district\n000,1\n001,a,1\n")


def test_exact_ids_come_before_forgiven_ones(make_grid, tmp_path):
    grid = dataclasses.replace(make_grid(1, 2), ids=("1", "01"))
    (tmp_path / "plan.csv").write_text("01,a\n1,b\n")
    assert labels_of(read_plan(tmp_path / "plan.csv", grid)) == ["b", "a"]
    (tmp_path / "plan.csv").write_text("01,a\n001,b\n")
    with pytest.raises(DataError) as caught:
        read_plan(tmp_path / "plan.csv", grid)
    assert caught.value.code == "plan_missing_units"


def test_a_plan_is_named_by_column_or_path(grid, tmp_path):
    (tmp_path / "mine.csv").write_text("000,1\n001,1\n010,2\n011,2\n")
    assert load_plan("cd", grid).name == "cd"
    assert load_plan(str(tmp_path / "mine.csv"), grid).name == "mine"
    with pytest.raises(DataError, match="neither a file nor a column"):
        load_plan("mine", grid)


@given(st.lists(st.text(alphabet="ab019 ", max_size=5), unique=True))
def test_natural_order_is_a_stable_order_of_all_labels(labels):
    ordered = natural_order(labels)
    assert sorted(ordered) == sorted(labels)
    assert natural_order(reversed(ordered)) == ordered
    numbers = [label for label in ordered if label.isdecimal()]
    assert [int(label) for label in numbers] == sorted(int(label) for label in numbers)


@settings(deadline=None)
@given(total=st.integers(1, 10**7), n_districts=st.integers(1, 60), thousandths=st.integers(0, 400))
def test_bounds_are_the_whole_numbers_within_tolerance(total, n_districts, thousandths):
    def within(people):
        # |people - total/k| <= tolerance * total/k in integers
        return abs(people * n_districts - total) * 1000 <= thousandths * total

    if not within(total // n_districts) or not within(-(-total // n_districts)):
        with pytest.raises(DataError, match="too tight"):
            population_bounds(total, n_districts, thousandths / 1000)
    else:
        lower, upper = population_bounds(total, n_districts, thousandths / 1000)
        assert within(lower)
        assert within(upper)
        assert not within(lower - 1)
        assert not within(upper + 1)
        assert lower * n_districts <= total <= upper * n_districts


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((100, 0, 0.1), "bad_n_districts"), ((100, 2, 5), "bad_tolerance"), ((100, 2, -0.1), "bad_tolerance")],
)
def test_bounds_need_sensible_arguments(arguments, code):
    with pytest.raises(DataError) as caught:
        population_bounds(*arguments)
    assert caught.value.code == code


def test_the_remedy_for_a_tight_tolerance_is_enough():
    with pytest.raises(DataError, match=r"Pass a tolerance of at least 0\.2, or choose fewer") as caught:
        population_bounds(10, 3, 0.1)
    assert caught.value.code == "tolerance_too_tight"
    assert population_bounds(10, 3, 0.2) == (3, 4)


def test_a_unit_larger_than_a_district_is_named(make_grid):
    grid = make_grid(2, 2, [10, 10, 70, 10])
    lower, upper = population_bounds(grid.total_population, 2, 0.1)
    with pytest.raises(DataError, match=r"tolerance of at least 0\.4") as caught:
        check_feasible(grid, 2, lower, upper)
    assert (caught.value.code, caught.value.units) == ("unit_too_large", ("010",))
    check_feasible(grid, 2, *population_bounds(grid.total_population, 2, 0.4))
    for n_districts in (1, 5):
        with pytest.raises(DataError, match=f"from 2 to the number of units, 4; got {n_districts}"):
            check_feasible(grid, n_districts, 0, 100)
    with pytest.raises(DataError, match="cannot hold"):
        check_feasible(grid, 2, 10, 20)


def plan_of(assignment, labels=("A", "B")):
    return Plan("p", np.array(assignment, dtype=np.int32), labels)


@pytest.mark.parametrize(
    ("assignment", "code", "units"),
    [
        ([0, 1, 1, 0], "district_not_connected", ("011", "010")),
        ([0, 0, 0, 1], "district_out_of_bounds", ()),
        ([0, 0, 0, 0], "empty_district", ()),
    ],
)
def test_a_start_is_whole_and_balanced(make_grid, assignment, code, units):
    grid = make_grid(2, 2)
    check_start(grid, plan_of([0, 0, 1, 1]), 18, 22)
    with pytest.raises(DataError) as caught:
        check_start(grid, plan_of(assignment), 18, 22)
    assert (caught.value.code, caught.value.units) == (code, units)


def test_deviations_and_a_tolerance_that_admits_them_are_given(make_grid):
    grid = make_grid(2, 2)
    with pytest.raises(DataError) as caught:
        check_start(grid, plan_of([0, 0, 0, 1]), 18, 22)
    assert "district A has 30 (+50.00%), district B has 10 (-50.00%)" in str(caught.value)
    assert "tolerance of at least 0.5" in str(caught.value)
    check_start(grid, plan_of([0, 0, 0, 1]), *population_bounds(40, 2, 0.5))


def test_no_tolerance_is_advised_that_nobody_can_pass(make_grid):
    grid = make_grid(2, 3, [10, 1, 1, 1, 1, 1])
    bounds = population_bounds(grid.total_population, 3, 0.2)
    with pytest.raises(DataError, match="No tolerance helps: divide these units"):
        check_feasible(grid, 3, *bounds)
    with pytest.raises(DataError, match="No tolerance helps: start from another plan"):
        check_start(make_grid(2, 3), plan_of([0, 0, 0, 1, 0, 2], "ABC"), 18, 22)
    with pytest.raises(DataError, match="No tolerance helps: choose fewer districts"):
        population_bounds(1, 3, 0.2)


def test_the_number_of_districts_is_checked(make_grid):
    with pytest.raises(DataError, match="has 2 districts") as caught:
        check_start(make_grid(2, 2), plan_of([0, 0, 1, 1]), 1, 40, n_districts=3)
    assert caught.value.code == "wrong_n_districts"


@settings(deadline=None, max_examples=60)
@given(assignment=st.lists(st.integers(0, 2), min_size=9, max_size=9).filter(lambda a: len(set(a)) == 3))
def test_detached_units_are_those_outside_the_largest_piece(make_grid, assignment):
    grid = make_grid(3, 3)
    graph = nx.grid_2d_graph(3, 3)
    n_detached = 0
    for district in range(3):
        own = [(unit // 3, unit % 3) for unit in range(9) if assignment[unit] == district]
        sizes = [len(piece) for piece in nx.connected_components(graph.subgraph(own))]
        n_detached += sum(sizes) - max(sizes)
    plan = plan_of(assignment, ("1", "2", "3"))
    if n_detached:
        with pytest.raises(DataError, match="not connected") as caught:
            check_start(grid, plan, 0, 90)
        assert len(set(caught.value.units)) == n_detached
    else:
        assert check_start(grid, plan, 0, 90) is None


@pytest.mark.real
def test_the_detached_voting_district_of_2022_is_named(missouri):
    bounds = population_bounds(missouri.total_population, 8, 0.01)
    check_start(missouri, load_plan("cd2025_hb1", missouri), *bounds, n_districts=8)
    enacted = load_plan("cd2022", missouri)
    assert enacted.labels == tuple("12345678")
    with pytest.raises(DataError, match="district 2 is in 2 pieces, with 497 people") as caught:
        check_start(missouri, enacted, *bounds)
    assert caught.value.units == ("29219000024",)
