"""Outputs of masked columns that are certified with the data and without the key."""

import numpy as np
import pandas as pd
import pytest
from applying import applied, asking
from building import DATASET, column

from policy_engine import certify_output
from policy_engine.errors import CertificateError

ALONE = {"method": "masking", "insensitive": ["id"]}
TABLE = {
    "id": range(60),
    "pay": [*range(-3005, 0, 101), *range(5, 3000, 101)],
    "job": ["a", "b", "c"] * 20,
    "car": [None, 12, 27] * 20,
}


def released(folder, masked):
    """Return the path of a release, and how it is certified without its key."""
    pd.DataFrame(TABLE).astype({"car": "Int64"}).to_csv(folder / "in.csv", index=False)
    asked = {"masked": [masked], **ALONE}
    made = applied(folder / "in.csv", folder / "out" / "a.csv", key=b"k" * 32, **asked)
    policy = asking(masked=[masked], **ALONE)
    return made.path, lambda: certify_output(made.path, policy, data={DATASET: folder / "in.csv"})


def edited(path, name, change):
    """Change a column of a file."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table[name] = change(table[name].to_numpy(copy=True))
    table.to_csv(path, index=False)


def first(values, given):
    values[0] = given
    return values


def without_sign(values):
    return np.char.lstrip(values.astype(str), "-")


def all_alike(values):
    return np.full(len(values), "a")


def one_missing(values):
    return first(values, "")


ROUNDED = column("pay", masking="random-rounding", base=10)
MULTIPLIED = column("pay", masking="multiplicative-noise", logSd=0.1)
NOISY = column("pay", masking="noise", sdShare=0.1)
DRAWN = column("job", masking="pram", keep=0.8)
NEAREST = column("car", masking="rounding", base=10)
CHANGES = [
    (ROUNDED, lambda values: first(values, "13")),
    (ROUNDED, one_missing),
    (MULTIPLIED, without_sign),
    (MULTIPLIED, lambda values: first(values, "")),
    (NOISY, one_missing),
    (NOISY, lambda values: first(values, str(int(values[0]) - 3000))),
    (MULTIPLIED, lambda values: first(values, str(int(values[0]) * 7))),
    (DRAWN, all_alike),
    (DRAWN, lambda values: first(values, "d")),
    (NEAREST, lambda values: first(values, "500")),
    (NEAREST, lambda values: np.where(values == "10", "30", values)),
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("masked", "change"), CHANGES)
def test_an_output_that_the_data_contradict_is_refused(masked, change, tmp_path):
    path, certify = released(tmp_path, masked)
    assert certify().holds
    (path.parent / "certificate.jsonld").unlink()
    edited(path, masked["@id"].rpartition("/")[2], change)
    with pytest.raises(CertificateError, match="V001"):
        certify()


@pytest.mark.parametrize("masked", [NOISY, NEAREST], ids=["noise", "rounding"])
@pytest.mark.parametrize("rows", [59, 61])
def test_rows_that_are_missing_or_added_are_found(masked, rows, tmp_path):
    path, certify = released(tmp_path, masked)
    (path.parent / "certificate.jsonld").unlink()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[-1]][: rows + 1]))
    said = f"V003 The output has {rows} rows, and the policy releases 60"
    with pytest.raises(CertificateError, match=said):
        certify()
