"""The real facts the demonstration state rests on, read from the files shipped with it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

#: Every random stream of the build starts from this number.
SEED = 29

#: The folder of the shipped files.
FILES = Path(__file__).parent / "files"

#: Files written by hand: the build reads them and carries them over unchanged.
FACT_FILES = ("counties.csv", "plan_by_county.csv", "towns.csv")

#: Positions are whole multiples of this many degrees (about one metre), so neighbours share vertices exactly.
GRID = 1e-5

#: East-west degrees are this much shorter than north-south ones in the middle of the state.
LONGITUDE_SCALE = 0.7844

#: Kilometres in one degree of latitude.
KILOMETRES_PER_DEGREE = 111.2


def read_counties(folder: Path = FILES) -> pd.DataFrame:
    """Read the county figures.

    Parameters
    ----------
    folder : Path
        Folder that holds ``counties.csv``.

    Returns
    -------
    DataFrame
        One row per county, indexed by its five-digit code (text), in ascending order.
    """
    counties = pd.read_csv(folder / "counties.csv", dtype={"county": str})
    return counties.set_index("county").sort_index()


def read_plan_shares(folder: Path = FILES) -> pd.DataFrame:
    """Read how many people of each county each enacted district holds.

    Parameters
    ----------
    folder : Path
        Folder that holds ``plan_by_county.csv``.

    Returns
    -------
    DataFrame
        Columns ``plan``, ``county`` (text), ``district``, ``pop20`` and ``share``.
    """
    return pd.read_csv(folder / "plan_by_county.csv", dtype={"county": str, "district": int})


def read_towns(folder: Path = FILES) -> pd.DataFrame:
    """Read the towns: name, position in degrees, population in 2020.

    Parameters
    ----------
    folder : Path
        Folder that holds ``towns.csv``.

    Returns
    -------
    DataFrame
        Columns ``name``, ``lon``, ``lat`` and ``population``, largest town first.
    """
    return pd.read_csv(folder / "towns.csv")
