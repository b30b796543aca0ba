import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.utility import prediction
from policy_engine.audits.utility.model import Classification
from policy_engine.audits.utility.prediction import Task, classification
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.anonymization import Anonymization

COLUMNS = {"quasi-identifier": [{"name": "age"}, {"name": "city"}], "insensitive": ["rich"]}
ASKED = Anonymization(columns=COLUMNS, methods={"k-anonymity": {"k": 2}})


def town(rows=300):
    """People who are rich from 50 years on, wherever they live."""
    ages = np.arange(rows) % 60 + 20
    return pa.table(
        {
            "age": ages,
            "city": [("Rome", "Oslo", "Bern")[row % 3] for row in range(rows)],
            "rich": ["yes" if age >= 50 else "no" for age in ages],
        }
    )


def hidden(part):
    """Hide everything that the rows learnt from say of their quasi-identifiers."""
    cells = {"age": "[20 - 79]", "city": "{Bern, Oslo, Rome}"}
    return pa.table(
        {name: [cell] * part.num_rows for name, cell in cells.items()} | {"rich": part["rich"]}
    )


def as_it_was(part):
    texts = [(name, "string") for name in part.column_names]
    return part.cast(pa.schema(texts)).take(list(range(part.num_rows))[::-1])


def judged(anonymize, asked=ASKED, table=None, **settings):
    return classification(
        town() if table is None else table, asked, {}, Task(anonymize, **settings)
    )


def test_rows_as_they_were_predict_as_well_in_any_order():
    found = judged(as_it_was)
    assert isinstance(found, Classification)
    assert found.target == "rich"
    assert found.original == found.anonymised == 1
    assert 0.4 < found.majority < 0.6


def test_rows_that_say_nothing_predict_no_better_than_the_majority():
    found = judged(hidden)
    assert found.anonymised == found.majority
    assert found.original == 1


def test_no_row_held_out_is_given_to_the_anonymizer():
    seen = []

    def watching(part):
        seen.append(part.num_rows)
        return hidden(part)

    found = judged(watching)
    assert seen == [found.rows_learnt]
    assert found.rows_learnt + found.rows_held_out == 300


def test_the_rows_of_one_person_are_held_out_together():
    table = town().append_column("person", pa.array(np.arange(300) // 3))
    asked = Anonymization(columns={**COLUMNS, "privacyUnit": "person"}, methods=ASKED.methods)
    seen = []

    def watching(part):
        seen.extend(part["person"].to_pylist())
        return hidden(part)

    judged(watching, asked, table)
    assert all(seen.count(person) == 3 for person in set(seen))
    assert len(set(seen)) < 100


def test_the_same_seed_holds_the_same_rows_out():
    assert judged(hidden, seed=1) == judged(hidden, seed=1)
    assert judged(hidden, seed=1).rows_learnt != judged(hidden, seed=2).rows_learnt


def test_missing_values_are_learnt_from_too():
    table = town()
    ages = [None if age % 7 == 0 else age for age in table["age"].to_pylist()]
    assert judged(as_it_was, table=table.set_column(0, "age", pa.array(ages))).original > 0.9


def refused(_part):
    raise DataError.of("R002", "The table has 3 rows, fewer than k, which is 5.")


@pytest.mark.parametrize(
    ("anonymize", "table", "reason"),
    [
        (None, town(), "no classifier"),
        (refused, town(), "fewer than k"),
        (hidden, town().set_column(2, "rich", pa.array(["no"] * 300)), "from 2 to 20 values"),
    ],
)
def test_what_cannot_be_predicted_has_a_reason(anonymize, table, reason):
    found = judged(anonymize, table=table)
    assert isinstance(found, NotApplicable)
    assert reason in found.reason


def test_without_scikit_learn_there_is_a_reason(monkeypatch):
    monkeypatch.setattr(prediction, "find_spec", lambda _: None)
    assert "policy-engine[utility]" in judged(hidden).reason
