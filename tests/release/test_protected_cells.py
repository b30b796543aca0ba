"""Withheld cells of counts: other cells, and tables, of a session do not tell them."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session
from policy_engine.release import key_combinations

CELLS = {
    ("n", "a"): 30, ("n", "b"): 20, ("s", "a"): 15, ("s", "b"): 15, ("s", "c"): 20,
    ("s", "d"): 25, ("w", "a"): 18, ("w", "b"): 22, ("w", "c"): 26, ("w", "d"): 21,
}  # fmt: skip
"""Nobody of region n is in the sectors c and d."""


def people():
    rows = [key for key, count in CELLS.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["region", "sector"])
    return frame.assign(person=range(len(frame)), pay=100.0 + np.arange(len(frame)) % 7)


@pytest.fixture
def session(tmp_path):
    """Return a function that begins a session, which ends with the test."""
    with ExitStack() as stack:

        def begin(data=None, profile="sacro"):
            frame = people() if data is None else data
            out = tmp_path / "out"
            made = output_session(None, out, data=frame, profile=profile, unit="person")
            return stack.enter_context(made)

        yield begin


def shown(output, column):
    if output.status != "released":
        return {}
    figures = output.to_pandas()[column].dropna()
    return figures.to_dict()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("keys", [("region", "sector"), ("sector", "region")])
def test_totals_do_not_tell_that_a_withheld_cell_is_of_nobody(session, keys):
    made = session()
    cells = made.crosstab("region", "sector").to_pandas()
    assert cells.loc["n"].isna().tolist() == [False, False, True, True]
    sizes = {key: shown(made.groupby(key).size(), "size") for key in keys}
    # 50 of region n are 30 and 20 and nobody else, and are what 75 and 87 leave of all 212; in the
    # sectors c and d are 20 and 26, and 25 and 21.
    assert sizes["region"] == {"w": 87}
    assert sizes["sector"] == {"b": 57}


def test_cells_do_not_tell_it_after_totals(session):
    made = session()
    made.groupby("region").size()
    cells = made.crosstab("region", "sector").to_pandas()
    assert cells.loc["n", ["a", "b"]].isna().any()


def test_zeros_are_shown_where_a_profile_does_not_hold_that_they_disclose(session):
    made = session(profile="abs")
    assert made.crosstab("region", "sector").is_whole
    assert made.groupby("region").size().is_whole


def test_sums_do_not_tell_it_either(session):
    made = session()
    made.crosstab("region", "sector", "pay", aggfunc="sum")
    assert "n" not in shown(made.groupby("region")["pay"].sum(), "sum pay")


def test_a_reader_knows_which_district_is_of_which_region(session):
    frame = people().rename(columns={"sector": "sex"})
    frame["district"] = frame.region + np.where(frame.index % 2, "1", "2")
    made = session(frame)
    made.crosstab("region", "sex")
    whole = made.groupby("district").size()
    both = made.groupby(["district", "region"]).size()
    told = shown(whole, "size") | {(d, r): n for (d, r), n in shown(both, "size").items()}
    assert not {"n1", "n2"} <= set(told)


def test_too_many_combinations_are_for_a_person(session, monkeypatch):
    monkeypatch.setattr(key_combinations, "MOST_COMBINATIONS", 9)
    made = session()
    assert list(made.crosstab("region", "sector").reasons) == ["K046"]


JOBS = {("office", "low"): 50, ("office", "high"): 40, ("unpaid", "low"): 40, ("farm", "low"): 30,
        ("farm", "high"): 25}  # fmt: skip
"""All of the unpaid have a low income."""


def jobs():
    rows = [key for key, count in JOBS.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["job", "income"])
    return frame.assign(person=range(len(frame)), sex=np.arange(len(frame)) % 2)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("profile", ["bundesbank", "fsrdc", "dwb-2015", "abs"])
def test_zeros_beside_a_cell_do_not_tell_that_all_of_a_known_total_are_in_it(session, profile):
    made = session(jobs(), profile)
    assert shown(made.groupby("job").size(), "size")["unpaid"] == 40
    cells = made.crosstab("job", "income").to_pandas()
    assert cells.loc["unpaid"].isna().all()
    assert cells.loc[["farm", "office"]].notna().all(axis=None)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("profile", ["bundesbank", "dwb-2015"])
def test_totals_do_not_tell_it_after_zeros(session, profile):
    made = session(jobs(), profile)
    cells = made.crosstab("income", "job").to_pandas()
    # What is left of all 185 is 40, if nobody else is unpaid.
    assert cells["unpaid"].isna().all()
    assert "unpaid" not in shown(made.groupby("job").size(), "size")


def test_a_filter_that_says_which_rows_are_there_is_known(session):
    frame = jobs()
    made = session(frame, "bundesbank")
    sexes = frame[frame.sex == 1]
    assert shown(made.groupby("job", data=sexes).size(), "size")["unpaid"] == 20
    both = made.crosstab(["sex", "job"], "income").to_pandas()
    assert both.loc[(1, "unpaid")].isna().all()


def test_nearly_all_of_a_line_is_not_told_of_a_cell_whose_figure_was_shown(session):
    frame = jobs()
    made = session(frame, "bundesbank")
    low = shown(made.groupby("job", data=frame[frame.income == "low"]).size(), "size")
    cells = made.crosstab("job", "income").to_pandas()
    assert low["unpaid"] == 40
    assert cells.loc["unpaid"].isna().all()


def test_a_total_of_nobody_is_a_zero_like_others(session):
    made = session(jobs().assign(pay=100.0 + np.arange(185) % 7), "bundesbank")
    made.groupby("job").size()
    made.crosstab("job", "income")
    sums = made.crosstab("job", "income", "pay", aggfunc="sum").to_pandas()
    assert pd.isna(sums.loc["unpaid", "high"])
    assert sums.loc["unpaid", "low"] > 4000


@pytest.mark.one_in(2)
@pytest.mark.parametrize("profile", ["bundesbank", "dwb-2015"])
def test_totals_of_nobody_do_not_tell_that_all_of_a_line_are_in_a_cell(session, profile):
    made = session(jobs().assign(pay=100.0 + np.arange(185) % 7), profile)
    sums = made.crosstab("job", "income", "pay", aggfunc="sum", margins=True).to_pandas()
    assert sums.loc["unpaid", ["low", "high"]].isna().all()
    assert made.crosstab("job", "income").to_pandas().loc["unpaid"].isna().all()


def test_totals_of_nobody_do_not_tell_it_of_a_table_of_which_nothing_was_shown(session):
    frame = jobs().assign(pay=100.0 + np.arange(185))
    made = session(frame, "abs")
    unpaid = made.crosstab("job", "income", data=frame[frame.job == "unpaid"])
    assert unpaid.status == "suppressed"
    sums = made.crosstab("job", "income", "pay", aggfunc="sum").to_pandas()
    assert pd.isna(sums.loc["unpaid"]).any()
    assert sums.loc[["farm", "office"]].notna().all(axis=None)


MIXED = [60, 10, 12, 11, 11, 10, 11, 12, 9, 11, 60, 30, 10, 12, 30, 20, 30, 10]
"""How many persons the combinations of two, three and three values of a, b and c have."""


def test_a_total_of_chosen_rows_of_which_nothing_is_shown_is_not_known(session):
    kinds = [(a, b, c) for a in "st" for b in "uvw" for c in "xyz"]
    rows = [kind for kind, count in zip(kinds, MIXED, strict=True) for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(person=range(len(rows)))
    made = session(frame, "dwb-2015")
    made.crosstab("c", ["b", "a"])
    made.groupby(["b", "a"]).size()
    made.groupby("a", data=frame[frame.b == "w"]).size()
    shares = made.crosstab("b", "a", data=frame[frame.c == "x"], normalize="all")
    # They tell how many have x in all, and so, with what was shown, that z, w and s are 9.
    assert shares.status == "suppressed"


def test_rows_of_which_nothing_is_shown_are_not_listed_where_others_are_not(session):
    frame = jobs()
    made = session(frame, "bundesbank")
    listed = made.groupby(["job", "income"]).size().to_pandas()
    assert ("unpaid", "low") not in listed.index
    assert ("farm", "low") in listed.index


def test_tables_by_other_keys_do_not_keep_large_ones_from_being_compared(session, monkeypatch):
    monkeypatch.setattr(key_combinations, "MOST_COMBINATIONS", 11)
    made = session(jobs(), "bundesbank")
    made.groupby("sex").size()
    made.groupby("job").size()
    cells = made.crosstab("job", "income").to_pandas()
    assert cells.loc["unpaid"].isna().all()


def test_zeros_alone_do_not_tell_that_all_of_a_line_are_in_a_cell(session):
    rows = [key for key, count in {**JOBS, ("retired", "low"): 30}.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["job", "income"]).assign(person=range(len(rows)))
    cells = session(frame, "bundesbank").crosstab("job", "income").to_pandas()
    # How many are in each is not told, but that they are in this cell would be.
    assert cells.loc[["retired", "unpaid"]].isna().all(axis=None)
    assert cells.loc[["farm", "office"]].notna().all(axis=None)


def test_a_key_under_another_name_is_the_same(session):
    frame = people()
    made = session(frame)
    made.crosstab("region", "sector")
    places = made.groupby(frame.region.rename("place")).size()
    # As of regions, the total of 50 would tell that nobody is in two sectors.
    assert shown(places, "size") == {"w": 87}


def test_another_key_under_the_same_name_is_another_one(session):
    frame = jobs().assign(age=lambda some: 20 + some.person % 40)
    made = session(frame, "bundesbank")
    for ends in ([0, 30, 99], [0, 50, 99]):
        assert made.groupby(pd.cut(frame.age, ends, labels=["young", "old"])).size().is_whole
    assert made.crosstab("job", "income").to_pandas().loc["unpaid"].isna().all()


SECTORS = {("north", "farm"): 30, ("north", "shop"): 40, ("south", "farm"): 6,
           ("south", "shop"): 38, ("west", "farm"): 25, ("west", "shop"): 33}  # fmt: skip
"""Of 172 persons, six are too few; another cell is withheld, or these follow from all others."""


def sectors():
    rows = [key for key, count in SECTORS.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["region", "sector"])
    random = np.random.default_rng(0)
    return frame.assign(
        person=range(len(frame)),
        age=random.integers(20, 60, len(frame)),
        pay=random.lognormal(3, 0.5, len(frame)).round(2),
    )


def by_sector(made, aggregates):
    """Return which cells are shown of all of some aggregates."""
    keys = ["region", "sector"]
    if aggregates == "size":
        frame = made.groupby(keys).size().to_pandas()
    else:
        frame = made.groupby(keys)[aggregates[0]].agg([*aggregates[1:]]).to_pandas()
    figures = frame.set_index(keys) if set(keys) <= {*frame} else frame
    return {*figures.dropna().index}


TOTALS = [("pay", "mean"), ("pay", "sum", "mean")]
SPREADS = [("pay", "std", "sem"), ("pay", "var"), ("age", "median"), ("age", "mean", "std")]
TELLING = [("sacro", one) for one in TOTALS + SPREADS] + [
    (profile, one) for profile in ("dwb-2015", "abs", "bundesbank") for one in TOTALS
]


@pytest.mark.one_in(9)
@pytest.mark.parametrize(("profile", "aggregates"), TELLING)
@pytest.mark.parametrize("is_first", [True, False])
def test_figures_do_not_tell_the_count_that_is_withheld(session, profile, aggregates, is_first):
    frame = sectors()
    if profile == "bundesbank":
        frame = frame.drop(frame[(frame.region == "south") & (frame.sector == "farm")].index[3:])
    made = session(frame, profile)
    asked = [aggregates, "size"] if is_first else ["size", aggregates]
    told = set().union(*(by_sector(made, one) for one in asked))
    assert 2 <= len({*SECTORS} - told) < len(SECTORS)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shares", [[0.4137, 0.5713], [0.5], [0.25, 0.5, 0.75]])
def test_quantiles_do_not_tell_it_either(session, shares):
    made = session(sectors())
    figures = made.groupby(["region", "sector"])["age"].quantile(shares).to_pandas()
    figures = figures.set_index(["region", "sector"]) if "region" in figures else figures
    told = {*figures.dropna().index} | by_sector(made, "size")
    assert 2 <= len({*SECTORS} - told) < len(SECTORS)


def test_means_by_a_table_of_two_ways_do_not_tell_it(session):
    made = session(sectors())
    means = made.crosstab("region", "sector", "pay", aggfunc="mean").to_pandas()
    cells = made.crosstab("region", "sector").to_pandas()
    assert (means.isna() & cells.isna()).to_numpy().sum() > 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("profile", ["bundesbank", "dwb-2015"])
def test_counts_are_protected_from_who_does_not_infer_them_of_means(session, profile):
    made = session(jobs().assign(pay=100.0 + np.arange(185) % 7), profile)
    made.groupby(["job", "income"])["pay"].mean()
    cells = made.crosstab("income", "job").to_pandas()
    assert cells["unpaid"].isna().all()
    assert "unpaid" not in shown(made.groupby("job").size(), "size")


def districts():
    counts = {("n1", "a"): 20, ("n1", "b"): 15, ("n3", "c"): 24, ("n3", "a"): 25, ("n3", "b"): 21,
              ("n2", "a"): 14, ("n2", "b"): 16, ("n2", "c"): 30,
              ("s1", "a"): 22, ("s1", "b"): 18, ("s1", "c"): 26,
              ("s2", "a"): 22, ("s2", "b"): 18, ("s2", "c"): 26}  # fmt: skip
    rows = [key for key, count in counts.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["district", "sector"])
    return frame.assign(region=frame.district.str[0], person=range(len(frame)))


def test_cells_of_nobody_are_secret_where_one_key_decides_about_another(session):
    made = session(districts())
    made.nested("district", within="region")
    cells = shown(made.groupby(["district", "region", "sector"]).size(), "size")
    sizes = shown(made.groupby("district").size(), "size")
    # That nobody of n1 is in sector c follows from all other cells, and from its 35 and two cells.
    assert len(cells) == 13
    assert "n1" not in sizes
    assert "n3" in sizes


def test_of_many_combinations_those_near_to_rows_are_looked_at(session, monkeypatch):
    monkeypatch.setattr(key_combinations, "MOST_COMBINATIONS", 11)
    made = session()
    cells = made.crosstab("region", "sector").to_pandas()
    sizes = shown(made.groupby("region").size(), "size")
    assert cells.loc["n"].isna().tolist() == [False, False, True, True]
    assert sizes == {"w": 87}
