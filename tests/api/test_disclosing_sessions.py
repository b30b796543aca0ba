"""What several outputs of a session tell together of a group: that all of it, or nobody, is so."""

import pandas as pd
import pytest

from policy_engine import output_session


def workers(cells):
    """Return so many persons for each pair of a job and an income."""
    rows = [(*key, number) for key, count in cells.items() for number in range(count)]
    frame = pd.DataFrame(rows, columns=["job", "income", "number"])
    return frame.assign(person=range(len(frame)), age=20 + frame.number % 37)


PAID = {("office", "low"): 50, ("office", "high"): 40, ("unpaid", "low"): 12, ("farm", "low"): 30,
        ("farm", "high"): 25}  # fmt: skip


def asked(tmp_path, frame, profile="bundesbank"):
    return output_session(None, tmp_path / "folder", data=frame, profile=profile, unit="person")


def sizes(output):
    return output.to_pandas().iloc[:, 0]


@pytest.mark.parametrize("profile", ["bundesbank", "sacro", "dwb-2015"])
def test_that_all_of_a_group_are_alike_is_not_told_by_a_filter(tmp_path, profile):
    frame = workers(PAID)
    with asked(tmp_path, frame, profile) as session:
        assert sizes(session.groupby("job").size())["unpaid"] == 12
        low = sizes(session.groupby("job", data=frame[frame.income == "low"]).size())
    assert pd.isna(low["unpaid"])
    assert low[["office", "farm"]].tolist() == [50, 30]


def test_that_all_of_a_group_are_alike_is_not_told_by_another_key_or_a_model(tmp_path):
    frame = workers(PAID)
    with asked(tmp_path, frame) as session:
        session.groupby("job").size()
        both = sizes(session.groupby(["job", "income"]).size())
    assert ("unpaid", "low") not in both.dropna()


@pytest.mark.parametrize(
    "chosen",
    [
        lambda frame: frame[frame.job != "farm"],
        lambda frame: frame.dropna(subset="pay"),
        lambda frame: frame.sample(frac=1, random_state=0),
    ],
    ids=["groups", "without missing values", "in another order"],
)
def test_rows_that_were_chosen_by_what_is_known_are_shown_again(tmp_path, chosen):
    frame = workers(PAID)
    frame["pay"] = frame.age.where((frame.job != "office") | (frame.number < 20)) * 10.0
    with asked(tmp_path, frame) as session:
        first = sizes(session.groupby("job").size())
        again = sizes(session.groupby("job", data=chosen(frame)).size())
    assert first.notna().all()
    assert again.notna().all()


def test_a_combination_that_a_table_leaves_out_is_withheld_as_a_zero(tmp_path):
    frame = workers({**PAID, ("unpaid", "middle"): 40, ("farm", "middle"): 20})
    with asked(tmp_path, frame, "sacro") as session:
        both = session.groupby(["job", "income"]).size()
        totals = sizes(session.groupby("job").size())
    assert both.to_pandas().loc[("office", "middle")].isna().all()
    shown = sizes(both)["office"]
    assert pd.isna(totals["office"]) or shown[["low", "high"]].isna().any()


def earners():
    """Return 120 persons in three places, one of whom earns most of the first."""
    frame = pd.DataFrame({"person": range(120), "place": list("abc") * 40})
    frame["wage"] = 10.0 + frame.person % 17
    frame.loc[0, "wage"] = 50_000
    frame["other"] = 4_000.0 + 13 * (frame.person % 31)
    return frame.assign(both=frame.wage + frame.other, thousands=frame.wage / 1000)


def test_a_withheld_total_does_not_follow_from_the_column_in_other_units(tmp_path):
    frame = earners().assign(sex=lambda some: some.person % 2)
    with asked(tmp_path, frame, "sacro") as session:
        cells = session.crosstab("place", "sex", values="wage", aggfunc="sum").to_pandas()
        totals = sizes(session.groupby("place")["thousands"].sum())
    assert cells.loc["a"].isna().sum() == 1
    assert pd.isna(totals["a"])
    assert totals["b"] == pytest.approx(cells.loc["b"].sum() / 1000)


