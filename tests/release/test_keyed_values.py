"""Tables by a column of few values beside totals of it: they are not compared."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session


def people(last=1):
    """Return 200 persons by region and zone, of whom one is in the region c, which is in z1."""
    region = ["a"] * 110 + ["b"] * 89 + ["c"]
    ill = [number % 2 for number in range(199)] + [last]
    return pd.DataFrame(
        {
            "person": range(200),
            "region": region,
            "zone": ["z2" if one == "b" else "z1" for one in region],
            "ill": ill,
            "state": np.where(np.array(ill) > 0, "ill", "well"),
            "pay": [1000 + 7 * number % 913 for number in range(200)],
        }
    )


COUNTS = ("zone", "ill"), ("zone", "state")


def counted(session, keys):
    return session.crosstab(*keys)


def totalled(session, function):
    return session.groupby("region")["ill"].agg(function)


@pytest.mark.parametrize("keys", COUNTS)
@pytest.mark.parametrize("function", ["sum", "mean", "std"])
@pytest.mark.parametrize("is_counted_first", [True, False])
def test_the_second_of_both_is_for_a_person(tmp_path, keys, function, is_counted_first):
    """The one in c would be ill if one more is ill in z1 than in a."""
    calls = [lambda one: counted(one, keys), lambda one: totalled(one, function)]
    with output_session(
        None, tmp_path / "out", data=people(), profile="dwb-2015", unit="person"
    ) as session:
        first, second = (call(session) for call in (calls if is_counted_first else calls[::-1]))
        assert "K046" not in first.reasons
        assert "K046" in second.reasons
        assert second.status in ("review", "suppressed")


def test_columns_of_many_values_and_other_keys_are_compared_as_before(tmp_path):
    with output_session(
        None, tmp_path / "out", data=people(), profile="dwb-2015", unit="person"
    ) as session:
        outputs = [
            session.crosstab("zone", "ill"),
            session.groupby("zone")["pay"].mean(),
            session.groupby("zone").size(),
        ]
    assert [one.reasons.get("K046") for one in outputs] == [None] * 3
