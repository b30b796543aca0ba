"""Rows that are suppressed leave no trace in the masked columns of those that are released."""

import pandas as pd
import pytest
from applying import applied, asking
from building import DATASET, column

from policy_engine import certify_output, explore_policy
from policy_engine.errors import CertificateError

AGES, LEFT_OUT = [30] * 20, [90, 91, 92, 93]
PAY = [*range(1000, 1020), 5000, 7000, 9000, 11_000]
CLASSES = {
    "method": "k-anonymity",
    "k": 5,
    "quasi": ["age"],
    "algorithm": "full-domain",
    "maxSuppression": 0.2,
}


def people(rows=24):
    return pd.DataFrame({"age": (AGES + LEFT_OUT)[:rows], "pay": PAY[:rows]})


def masked(masking, **parameters):
    return {"masked": [column("pay", masking=masking, **parameters)], **CLASSES}


MASKINGS = [
    masked("top-coding", tail=6, replacement="mean"),
    masked("microaggregation", groupSize=5),
    masked("microaggregation", groupSize=7),
    masked("rank-swapping", p=0.3),
    masked("pram", keep=0.5),
]


@pytest.mark.parametrize("asked", MASKINGS, ids=str)
def test_masked_values_and_figures_are_those_of_the_released_rows(asked):
    key = b"k" * 32
    made, alone = (applied(people(rows), key=key, **asked) for rows in (24, 20))
    assert (made.record.suppressed, alone.record.suppressed) == (4, 0)
    assert made.table["pay"].to_pylist() == alone.table["pay"].to_pylist()
    assert made.certificate.maskings == alone.certificate.maskings


@pytest.mark.one_in(3)
@pytest.mark.parametrize("asked", MASKINGS, ids=str)
def test_the_data_shows_which_rows_were_suppressed(asked, tmp_path):
    data = tmp_path / "in.csv"
    people().to_csv(data, index=False)
    made = applied(data, tmp_path / "out" / "a.csv", **asked)
    again = certify_output(made.path, asking(**asked), data={DATASET: data})
    assert again.maskings[0].masking == asked["masked"][0]["pe:masking"]
    rows = made.path.read_text().splitlines(keepends=True)
    made.path.write_text("".join(rows[:-1]))
    with pytest.raises(CertificateError):
        certify_output(made.path, asking(**asked), data={DATASET: data})


def test_other_bounds_are_tried_on_the_rows_that_they_release():
    asked = masked("top-coding", tail=6, replacement="mean")
    found = explore_policy(asking(**asked), {DATASET: people()}, {"k": [5, 6]})
    assert [run.outcome.suppressed for run in found] == [4, 4]
