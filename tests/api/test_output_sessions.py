"""Sessions of analyses: what pandas would show, what is withheld, and the folder at the end."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from output_checked import TABLE, policy_with

import policy_engine
from policy_engine import PolicyEngineError, output_session
from policy_engine.release.output_ledger import OutputLedger

CELLS = {
    ("A", "agr"): 30, ("A", "ind"): 40, ("B", "agr"): 25, ("B", "ind"): 33,
    ("C", "agr"): 6, ("C", "ind"): 78, ("D", "agr"): 1, ("D", "ind"): 33,
}  # fmt: skip
"""The table of which ACRO 1.0.2 lets two cells be recovered, 6 and 1, by a second table."""


def people(**changed):
    """Return the persons in the cells, of which some are changed by their keys, as in `Cagr=9`."""
    sizes = {(r, s): changed.get(r + s, count) for (r, s), count in CELLS.items()}
    frame = pd.DataFrame(
        [{"region": r, "sector": s} for (r, s), count in sizes.items() for _ in range(count)]
    )
    random = np.random.default_rng(0)
    return frame.assign(
        pay=random.lognormal(3, 0.5, len(frame)).round(2),
        age=random.integers(20, 60, len(frame)),
        person=np.arange(len(frame)),
    )


def session(tmp_path, **options):
    chosen = {"data": people(), "profile": "sacro", "unit": "person", **options}
    return output_session(None, tmp_path / "folder", **chosen)


def figures(output):
    """Return the cells that are shown, by the labels to the left and on top."""
    frame = output.to_pandas()
    return {(row, column): frame.loc[row, column] for row in frame.index for column in frame}


def test_deviation_beside_a_mean_does_not_tell_what_all_have_closely(tmp_path):
    frame = people()
    pays = np.where(frame.region == "A", 4000 + frame.person % 30, frame.pay)
    with session(tmp_path, data=frame.assign(pay=pays)) as made:
        table = figures(made.groupby("region")["pay"].agg(["mean", "std"]))
    withheld = [cell for cell, figure in table.items() if np.isnan(figure)]
    assert withheld == [("A", "std pay")]


def test_two_tables_do_not_give_away_what_one_withholds(tmp_path):
    with session(tmp_path) as made:
        table = made.crosstab("region", "sector")
        totals = made.groupby("region").size()
    shown, regions = figures(table), totals.to_pandas()["size"]
    assert (table.status, totals.status) == ("released", "released")
    for region in "CD":
        assert pd.isna(shown[region, "agr"])
        both = not pd.isna(regions[region]) and not pd.isna(shown[region, "ind"])
        assert not both, "a total less its other part is the cell that is withheld"


def test_the_second_table_is_withheld_where_the_first_showed_the_other_part(tmp_path):
    policy = policy_with(
        ("pe:outputCheck", "eq", "sacro"),
        ("pe:privacyUnit", "eq", f"{TABLE}/person"),
        ("pe:zerosDisclosive", "eq", False),
    )
    with output_session(policy, tmp_path / "f", data={TABLE: people(Cagr=9)}) as made:
        table, totals = made.crosstab("region", "sector"), made.groupby("region").size()
    assert figures(table)["C", "ind"] == 78
    regions = totals.to_pandas()["size"]
    assert regions[["A", "B"]].tolist() == [70, 58]
    assert pd.isna(regions["C"])
    assert pd.isna(regions["D"]), "with the number of all rows, it would tell that of C"
    assert pd.isna(figures(table)["D", "ind"]), "nearly all of the region"
    assert totals.reasons.keys() == {"K049"}


def test_shown_cells_are_those_of_pandas(tmp_path):
    frame = people()
    with session(tmp_path) as made:
        table = made.crosstab(frame.region, frame.sector, values=frame.pay, aggfunc="mean")
    expected = pd.crosstab(frame.region, frame.sector, values=frame.pay, aggfunc="mean")
    shown = {key: value for key, value in figures(table).items() if not pd.isna(value)}
    assert shown
    assert all(value == pytest.approx(expected.loc[key]) for key, value in shown.items())


def test_rates_agree_with_the_table_that_they_are_of(tmp_path):
    """Of 300 persons, 285 are not nearly all, and 15 of 300 are not few; 295 are nearly all."""
    frame = people(Aagr=15, Aind=285, Bagr=5, Bind=295).assign(ind=lambda one: one.sector == "ind")
    frame["ind"] = frame.ind.astype(int)
    with session(tmp_path, data=frame[frame.region.isin(["A", "B"])]) as made:
        shown = figures(made.crosstab("region", "sector"))
    with session(tmp_path / "rates", data=frame) as made:
        rates = made.groupby("region")["ind"].mean().to_pandas()["mean ind"]
    assert shown["A", "ind"] == 285
    assert rates["A"] == pytest.approx(0.95)
    assert pd.isna([shown["B", "ind"], rates["B"]]).all()


def test_shares_hide_what_the_counts_would(tmp_path):
    with session(tmp_path) as made:
        shares = made.crosstab("region", "sector", normalize="index")
    shown = figures(shares)
    assert shown["A", "agr"] == pytest.approx(30 / 70)
    assert pd.isna(shown["C", "agr"])
    assert pd.isna(shown["C", "ind"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_of_both_libraries_are_taken(tmp_path, make):
    with session(tmp_path, data=make(people().to_dict("list"))) as made:
        table = made.pivot_table(values="pay", index="sector", aggfunc=["mean", "count"])
        part = make(people()[people().sector == "ind"].to_dict("list"))
        subset = made.groupby("region", data=part)["pay"].agg("mean")
    assert table.table.column_names == ["sector", "mean pay", "count pay"]
    assert subset.status == "released"


def test_maxima_are_refused_and_named_aggregates_are_shown_by_their_names(tmp_path):
    with session(tmp_path) as made:
        output = made.groupby("sector").agg(top=("pay", "max"), middle=("pay", "median"))
    assert output.table["top"].null_count == 2
    assert output.table["middle"].null_count == 0
    assert "K008" in output.reasons


def test_a_region_of_one_row_each_is_not_listed(tmp_path):
    with session(tmp_path) as made:
        output = made.groupby("person").size()
        assert output.status == "suppressed"
        with pytest.raises(PolicyEngineError, match="K025"):
            output.to_pandas()


def test_units_are_counted_and_not_rows(tmp_path):
    frame = people().assign(person=people().person % 9)
    with session(tmp_path, data=frame) as made:
        assert made.crosstab("region", "sector").status == "suppressed"


def test_regressions_by_formula_and_by_arrays(tmp_path):
    frame = people()
    with session(tmp_path) as made:
        model = made.ols("pay ~ age")
        table = made.ols("pay ~ C(region)", name="means")
        logit = made.logit((frame.pay > 20).astype(int), frame[["age"]])
        with pytest.raises(PolicyEngineError, match="K025"):
            made.ols("pay ~ nothing")
    assert [one.status for one in (model, table, logit)] == ["released", "refused", "released"]
    assert model.table["term"].to_pylist() == ["Intercept", "age"]


def test_a_model_without_one_person_is_not_shown_beside_the_one_with_them(tmp_path):
    with session(tmp_path) as made:
        assert made.ols("pay ~ age").status == "released"
        assert made.ols("pay ~ age", data=people().iloc[1:]).status == "suppressed"


def test_results_of_other_libraries_are_judged_or_looked_at(tmp_path):
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression

    frame = people()
    linear = LinearRegression().fit(frame[["age"]], frame.pay)
    forest = RandomForestRegressor(2, random_state=0).fit(frame[["age"]], frame.pay)
    with session(tmp_path) as made:
        assert made.add(linear, features=frame[["age"]], outcome=frame.pay).status == "released"
        assert made.add(forest, features=frame[["age"]]).status == "review"
        assert made.add(linear, features=frame[["age"]]).status == "review"
        assert made.add(linear).status == "review"
        assert made.add("The mean is high.", name="a note").status == "review"


def test_the_folder_has_what_a_checker_needs_and_no_figure_for_the_researcher(tmp_path):
    with session(tmp_path) as made:
        table = made.crosstab("region", "sector", name="regions")
        made.exception(table, "The regions are fictitious.")
        made.comment("regions", "For figure 2.")
        made.rename(made.groupby("sector").size(), "sectors")
        made.remove(made.groupby("region").size())
    folder = tmp_path / "folder"
    said = json.loads((folder / "outputs.json").read_text())
    assert [one["name"] for one in said["outputs"]] == ["regions", "sectors"]
    assert said["outputs"][0]["comments"] == ["For figure 2."]
    assert "C,6,78" in (folder / "held" / "regions.csv").read_text()
    assert "C,,\n" in (folder / "outputs" / "regions.csv").read_text()
    assert ">78<" in (folder / "checker.html").read_text()
    page = (folder / "researcher.html").read_text()
    assert ">withheld<" in page
    assert ">78<" not in page
    assert "evidence" not in json.dumps(said)


def test_a_shared_ledger_holds_for_the_next_session(tmp_path):
    with output_session(
        None, tmp_path / "one", data=people(), profile="sacro", ledger=tmp_path / "ledger"
    ) as made:
        made.groupby("sector").size()
    part = people().iloc[1:]
    with output_session(
        None, tmp_path / "two", data=people(), profile="sacro", ledger=tmp_path / "ledger"
    ) as made:
        made.groupby("sector", data=part).size()
    [output] = json.loads((tmp_path / "two" / "outputs.json").read_text())["outputs"]
    assert output["verdict"]["reasons"].keys() == {"K049"}


def test_a_session_expects_the_head_that_an_earlier_one_left(tmp_path):
    ledger, part = tmp_path / "ledger", people().iloc[1:]
    with session(tmp_path / "a", ledger=ledger) as made:
        made.groupby("sector").size()
        assert made.ledger_head == ""
    head = made.ledger_head
    assert head == str(OutputLedger(ledger).summary().head)
    with session(tmp_path / "b", ledger=ledger, ledger_head=head) as made:
        made.groupby("sector", data=part).size()
    [output] = json.loads((tmp_path / "b" / "folder" / "outputs.json").read_text())["outputs"]
    assert output["verdict"]["reasons"].keys() == {"K049"}
    with session(tmp_path / "c", ledger=ledger, ledger_head=head.split(":")[0]) as made:
        assert made.groupby("sector").size().status == "released"


def test_a_session_refuses_another_ledger_before_there_is_an_output(tmp_path):
    head = "2:" + "0" * 64
    with pytest.raises(PolicyEngineError, match=rf"K033.*no output ledger.*{head}"):
        session(tmp_path, ledger=tmp_path / "mistyped", ledger_head=head)
    assert not (tmp_path / "mistyped").exists()
    with session(tmp_path / "a", ledger=tmp_path / "other") as made:
        made.groupby("sector").size()
    with pytest.raises(PolicyEngineError, match=r"K033.*is another one, or was cut off"):
        session(tmp_path / "b", ledger=tmp_path / "other", ledger_head=head)


def test_a_ledger_that_is_gone_when_the_session_ends_is_not_begun_anew(tmp_path):
    ledger = tmp_path / "ledger"
    with session(tmp_path / "a", ledger=ledger) as made:
        made.groupby("sector").size()
    second = session(tmp_path / "b", ledger=ledger, ledger_head=made.ledger_head)
    with pytest.raises(PolicyEngineError, match=r"K033.*no output ledger"), second:  # noqa: PT012
        second.groupby("sector").size()
        ledger.unlink()
    assert not ledger.exists()
    assert not (tmp_path / "b" / "folder").exists()


@pytest.mark.parametrize(("head", "ledger"), [("1", None), ("no head", "ledger")])
def test_a_head_without_a_ledger_or_that_is_not_one_is_refused(tmp_path, head, ledger):
    with pytest.raises(PolicyEngineError, match="U001"):
        session(tmp_path, ledger=ledger and tmp_path / ledger, ledger_head=head)


def test_an_error_in_the_session_writes_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), session(tmp_path) as made:  # noqa: PT012
        made.groupby("sector").size()
        1 / 0  # noqa: B018
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"profile": "sakro"}, "M001"),
        ({"profile": ""}, "K025"),
        ({"unit": "persn"}, "C005"),
        ({"data": [1]}, "C010"),
    ],
)
def test_a_session_that_cannot_be_checked_does_not_begin(tmp_path, options, code):
    with pytest.raises(PolicyEngineError, match=code):
        session(tmp_path, **options)


def test_what_is_not_understood_is_refused(tmp_path):
    with session(tmp_path) as made:
        for call in (
            lambda: made.crosstab("region", "sector", aggfunc="mean"),
            lambda: made.crosstab("region", "sector", normalize="rows"),
            lambda: made.groupby("region").mean(),
            lambda: made.groupby("region")["pay"].agg("kurt"),
            lambda: made.pivot_table(values="pay"),
            lambda: made.exception("nothing", "because"),
            lambda: made.crosstab(1, 2),
            lambda: made.pivot_table(values=["pay", "age"], index="region", aggfunc={"pay": "sum"}),
            lambda: made.pivot_table(values=3, index="region"),
            made.groupby("region")[3].mean,
            lambda: made.groupby("region", data=people()[:0]).size(),
            lambda: made.groupby("region", data=people()[[]]).size(),
            lambda: made.groupby("region", data=people().rename(columns={"age": "pay"})).size(),
            lambda: made.ols(people().pay, people()[["age"]][5:].reset_index(drop=True)),
            lambda: made.add(tmp_path),
            lambda: made.add("results.csv"),
            lambda: made.add(people()),
            lambda: made.add(people().pay),
        ):
            with pytest.raises(PolicyEngineError, match=r"C002|C010|K025|U002"):
                call()


def test_a_session_without_data_lets_people_look(tmp_path):
    with output_session(None, tmp_path / "f", profile="sacro") as made:
        assert made.add("text").status == "review"
        assert made.add("The mean is 3.5").status == "review"
        with pytest.raises(PolicyEngineError, match="K025"):
            made.crosstab("region", "sector")


def test_a_policy_without_a_check_or_by_noise_is_refused(tmp_path):
    with pytest.raises(PolicyEngineError, match="K025"):
        output_session(
            policy_with(("pe:outputCheck", "eq", "sacro"), ("pe:mitigation", "eq", "noise")),
            tmp_path / "f",
        )
    assert policy_engine.output_session is output_session or callable(output_session)


def test_no_file_of_a_model_has_the_name_of_another_output(tmp_path):
    with session(tmp_path) as made:
        made.ols("pay ~ age", name="m")
        first = made.crosstab("region", "sector", name="M Coefficients")
        made.crosstab("region", "sector", name="n fit")
        second = made.ols("pay ~ age", name="n")
        with pytest.raises(PolicyEngineError, match="K025"):
            made.rename("n fit", "m fit")
    assert (first.name, second.name) == ("M Coefficients 2", "n 2")
    names = [one.name.lower() for one in (tmp_path / "folder" / "outputs").iterdir()]
    assert len(names) == len(set(names))


def test_cells_withheld_with_others_say_why_and_not_that_the_policy_denies(tmp_path):
    frame = people()
    frame["flag"] = (frame.region == "C") & (frame.sector == "agr")
    with session(tmp_path, data=frame) as made:
        made.groupby("flag")["pay"].sum()
        made.groupby("sector").size()
        output = made.groupby("sector")["pay"].sum()
        assert "K015" not in output.reasons
        assert output.status != "released"


def test_figures_have_as_many_digits_as_the_profile_lets_out(tmp_path):
    with session(tmp_path, profile="fsrdc") as made:
        median = made.groupby("region")["pay"].median()
    assert median.status == "released"
    text = (tmp_path / "folder" / "outputs" / "groupby.csv").read_text()
    figures = [float(line.split(",")[1]) for line in text.splitlines()[1:]]
    assert figures == [float(f"{one:.3e}") for one in figures]


def test_a_row_that_is_not_listed_is_named_nowhere_for_the_researcher(tmp_path):
    frame = people().assign(job=["clerk"] * 243 + ["miner"] * 3)
    with session(tmp_path, data=frame, profile="abs") as made:
        table = made.groupby(["region", "job"]).size()
    assert "miner" not in str(table.suppressed)
    for name in ("outputs.json", "researcher.html"):
        assert "miner" not in (tmp_path / "folder" / name).read_text()


def test_figures_of_many_digits_are_figures(tmp_path):
    frame = people().assign(pay=lambda rows: rows.pay / 7, code="01.1")
    frame.to_csv(tmp_path / "data.csv", index=False)
    with session(tmp_path, data=str(tmp_path / "data.csv"), profile="abs") as made:
        assert made.groupby("region")["pay"].mean().status == "released"
        with pytest.raises(PolicyEngineError, match="C009"):
            made.groupby("region")["code"].mean()


def test_a_folder_that_cannot_be_written_is_not_in_the_ledger(tmp_path):
    made = session(tmp_path, ledger=tmp_path / "ledger")
    made.groupby("region").size()
    long = tmp_path / ("x." + "y" * 200)
    long.write_text("z")
    output = made.add(long, name="a" * 70)
    with pytest.raises(PolicyEngineError, match="O002"):
        made.finalise()
    assert not (tmp_path / "ledger").exists()
    made.remove(output)
    made.finalise()
    assert OutputLedger(tmp_path / "ledger").summary()


def test_output_of_blank_cells_alone_is_not_released(tmp_path):
    frame = pd.DataFrame({"a": ["x"] * 97 + ["y"] * 3, "person": range(100)})
    with session(tmp_path, data=frame) as made:
        shares = made.crosstab("a", "a", normalize=True)
    assert shares.status != "released"


def test_what_pandas_has_and_a_session_does_not_is_refused_by_name(tmp_path):
    with session(tmp_path) as made:
        assert made.groupby("region")["age"].max().status == "refused"
        with pytest.raises(PolicyEngineError, match=r"K025|mean, median"):
            made.groupby("region").quantile(0.5)
        with pytest.raises(PolicyEngineError, match="crosstab"):
            made.describe()
        assert not hasattr(made, "_repr_html_")


def test_models_leave_out_rows_that_do_not_say_whose_they_are(tmp_path):
    frame = people().astype({"person": "float"})
    frame.loc[[3, 7], "person"] = None
    with session(tmp_path, data=frame) as made:
        by_formula = made.ols("pay ~ age")
        by_arrays = made.ols(frame.pay, frame[["age"]].assign(one=1.0))
        elsewhere = made.add(sm.OLS(frame.pay, frame[["age"]]).fit())
    assert (by_formula.status, by_arrays.status) == ("released", "released")
    assert elsewhere.status == "review"
    [first, second, _] = json.loads((tmp_path / "folder" / "outputs.json").read_text())["outputs"]
    for one in (first, second):
        assert "without 2 rows that do not say whose they are" in one["request"]


def test_outputs_are_provisional_until_the_ledger_has_them(tmp_path):
    made = session(tmp_path, ledger=tmp_path / "ledger")
    output = made.groupby("sector").size()
    assert output.is_provisional
    assert "released, until finalise checks it against the ledger" in repr(output)
    made.finalise()
    [afterwards] = made.outputs
    assert not afterwards.is_provisional
    with output_session(
        None, tmp_path / "other", data=people(), profile="sacro", unit="person"
    ) as alone:
        assert not alone.groupby("sector").size().is_provisional


def test_lone_persons_of_a_table_do_not_learn_the_pay_of_each_other(tmp_path):
    """Each knows her own: of two withheld groups of one, the total would tell the other's."""
    sizes = {"a": 1, "b": 1, "c": 50, "d": 60}
    groups = [group for group, size in sizes.items() for _ in range(size)]
    frame = pd.DataFrame({"group": groups, "person": range(112), "firm": "all"})
    frame["pay"] = 1000.0 + 37 * frame.person % 501
    two = ("pe:minUnits", "eq", 2), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    policy = policy_with(("pe:outputCheck", "eq", "bundesbank"), *two)
    with output_session(policy, tmp_path / "folder", data=frame) as made:
        table = figures(
            made.pivot_table(
                values="pay", index="group", columns="firm", aggfunc="sum", margins=True
            )
        )
    total = table["All", "sum pay All"]
    assert total == frame.pay.sum()
    others = [table[group, "sum pay all"] for group in "cd"]
    rest = total - np.nansum(others) - frame.pay[0]
    assert rest > 5 * frame.pay[1]
    assert np.isnan(others).any()
