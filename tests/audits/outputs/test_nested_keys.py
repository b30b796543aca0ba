"""Keys that lie in others, as they are declared."""

import json

import numpy as np
import pandas as pd
import pytest
from output_checked import TABLE, policy_with

from policy_engine import output_session
from policy_engine.audits.outputs.microdata import CodedColumn
from policy_engine.audits.outputs.nested_keys import NestedKeys
from policy_engine.errors import RequestError

PLACES = {"n": {"n1": 30, "n2": 24}, "s": {"s1": 22, "s2": 26, "s3": 4}, "w": {"w1": 31, "w2": 20}}


def people():
    rows = [
        (region, district)
        for region, districts in PLACES.items()
        for district, count in districts.items()
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["region", "district"])
    return frame.assign(person=range(len(frame)), pay=100.5 + np.arange(len(frame)) * 7 % 31)


@pytest.fixture(params=["sacro", "dwb-2015", "bundesbank"])
def session(tmp_path, request):
    about = {"data": people(), "profile": request.param, "unit": "person"}
    with output_session(None, tmp_path / "out", **about) as made:
        yield made


def test_what_lies_in_a_lower_key_lies_in_the_upper_one_too():
    keys = NestedKeys().with_pair("district", "region").with_pair("village", "district")
    assert ("village", "region") in keys.pairs
    village = CodedColumn("village", np.array([0, 1, 2]), ("a", "b", "c"))
    region = CodedColumn("region", np.array([0, 0, 1]), ("a", "b"))
    assert keys.among((region, village)) == ((1, 0),)
    # Where it is not so, it is not read.
    assert keys.among((region, CodedColumn("village", np.array([0, 0, 0]), ("a",)))) == ()


@pytest.mark.one_in(3)
def test_a_table_by_nested_keys_is_judged_as_that_by_the_lower_one(session):
    assert session.groupby(["region", "district"]).size().status == "suppressed"
    session.nested("district", within="region")
    table = session.groupby(["region", "district"]).size().to_pandas()["size"].dropna()
    few = {"n1": 30, "n2": 24, "s1": 22, "s2": 26, "w1": 31, "w2": 20}
    shown = {district: count for (_, district), count in table.items()}
    # Four are too few, and another one is withheld: what is left of all 157 would tell of them.
    assert shown.items() < few.items()
    assert len(shown) == len(few) - 1


def test_means_by_nested_keys_are_shown_and_a_checker_is_told(session):
    session.nested("district", within="region")
    means = session.groupby(["region", "district"])["pay"].mean()
    assert len(means.to_pandas().dropna()) >= 5
    [output] = session._outputs.values()
    assert output.comments == ("district is declared to lie within region",)


def test_a_policy_declares_nested_columns_whichever_is_the_lower_one(tmp_path):
    columns = [{"@id": f"{TABLE}/{name}"} for name in ("region", "district", "island")]
    policy = policy_with(
        ("pe:outputCheck", "eq", "sacro"),
        ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
        ("pe:nestedColumns", "isAllOf", columns),
    )
    with output_session(policy, tmp_path / "out", data=people()) as session:
        table = session.groupby(["region", "district"]).size().to_pandas()["size"].dropna()
        [output] = session._outputs.values()
    assert len(table) == 5
    assert output.comments == ("district is declared to lie within region",)


def test_what_does_not_lie_in_another_column_is_refused(session):
    with pytest.raises(RequestError, match="K025"):
        session.nested("region", within="district")


def test_districts_of_one_region_are_shown_with_it(session):
    frame = people()
    session.nested("district", within="region")
    north = session.groupby(["region", "district"], data=frame[frame.region == "n"]).size()
    assert north.to_pandas()["size"].tolist() == [30, 24]


def test_a_small_district_is_hidden_by_another_one_beside_totals(tmp_path):
    """Four are in s3, and the fewest others in w2: no total of a region is shown."""
    frame = people()
    frame["sex"] = ["f" if number % 2 else "m" for number in range(len(frame))]
    about = {"data": frame, "profile": "abs", "unit": "person"}
    with output_session(None, tmp_path / "out", **about) as session:
        session.nested("district", within="region")
        session.crosstab(["region", "district"], "sex", margins=True)
        [output] = session._outputs.values()
        withheld = {cell.keys["district"] for cell in output.verdict.cells()}
        [way] = output.verdict.suppressions
    assert withheld == {"s3", "w2"}
    assert (way.method, way.cells, way.gap) == ("optimal", 3, 0)
    checker, researcher = (
        (tmp_path / "out" / f"{name}.html").read_text() for name in ("checker", "researcher")
    )
    assert "found by" in checker
    assert "optimal" in checker
    assert "found by" not in researcher
    [facts] = json.loads((tmp_path / "out" / "evidence.json").read_text())["outputs"]
    assert facts["verdict"]["suppressions"] == [way.to_json()]
    assert "suppressions" not in (tmp_path / "out" / "outputs.json").read_text()