def test_a_withheld_total_does_not_follow_from_sums_with_another_column(tmp_path):
    with asked(tmp_path, earners(), "sacro") as session:
        assert pd.isna(sizes(session.groupby("place")["wage"].sum())["a"])
        assert sizes(session.groupby("place")["other"].sum()).notna().all()
        both = session.groupby("place")["both"].sum()
    assert (both.status, [*both.reasons]) == ("review", ["K046"])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("profile", ["dwb-2015", "bundesbank"])
def test_a_cell_that_the_rules_withhold_is_not_shown_under_another_condition(tmp_path, profile):
    """Tables of earlier sessions are compared by their rows alone, and all of the unpaid, and of
    those retired, are those of them with a low income."""
    about = {
        "data": workers({**PAID, ("retired", "low"): 30}),
        "profile": profile,
        "unit": "person",
    }
    about["ledger"] = tmp_path / "ledger"
    with output_session(None, tmp_path / "first", **about) as session:
        cells = session.crosstab("job", "income")
    assert cells.to_pandas()["low"].isna().to_dict() == {
        "farm": False,
        "office": False,
        "retired": True,
        "unpaid": True,
    }
    with output_session(None, tmp_path / "second", **about) as session:
        totals = session.groupby("job").size()
    (final,) = session.outputs
    assert sizes(totals)[["retired", "unpaid"]].tolist() == [30, 12]
    assert sizes(final).isna()[["farm", "retired", "unpaid"]].tolist() == [False, True, True]


def test_zeros_are_protected_where_values_of_a_column_without_missing_ones_are_counted(tmp_path):
    with asked(tmp_path, workers(PAID), "sacro") as session:
        assert sizes(session.groupby("job")["age"].count()).notna().all()
        both = sizes(session.groupby(["job", "income"]).size())
    assert pd.isna(both["unpaid", "low"])
    assert both["office"].notna().all()


def test_what_two_totals_differ_by_is_judged_as_a_cell(tmp_path):
    """Ten persons, one of whom earns nearly all that they have together, are no cell."""
    frame = pd.DataFrame({"person": range(120), "place": list("ab") * 60})
    frame["wage"] = 4000.0 + frame.person % 17
    frame.loc[100, "wage"] = 90_000
    frame.loc[102::2, "wage"] = 10.0
    with asked(tmp_path, frame, "sacro") as session:
        whole = session.groupby("place")["wage"].sum()
        part = session.groupby("place", data=frame[frame.person < 100])["wage"].sum()
    assert sizes(whole).notna().all()
    assert sizes(part).isna().tolist() == [True, False]


def test_totals_of_a_table_that_is_withheld_whole_do_not_follow_from_three_others(tmp_path):
    frame = pd.DataFrame({"person": range(160), "place": list("abcd") * 40})
    frame["wage"] = (4000.0 + frame.person % 17).where(frame.place != "a", 100.0 + frame.person % 3)
    frame.loc[0, "wage"] = 90_000
    with asked(tmp_path, frame, "sacro") as session:
        first = session.groupby("place", data=frame[frame.place == "a"])["wage"].sum()
        others = session.groupby("place", data=frame[frame.place != "a"])["wage"].sum()
        whole = session.groupby([])["wage"].sum()
    assert (first.status, others.is_whole) == ("suppressed", True)
    assert whole.status == "suppressed"


def test_districts_are_counted_after_their_table_with_regions_was_withheld(tmp_path):
    frame = pd.DataFrame({"person": range(600), "district": list("abcdef") * 100})
    frame["region"] = frame.district.map(dict(zip("abcdef", "nnsswe", strict=True)))
    with asked(tmp_path, frame, "sacro") as session:
        both = session.groupby(["region", "district"]).size()
        districts = session.groupby("district").size()
    assert (both.status, districts.is_whole) == ("suppressed", True)
