"""Intervals of pandas as texts."""

import pandas as pd

from policy_engine import output_session
from policy_engine.audits.outputs.interval_texts import with_interval_texts

AGES = pd.Series([30, 70, 10] * 20)
BANDS = pd.cut(AGES, [0, 9, 25, 50, 99])


def test_intervals_are_texts_in_their_order_and_other_columns_stay():
    frame = with_interval_texts(pd.DataFrame({"age": AGES, "band": BANDS}))
    assert frame.band[:3].tolist() == ["(25, 50]", "(50, 99]", "(9, 25]"]
    assert frame.band.cat.categories[1:].tolist() == ["(9, 25]", "(25, 50]", "(50, 99]"]
    plain = BANDS.astype("interval[int64, right]")
    assert with_interval_texts(plain).tolist()[:1] == ["(25, 50]"]
    assert with_interval_texts(AGES) is AGES
    assert with_interval_texts("text") == "text"


def test_bands_are_keys_of_tables_and_variables_of_models(tmp_path):
    frame = pd.DataFrame({"person": range(60), "age": AGES, "band": BANDS})
    frame["pay"] = frame.person * 7 % 31 + frame.age
    with output_session(
        None, tmp_path / "folder", data=frame, profile="sacro", unit="person"
    ) as session:
        sizes = session.groupby("band").size().to_pandas()
        assert session.crosstab(BANDS, "age").status == "suppressed"
        assert session.ols("pay ~ I(person % 7) + C(band)").status == "released"
    assert sizes.index.tolist() == ["(9, 25]", "(25, 50]", "(50, 99]"]
