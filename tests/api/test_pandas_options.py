"""Options of pandas that sessions take show what pandas shows; others are refused with advice."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from policy_engine import PolicyEngineError, output_session


def people():
    """Return 600 persons of three regions; none of them has a code."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"person": range(600), "region": random.choice(list("abc"), 600)})
    frame["sex"] = random.choice(["f", "m"], 600)
    frame["pay"] = random.lognormal(3, 0.5, 600).round(2)
    frame["age"] = random.integers(20, 60, 600)
    return frame.assign(ill=random.random(600) < 0.4, code=np.nan)


@pytest.fixture
def made(tmp_path):
    about = {"data": people(), "profile": "sacro", "unit": "person"}
    with output_session(None, tmp_path / "folder", **about) as session:
        yield session


@pytest.mark.one_in(5)
@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("normalize", [0, 1, "index", "columns", "all", True, False])
def test_shares_are_those_of_pandas_with_margins_too(made, normalize, margins):
    frame = people()
    whole = pd.crosstab(frame.region, frame.sex, normalize=normalize, margins=margins)
    shown = made.crosstab("region", "sex", normalize=normalize, margins=margins).to_pandas()
    pd.testing.assert_frame_equal(
        shown, whole, check_names=False, check_dtype=False, check_column_type=False
    )


def test_keys_have_the_names_that_are_given(made):
    shown = made.crosstab("region", "sex", rownames=["place"], colnames="sexes").to_pandas()
    assert shown.index.name == "place"


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_quantiles_are_those_of_pandas(made, share):
    shown = made.groupby("region")["pay"].quantile(share).to_pandas().iloc[:, 0]
    whole = people().groupby("region")["pay"].quantile(share)
    assert shown.to_numpy() == pytest.approx(whole.to_numpy())


def test_several_quantiles_are_columns(made):
    shown = made.groupby("region")["pay"].quantile([0.25, 0.75]).to_pandas()
    assert [*shown.columns] == ["quantile 0.25 pay", "quantile 0.75 pay"]


@pytest.mark.parametrize("share", [0, 0.01, 1])
def test_quantiles_of_few_persons_beyond_are_withheld(made, share):
    assert made.groupby("region")["pay"].quantile(share).status != "released"


@pytest.mark.parametrize(
    "named", [pd.NamedAgg("pay", "mean"), ("pay", "mean")], ids=["NamedAgg", "pair"]
)
def test_named_aggregates_are_those_of_pandas(made, named):
    shown = made.groupby("region").agg(mean_pay=named).to_pandas()["mean_pay"]
    whole = people().groupby("region").agg(mean_pay=named)["mean_pay"]
    assert shown.to_numpy() == pytest.approx(whole.to_numpy())


def test_aggregates_of_a_chosen_column_may_be_named(made):
    shown = made.groupby("region")["pay"].agg(mean_pay="mean").to_pandas()
    assert [*shown.columns] == ["mean_pay"]


@pytest.mark.parametrize("observed", [True, False])
def test_what_is_so_in_any_case_may_be_said(made, observed):
    options = {"sort": True, "dropna": True, "observed": observed}
    assert made.groupby("region", as_index=True, **options).size().is_whole
    assert made.pivot_table(values="pay", index="region", fill_value=None, **options).is_whole


@pytest.mark.parametrize(
    ("ask", "advice"),
    [
        (lambda made: made.groupby("region", sort=False), "Sort the table"),
        (lambda made: made.groupby("region", dropna=False), "label"),
        (lambda made: made.groupby("region", as_index=False), "reset"),
        (lambda made: made.groupby("region", sorted=True), "sort"),
        (lambda made: made.crosstab("region", "sex", dropna=False), "label"),
        (lambda made: made.crosstab("region", "sex", normalize=2), "index"),
        (lambda made: made.crosstab("region", "sex", rownames=["a", "b"]), "1 keys"),
        (lambda made: made.pivot_table(values="pay", index="region", fill_value=0), "withheld"),
        (lambda made: made.groupby("region")["age"].nunique(), "groupby"),
        (lambda made: made.groupby("region")["age"].quantile(2), "from 0 to 1"),
        (lambda made: made.groupby("region").quantile(0.5), "Of which columns"),
        (lambda made: made.groupby("code").size(), "'code'"),
    ],
)
def test_other_options_are_refused_with_what_to_do_instead(made, ask, advice):
    with pytest.raises(PolicyEngineError, match=advice) as error:
        ask(made)
    assert error.value.code == "K025"


def test_an_outcome_of_yes_and_no_is_one_of_ones_and_zeros(made, tmp_path):
    about = {"data": people().assign(ill=lambda some: some.ill.astype(int)), "unit": "person"}
    with output_session(None, tmp_path / "whole", profile="sacro", **about) as session:
        whole = session.logit("ill ~ age")
    assert made.logit("ill ~ age").table == whole.table


def test_trees_that_were_fitted_to_names_give_no_warning(made):
    frame = people()
    tree = DecisionTreeClassifier(max_depth=1, min_samples_leaf=100)
    tree.fit(frame[["age", "pay"]], frame.ill)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.add(tree, features=frame[["age", "pay"]], outcome=frame.ill)
