"""Which communities are kept whole, which are sacrificed, and what the table as a file says of them."""

import csv
import io
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from bottomup.dashboard.concerned import concerned, find_words
from bottomup.dashboard.fates import compare, find_rivals, frequencies, units_of_clusters
from bottomup.dashboard.fates_file import COLUMNS, fates_csv
from bottomup.dashboard.fates_words import plan_sentence
from bottomup.dashboard.selection import Cluster, District, Unit
from bottomup.dashboard.selection import Testimony as OneTestimony


@pytest.fixture
def testimonies(inputs_of):
    """Six pairs of neighbours; the first two straddle a border of the quadrants."""
    return inputs_of().testimonies


def plans(*shares, n=400):
    """Plans that keep each testimony whole so often; those that keep it come first."""
    return np.column_stack([(np.arange(n) < share * n).astype(np.uint8) for share in shares])


def test_frequencies_of_testimonies_and_clusters(testimonies):
    whole = plans(0.5, 0.0, 1.0, 0.2, 0.4, 1.0)
    by_testimony = frequencies(whole, 400.0)
    np.testing.assert_allclose(by_testimony.mean, [0.5, 0.0, 1.0, 0.2, 0.4, 1.0])
    # Of 400 independent plans half of which keep it; certainty is not claimed of what never varied.
    assert by_testimony.error[0] == pytest.approx(0.025, rel=0.01)
    assert 0 < by_testimony.error[1] < 0.01
    by_cluster = frequencies(whole, 400.0, testimonies.clusters)
    np.testing.assert_allclose(by_cluster.mean, [0.5, 0.3])
    # A cluster's share varies from plan to plan as the mean over its testimonies does.
    per_plan = whole[:, 3:5].mean(axis=1)
    assert by_cluster.error[1] == pytest.approx(per_plan.std() / 20, rel=0.05)


def test_no_plans_tell_nothing():
    fates = compare(frequencies(plans(0.5, n=0), 0.0), frequencies(plans(0.5), 400.0))
    assert math.isnan(fates.kept[0])
    assert not fates.is_sacrificed[0]


@pytest.mark.parametrize(
    ("kept", "baseline", "n_effective", "is_sacrificed"),
    [
        (0.4, 0.6, 400, True),
        # Below five points, however many plans there are.
        (0.46, 0.5, 1e6, False),
        # Within two standard errors of 25 plans each.
        (0.4, 0.6, 25, False),
        (0.0, 0.4, 25, True),
        (0.6, 0.4, 400, False),
    ],
)
def test_sacrificed_is_clearly_less_often_than_in_the_baseline(kept, baseline, n_effective, is_sacrificed):
    before, after = frequencies(plans(baseline), n_effective), frequencies(plans(kept), n_effective)
    fates = compare(after, before)
    assert fates.is_sacrificed[0] == is_sacrificed
    assert compare(before, after).is_gaining[0] == is_sacrificed
    assert not compare(after, before, is_judged=False).is_sacrificed[0]


def test_rivals_gain_and_are_kept_when_the_other_is_split():
    first = np.repeat([1, 0], [100, 300]).astype(np.uint8)
    whole = np.column_stack([first, 1 - first, first, np.ones(400, np.uint8), 1 - first])
    gains = np.array([False, True, True, True, False])
    (rival,) = find_rivals(whole, 0, gains)
    assert (rival.place, rival.when_split, rival.when_whole) == (1, 1.0, 0.0)
    # Ten plans that keep it say too little.
    assert find_rivals(whole[90:], 0, gains) == ()


def test_a_cluster_covers_what_any_of_its_testimonies_does(testimonies):
    indptr, units = units_of_clusters(testimonies)
    assert [units[a:b].tolist() for a, b in itertools.pairwise(indptr)] == [
        [0, 1, 2, 3, 17, 23],
        [7, 13, 28, 29],
    ]


def test_testimonies_of_a_thing_pointed_at(testimonies, inputs_of):
    plan = inputs_of().enacted
    ids = tuple(f"u{i}" for i in range(36))

    def of(pointed):
        found = concerned(pointed, testimonies, ids, plan.assignment, plan.labels)
        return None if found is None else (np.flatnonzero(found.rows).tolist(), found.words)

    assert of(Unit(13)) == ([3], "1 testimony covers unit u13.")
    assert of(Unit(35)) == ([], "No testimony covers unit u35.")
    # The first two straddle a border of the quadrants: (2, 3) from the south-west to the south-east.
    assert of(District(0)) == (
        [0, 2, 3],
        "In the plan on the map 2 testimonies lie in district 1, and its border cuts 1.",
    )
    assert of(Cluster(1)) == ([3, 4], "2 testimonies are in cluster B.")
    assert of(OneTestimony(0)) is None
    assert of(None) is None


def test_a_search_finds_all_words_in_any_case_and_order():
    texts = ["t1 Old Town: River", "t2 Old Mill", "t3"]
    assert find_words(texts, "river OLD").tolist() == [True, False, False]
    assert find_words(texts, " ").tolist() == [True, True, True]


def test_the_sentence_is_about_the_plan_on_the_map():
    kept, enacted = np.array([True, True, False]), np.array([True, False, False])
    walking, standing = SimpleNamespace(origin=object()), SimpleNamespace(origin=None)
    assert plan_sentence(walking, kept, enacted, 0.5) == (
        "The plan on the map keeps <b>2</b> of 3 testimonies whole, the enacted plan <b>1</b>, the ensemble "
        "<b>1.5</b> on average."
    )
    assert plan_sentence(standing, enacted, enacted, None) == (
        "The enacted plan, on the map, keeps <b>1</b> of 3 testimonies whole."
    )


def test_the_file_has_every_row_and_no_formula(testimonies):
    testimonies.texts["t1"] = '=HYPERLINK("x")'
    before, after = plans(0.5, 0.5, 0.5, 0.5, 0.5, 0.5), plans(0.1, 0.9, 0.5, 0.5, 0.5, 0.5)
    of_testimonies, of_clusters = (
        compare(frequencies(after, 400, groups), frequencies(before, 400, groups))
        for groups in (None, testimonies.clusters)
    )
    unknown = np.full(6, np.nan), np.full(6, np.nan)
    text = fates_csv(
        testimonies,
        of_clusters,
        of_testimonies,
        (np.array([2.0, 3.0]), np.array([0.5, 0.25])),
        unknown,
        np.array([False, False, True, True, True, True]),
        is_judged=True,
    )
    header, *rows = csv.reader(io.StringIO(text))
    assert tuple(header) == COLUMNS
    table = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["id"] for row in table] == ["A", "B", *testimonies.ids]
    assert [row["compared_with_baseline"] for row in table[2:5]] == [
        *("sacrificed", "kept more", "no clear change")
    ]
    assert (table[0]["testimonies"], table[0]["kept_by_enacted_plan"]) == ("3", "1")
    assert (table[1]["districts"], table[1]["best_district_percent"]) == ("3.00", "25.00")
    assert (table[2]["kept_percent"], table[2]["change_points"], table[2]["districts"]) == (
        "10.00",
        "-40.00",
        "",
    )
    assert table[3]["text"] == '\'=HYPERLINK("x")'
