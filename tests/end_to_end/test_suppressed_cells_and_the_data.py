"""Outputs of local suppression, whose cells are those of the data, or missing."""

import pandas as pd
import pytest
from applying import applied, asking
from building import DATASET

from policy_engine import certify_output
from policy_engine.errors import CertificateError

KEY = b"\x08" * 32
ASKED = {
    "method": "k-anonymity",
    "k": 2,
    "quasi": ["age", "city"],
    "insensitive": ["id"],
    "algorithm": "local-suppression",
}
TABLE = {"id": range(8), "age": [1, 1, 2, 2, 3, 3, 4, 5], "city": [*"aabbcc", "c", "d"]}


@pytest.fixture
def released(tmp_path):
    """Return the path of a release, and how it is certified with its data."""
    pd.DataFrame(TABLE).to_csv(tmp_path / "in.csv", index=False)
    path = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **ASKED).path
    data = {DATASET: tmp_path / "in.csv"}
    return path, lambda **more: certify_output(path, asking(**ASKED), data, **more)


def test_cells_are_suppressed_again_with_the_key(released):
    path, certify = released
    assert certify(key=KEY).holds
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *rows[::-1], ""]))
    path.with_name("certificate.jsonld").unlink()
    assert certify().holds
    with pytest.raises(CertificateError, match="V004"):
        certify(key=KEY)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("id", lambda table: table.id + 1),
        ("age", lambda table: table.age.where(table.age != "1", "3")),
        ("age", lambda table: table.age.to_numpy()[::-1]),
    ],
    ids=["rows", "values", "places"],
)
def test_cells_that_the_data_do_not_have_are_refused(released, name, make):
    path, certify = released
    assert certify().holds
    path.with_name("certificate.jsonld").unlink()
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    numbers = table.astype({"id": int})
    table.assign(**{name: make(numbers)}).to_csv(path, index=False)
    with pytest.raises(CertificateError, match=r"V002 .* that the data do not have"):
        certify()
