"""Audits of releases without a certificate, as other tools write them."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import audit_disclosure
from policy_engine.errors import PolicyEngineError

ROWS = 100


@pytest.fixture
def persons():
    random = np.random.default_rng(4)
    pay = random.permutation(ROWS) * 10
    city = random.choice(["Bern", "Oslo", "Rome"], ROWS)
    return pd.DataFrame(
        {"row": range(ROWS), "age": random.permutation(ROWS), "pay": pay, "city": city}
    )


@pytest.fixture
def audit(tmp_path, persons):
    def audited(release, original=persons, **asked):
        for name, table in (("in.csv", original), ("out.csv", release)):
            table.to_csv(tmp_path / name, index=False)
        attacks = asked.pop("attacks", ["distance-linkage"])
        return audit_disclosure(tmp_path / "in.csv", tmp_path / "out.csv", attacks=attacks, **asked)

    return audited


def noisy(persons, *names, deviation=2.0):
    random = np.random.default_rng(5)
    noise = {name: persons[name] + random.normal(0, deviation, len(persons)) for name in names}
    return persons.assign(**noise).round(2)


def linked(audit):
    return audit.attacks[-1].linked.value


def with_cell(table, name, cell):
    table = table.astype({name: object})
    table.loc[3, name] = cell
    return table


def figures(audit):
    return {one.measure: one.value for one in audit.risks}


@pytest.mark.parametrize("mark", ["NA", "*", ".", ""])
@pytest.mark.parametrize("where", ["original", "release"])
def test_one_mark_takes_no_numbers_from_an_intruder(persons, audit, mark, where):
    release = noisy(persons, "age", "pay")
    plain = audit(release, match=["row"], known=["age", "pay"])
    given = {"original": persons, "release": release}
    given[where] = with_cell(given[where], "age", mark)
    marked = audit(given["release"], given["original"], match=["row"], known=["age", "pay"])
    assert linked(marked) == pytest.approx(linked(plain), abs=0.03)
    assert {one.measure for one in marked.risks} == {one.measure for one in plain.risks}
    told = [(one.table, one.column, one.cells) for one in marked.missing_marks]
    assert told == ([(where, "age", 1)] if mark else [])


def test_cells_that_nobody_can_read_are_refused(persons, audit):
    with pytest.raises(PolicyEngineError, match=r"A027 1 cell of 'age' .* such as 'abc'"):
        audit(with_cell(persons, "age", "abc"), match=["row"])


def test_marks_of_a_population_and_a_holdout_are_missing(tmp_path, persons, audit):
    with_cell(persons, "age", "NA").to_csv(tmp_path / "all.csv", index=False)
    others = with_cell(persons, "age", ".").assign(pay=persons.pay + 5)
    others.drop(columns="row").to_csv(tmp_path / "others.csv", index=False)
    more = {"population": tmp_path / "all.csv", "holdout": tmp_path / "others.csv"}
    found = audit(persons.drop(index=3), match=["row"], known=["age", "pay"], **more)
    assert [one.table for one in found.missing_marks] == ["population", "holdout"]
    assert figures(found)["k-map"] == 1
