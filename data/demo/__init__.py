"""The demonstration state: Missouri, with drawn block groups inside real county outlines.

What is real, and where it comes from:

* County outlines: the ``us_counties`` data of the ``bokeh_sampledata`` package (BSD-3-Clause), drawn from
  boundary files of the US Census Bureau (public domain); simplified here, their gaps and overlaps removed.
* County figures (``counties.csv``): population, voting-age population and its Black part from the 2020 Census
  redistricting file, number of block groups, and the official count of the 2020 presidential election.
  Public domain.
* Shares of each county in each district (``plan_by_county.csv``) of the plans enacted in 2022 and 2025: facts
  of public law, counted by population.
* Towns (``towns.csv``): positions to about a kilometre, populations of the 2020 Census. Public domain.

Everything else is drawn by ``python -m bottomup.data.demo.build`` from one seed: the 5,031 block groups and
who lives in each, the lines of both plans inside divided counties, and all 808 testimonies.
"""

from bottomup.data.demo.load import Demo, load_demo

__all__ = ["Demo", "load_demo"]
