import numpy as np
import pandas as pd

from bottomup.data import Electorate, Geography, Votes
from bottomup.sampler.shares import available_shares, judged_shares


def geography(**electorate):
    columns = {name: np.arange(2) + number for number, name in enumerate("abcdef")}
    return Geography(
        name="two",
        ids=("1", "2"),
        population=np.ones(2, dtype=np.int64),
        edges=np.array([[0, 1]], dtype=np.int32),
        columns=pd.DataFrame(columns),
        electorate=Electorate(**electorate),
    )


def test_every_group_and_every_election_has_a_share():
    both = {"President 2020": Votes("c", "d"), "U.S. Senate 2018": Votes("e", "f")}
    shares = available_shares(
        geography(voting_age="f", groups={"Black": "a", "Hispanic": "b"}, elections=both)
    )
    assert {name: share.column for name, share in shares.items()} == {
        "Black": "black_vap_share",
        "Hispanic": "hispanic_vap_share",
        "Democratic, President 2020": "democratic_president_2020_share",
        "Democratic, U.S. Senate 2018": "democratic_u_s_senate_2018_share",
    }
    black, senate = shares["Black"], shares["Democratic, U.S. Senate 2018"]
    assert (black.numerator.tolist(), black.denominator.tolist()) == ([0, 1], [5, 6])
    assert (senate.numerator.tolist(), senate.denominator.tolist()) == ([4, 5], [9, 11])
    assert judged_shares(shares) == ["Black", "Democratic, President 2020"]


def test_a_single_election_needs_no_name():
    shares = available_shares(geography(elections={"President 2020": Votes("c", "d")}))
    assert {name: share.column for name, share in shares.items()} == {"Democratic": "democratic_share"}
    assert judged_shares(shares) == ["Democratic"]
    assert available_shares(geography(voting_age="a")) == {}
    assert judged_shares({}) == []


def test_names_that_files_write_alike_stay_apart():
    shares = available_shares(geography(voting_age="f", groups={"Two or more": "a", "two-or-more": "b"}))
    assert [share.column for share in shares.values()] == ["two_or_more_vap_share", "two_or_more_vap_share_2"]
