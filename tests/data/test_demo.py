"""The demonstration state: what is real adds up, what is drawn holds together, and it rebuilds exactly."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import shapely

from bottomup.data.adjacency import rook_edges
from bottomup.data.demo import Demo, load_demo
from bottomup.data.demo._density import to_plane
from bottomup.data.demo._facts import FACT_FILES, FILES, read_counties, read_plan_shares
from bottomup.data.demo._people import apportion
from bottomup.data.demo.build import main

FIGURES = ["vap20", "bvap20", "pres20_total", "pres20_dem", "pres20_rep"]


@pytest.fixture(scope="module")
def demo() -> Demo:
    return load_demo()


@pytest.fixture(scope="module")
def counties() -> pd.DataFrame:
    return read_counties()


@pytest.fixture(scope="module")
def graph(demo: Demo) -> nx.Graph:
    graph = nx.empty_graph(demo.geography.n_units)
    graph.add_edges_from(demo.geography.edges.tolist())
    return graph


def units_of_testimonies(demo: Demo) -> list[np.ndarray]:
    return np.split(demo.testimonies.units, demo.testimonies.indptr[1:-1])


class TestPeople:
    def test_every_county_has_its_number_of_block_groups(self, demo, counties):
        drawn = demo.geography.columns["county"].value_counts().sort_index()
        assert drawn.to_dict() == counties["block_groups"].to_dict()
        assert demo.geography.n_units == 5031

    def test_figures_add_up_to_the_county(self, demo, counties):
        units = demo.geography.columns.assign(pop20=demo.geography.population)
        drawn = units.groupby("county")[["pop20", *FIGURES]].sum()
        pd.testing.assert_frame_equal(drawn, counties[["pop20", *FIGURES]], check_names=False)
        assert demo.geography.total_population == 6_154_913

    def test_parts_never_exceed_the_whole(self, demo):
        units = demo.geography.columns
        assert (units["vap20"] <= demo.geography.population).all()
        assert (units["bvap20"] <= units["vap20"]).all()
        assert (units["pres20_total"] <= units["vap20"]).all()
        assert (units["pres20_dem"] + units["pres20_rep"] <= units["pres20_total"]).all()
        assert (units[FIGURES].to_numpy() >= 0).all()

    def test_sizes_are_those_of_block_groups(self, demo):
        population = demo.geography.population
        assert np.mean((population >= 600) & (population <= 3000)) > 0.95
        assert population.min() > 0
        assert population.std() > 300

    def test_roles_are_filled(self, demo):
        electorate = demo.geography.electorate
        assert list(electorate.groups) == ["Black"]
        assert list(electorate.elections) == ["President 2020"]
        for column in (
            electorate.voting_age,
            *electorate.groups.values(),
            *electorate.elections["President 2020"],
        ):
            assert demo.geography.numbers(column).sum() > 0

    def test_figures_vary_smoothly(self, demo):
        geography = demo.geography
        for part, whole in (("bvap20", "vap20"), ("pres20_dem", "pres20_total")):
            share = (geography.columns[part] / geography.columns[whole]).to_numpy()
            between = np.abs(np.diff(share[geography.edges], axis=1)).mean()
            shuffled = np.abs(np.diff(np.random.default_rng(0).permutation(share)[geography.edges], axis=1))
            assert between < 0.4 * shuffled.mean()

    def test_north_st_louis_and_the_east_side_of_kansas_city_are_mostly_black(self, demo):
        units = demo.geography.columns
        centres = unit_centres(demo)
        for place in ((-90.24, 38.68), (-94.545, 39.055)):
            near = np.hypot(*(centres - to_plane(np.array([place]))).T) < 3
            assert units.loc[near, "bvap20"].sum() > 0.6 * units.loc[near, "vap20"].sum()

    def test_block_groups_are_denser_and_more_populous_in_town(self, demo):
        centres = unit_centres(demo)
        for county, place in (("29077", (-93.298, 37.215)), ("29019", (-92.334, 38.952))):
            mine = (demo.geography.columns["county"] == county).to_numpy()
            away = np.hypot(*(centres - to_plane(np.array([place]))).T)
            town, country = mine & (away < 5), mine & (away > 12)
            area = demo.geography.geometry.area.to_numpy()
            assert np.median(area[town]) < 0.2 * np.median(area[country])
            assert demo.geography.population[town].mean() > 1.1 * demo.geography.population[country].mean()


def unit_centres(demo: Demo) -> np.ndarray:
    points = demo.geography.geometry.representative_point().to_crs("EPSG:4326")
    return to_plane(np.column_stack([points.x, points.y]))


class TestGeometry:
    def test_ids_are_text_that_begins_with_the_county(self, demo):
        geography = demo.geography
        assert len(set(geography.ids)) == geography.n_units
        for id_, county in zip(geography.ids, geography.columns["county"], strict=True):
            assert isinstance(id_, str)
            assert len(id_) == 12
            assert id_.startswith(county)

    def test_every_cell_is_one_valid_polygon(self, demo):
        geometry = demo.geography.geometry
        assert set(geometry.geom_type) == {"Polygon"}
        assert geometry.is_valid.all()
        assert geometry.interiors.map(len).max() == 0
        assert geometry.crs.axis_info[0].unit_name == "metre"

    def test_cells_fill_the_state_without_gap_or_overlap(self, demo):
        polygons = demo.geography.geometry.to_numpy()
        assert shapely.coverage_is_valid(polygons)
        state = shapely.coverage_union_all(polygons)
        assert state.geom_type == "Polygon"
        assert len(state.interiors) == 0
        # The Census gives 180,540 square kilometres with water.
        assert state.area == pytest.approx(180.54e9, rel=0.01)

    def test_cells_fill_their_county(self, demo):
        counties = demo.counties.set_index("county").to_crs(demo.geography.geometry.crs)
        filled = demo.geography.geometry.area.groupby(demo.geography.columns["county"].to_numpy()).sum()
        np.testing.assert_allclose(filled[counties.index], counties.area, rtol=1e-9)

    def test_edges_are_the_rook_edges(self, demo):
        edges, perimeter = rook_edges(demo.geography.geometry)
        np.testing.assert_array_equal(demo.geography.edges, edges)
        np.testing.assert_allclose(demo.geography.shared_perimeter, perimeter, atol=0.06)

    def test_neighbours_share_vertices(self, demo):
        sides: dict[frozenset, list[int]] = {}
        for cell, polygon in enumerate(demo.geography.geometry):
            ring = list(polygon.exterior.coords)
            for side in pairwise(ring):
                sides.setdefault(frozenset(side), []).append(cell)
        pairs = {tuple(cells) for cells in sides.values() if len(cells) == 2}
        assert max(map(len, sides.values())) == 2
        assert pairs == set(map(tuple, demo.geography.edges.tolist()))

    def test_graph_is_connected(self, graph):
        assert nx.is_connected(graph)

    def test_counties_and_towns(self, demo, counties):
        assert demo.counties["name"].tolist() == counties["name"].tolist()
        assert len(demo.counties) == 115
        assert demo.counties.crs == "EPSG:4326"
        assert set(demo.counties.geom_type) == {"Polygon"}
        assert shapely.coverage_is_valid(demo.counties.geometry.to_numpy())
        state = shapely.coverage_union_all(demo.counties.geometry.to_numpy()).buffer(0.03)
        assert shapely.contains_xy(state, demo.towns["lon"], demo.towns["lat"]).all()
        assert demo.towns["population"].is_monotonic_decreasing
        assert len(demo.towns) >= 60

    @pytest.mark.parametrize(
        ("town", "county"),
        [("Kansas City", "29095"), ("St. Louis", "29510"), ("Columbia", "29019"), ("Sikeston", "29201")],
    )
    def test_towns_lie_in_their_counties(self, demo, town, county):
        place = demo.towns.set_index("name").loc[town]
        outline = demo.counties.set_index("county").geometry[county]
        assert shapely.contains_xy(outline.buffer(0.01), place["lon"], place["lat"])


@pytest.mark.parametrize("name", ["cd2022", "cd2025"])
class TestPlans:
    def test_labels(self, demo, name):
        assert demo.plans[name].labels == tuple("12345678")
        assert demo.plans[name].name == name

    def test_districts_are_connected(self, demo, graph, name):
        for district in range(8):
            cells = np.flatnonzero(demo.plans[name].assignment == district).tolist()
            assert nx.is_connected(graph.subgraph(cells))

    def test_districts_are_within_one_per_cent(self, demo, name):
        people = np.bincount(demo.plans[name].assignment, demo.geography.population)
        ideal = demo.geography.total_population / 8
        assert np.abs(people / ideal - 1).max() < 0.01

    def test_counties_are_divided_as_enacted(self, demo, name):
        county = demo.geography.columns["county"].to_numpy()
        district = np.array(demo.plans[name].labels).astype(int)[demo.plans[name].assignment]
        people = pd.Series(demo.geography.population).groupby([county, district]).sum()
        facts = read_plan_shares()
        facts = facts[facts["plan"] == name].set_index(["county", "district"])["pop20"]
        assert set(people.index) == set(facts.index)
        largest = pd.Series(demo.geography.population).groupby(county).max()
        difference = (people - facts.reindex(people.index)).abs()
        # The last district of a county divided in three takes up the differences of two others.
        assert (difference <= largest[difference.index.get_level_values(0)].to_numpy()).all()
        whole = facts.groupby("county").transform("size") == 1
        assert (difference[whole.reindex(difference.index)] == 0).all()


def test_kansas_city_lies_in_one_district_in_2022_and_in_two_in_2025(demo):
    jackson = (demo.geography.columns["county"] == "29095").to_numpy()
    people = demo.geography.population[jackson]
    share = {
        name: np.sort(np.bincount(plan.assignment[jackson], people, minlength=8) / people.sum())
        for name, plan in demo.plans.items()
    }
    assert share["cd2022"][-1] == pytest.approx(0.873, abs=0.005)
    assert share["cd2025"][-1] == pytest.approx(0.515, abs=0.005)
    assert share["cd2025"][-2] == pytest.approx(0.461, abs=0.005)


class TestTestimonies:
    def test_numbers(self, demo):
        testimonies = demo.testimonies
        assert testimonies.n_testimonies == 808
        assert testimonies.ids[0] == "t0001"
        assert set(testimonies.status) == {"used"}
        assert len(testimonies.clusters.names) == 35
        sizes = np.bincount(testimonies.clusters.of_testimony, minlength=35)
        assert (sizes == 9).sum() == 1
        assert sizes.min() >= 5
        assert sizes.max() <= 90

    def test_most_are_small_and_a_few_large(self, demo):
        sizes = demo.testimonies.sizes
        assert 15 <= np.median(sizes) <= 40
        assert sizes.min() >= 3
        assert 300 <= sizes.max() <= 500

    def test_none_is_larger_than_a_district(self, demo):
        upper = demo.geography.total_population / 8 * 1.01
        people = [demo.geography.population[units].sum() for units in units_of_testimonies(demo)]
        assert max(people) < upper

    def test_each_is_connected(self, demo, graph):
        for units in units_of_testimonies(demo):
            assert nx.is_connected(graph.subgraph(units.tolist()))

    def test_they_overlap(self, demo):
        covering = np.bincount(demo.testimonies.units, minlength=demo.geography.n_units)
        assert covering.max() > 20
        assert np.mean(covering > 1) > 0.4

    def test_plan_of_2025_scores_as_published(self, demo):
        testimonies, assignment = demo.testimonies, demo.plans["cd2025"].assignment
        preserved, weight = [], np.zeros((35, 8))
        for cluster, units in zip(testimonies.clusters.of_testimony, units_of_testimonies(demo), strict=True):
            preserved.append(len(set(assignment[units].tolist())) == 1)
            weight[cluster] += np.bincount(assignment[units], minlength=8)
        assert np.mean(preserved) == pytest.approx(0.62, abs=0.015)
        assert weight.max(axis=1).sum() / weight.sum() == pytest.approx(0.71, abs=0.015)


class TestFiles:
    def test_small(self):
        assert sum(path.stat().st_size for path in FILES.glob("*.csv")) < 3_000_000

    def test_note_says_what_is_real_and_what_is_drawn(self, demo):
        assert demo.note == demo.geography.note == demo.testimonies.note
        real, drawn = demo.note.split("Drawn:")
        for word in ("county outlines", "figures", "towns", "share"):
            assert word in real
        for word in ("block groups", "lines", "testimonies"):
            assert word in drawn

    def test_rebuild_gives_the_same_bytes(self, tmp_path):
        pytest.importorskip("bokeh_sampledata", reason="only the build needs the published county outlines")
        main(["--out", str(tmp_path / "rebuilt")])
        shipped = {path.name: path.read_bytes() for path in FILES.glob("*.csv")}
        rebuilt = {path.name: path.read_bytes() for path in (tmp_path / "rebuilt").iterdir()}
        assert set(rebuilt) == set(shipped) > set(FACT_FILES)
        assert [name for name in shipped if shipped[name] != rebuilt[name]] == []


class TestApportion:
    def test_largest_remainders(self):
        assert apportion(10, np.array([1.0, 1.0, 1.0])).tolist() == [4, 3, 3]
        assert apportion(7, np.array([1.0, 2.0, 4.0])).tolist() == [1, 2, 4]

    def test_bounds_turn_people_away(self):
        assert apportion(10, np.array([8.0, 1.0, 1.0]), np.array([4, 9, 9])).tolist() == [4, 3, 3]
        assert apportion(6, np.array([8.0, 1.0]), np.array([3, 3])).tolist() == [3, 3]

    def test_too_narrow_bounds_are_refused(self):
        with pytest.raises(ValueError, match="the bounds hold 3, 4 are to be divided"):
            apportion(4, np.array([1.0, 1.0]), np.array([1, 2]))
