"""Sessions as papers need them: what describes a sample is shown after a cell was withheld, too."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session

JOBS = {"office": 400, "works": 300, "farm": 90, "none": 21, "never": 4}


def sample():
    """Return 815 persons, four of whom have never worked."""
    random = np.random.default_rng(2)
    job = np.repeat(list(JOBS), list(JOBS.values()))
    return pd.DataFrame(
        {
            "person": np.arange(len(job)),
            "job": job,
            "sex": random.choice(["f", "m"], len(job)),
            "school": random.choice(["a", "b", "c"], len(job), p=[0.5, 0.3, 0.2]),
            "family": random.choice(["one", "two", "three", "four"], len(job)),
            "age": random.integers(18, 80, len(job)),
        }
    )


@pytest.fixture(params=["sacro", "dwb-2015"])
def described(tmp_path, request):
    with output_session(
        None, tmp_path / "folder", data=sample(), profile=request.param, unit="person"
    ) as session:
        yield session


def hidden(output):
    return int(output.to_pandas().isna().sum().sum())


@pytest.mark.one_in(2)
def test_counts_and_means_after_a_withheld_cell_are_shown(described):
    for key, most in (("sex", 0), ("job", 2), ("school", 0), ("family", 0)):
        assert hidden(described.groupby(key).size()) <= most
        assert hidden(described.groupby(key)["age"].mean()) <= most


@pytest.mark.parametrize("profile", ["sacro", "dwb-2015"])
def test_totals_beside_a_group_of_one_are_shown(profile, tmp_path):
    """One person is in the group "other", of whose cells all others are empty."""
    rows = sample().replace({"job": {"never": "none"}})
    rows.loc[0, "job"] = "other"
    about = {"data": rows, "profile": profile, "unit": "person"}
    with output_session(None, tmp_path / "folder", **about) as session:
        table = session.crosstab("job", "sex", margins=True).to_pandas()
    withheld = table[table["All"].isna()]
    assert len(withheld) == 2
    assert "other" in withheld.index


@pytest.mark.one_in(2)
def test_means_and_deviations_after_shares_are_shown(described):
    assert hidden(described.crosstab("school", "sex")) == 0
    assert hidden(described.crosstab("school", "sex", normalize="index")) == 0
    assert hidden(described.groupby("school")["age"].agg(["mean", "std"])) == 0


@pytest.mark.one_in(2)
def test_models_of_everybody_after_a_withheld_cell_are_shown(described):
    assert hidden(described.crosstab("job", "sex")) > 0
    assert described.ols("age ~ I(person % 7)").status == "released"
