"""Samples that a cluster certifies by their data alone."""

import pandas as pd
import pytest
from applying import applied, asking
from building import DATASET, column
from everyday import everyday

from policy_engine import apply_policy, certify_output
from policy_engine.errors import CertificateError

pytestmark = pytest.mark.usefixtures("few_rows")

ASKED = {
    "method": "masking",
    "insensitive": ["id", "sex"],
    "sampleShare": 0.2,
    "stratifiedBy": ["sex"],
    "weightColumn": "w",
}
ROWS = {"id": range(100), "sex": ["a"] * 60 + ["b"] * 40, "who": [*range(50)] * 2}
CHANGES = {
    "V001 20 rows of 'w'": lambda table: table.assign(w=table.w * 2),
    "V002 20 rows of the output": lambda table: table.assign(id=table.id + 1000),
    "V003 2 strata of the output": lambda table: table.assign(sex=["a", *["b"] * 19], w=5.0),
}


PERSONS = {"privacyUnit": "who", "stratifiedBy": []}


@pytest.mark.nightly
@pytest.mark.parametrize("unit", [{}, PERSONS], ids=len)
def test_a_sample_is_certified_with_the_data_on_a_cluster(cluster, tmp_path, unit):
    pd.DataFrame(ROWS).to_csv(tmp_path / "in.csv", index=False)
    asked = {**ASKED, "sampleSize": 20, "sampleShare": None, **unit}
    asked = {name: value for name, value in asked.items() if value not in (None, [])}
    path = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", **asked).path
    data = {DATASET: tmp_path / "in.csv"}
    assert certify_output(path, asking(**asked), data, engine=cluster).sample.sampled == 20


MODELS = {
    "mondrian": {"k": 2},
    "microaggregation": {"k": 2, "algorithm": "microaggregation"},
    "local suppression": {"k": 2, "algorithm": "local-suppression"},
    "l-diversity": {"k": 2, "l": 2, "method": "l-diversity", "sensitive": ["sex"]},
}


@pytest.mark.nightly
@pytest.mark.parametrize("model", everyday(tuple(MODELS), "mondrian"))
@pytest.mark.parametrize("kind", everyday(("csv", "parquet"), "parquet"))
@pytest.mark.parametrize("made_by", everyday(("local", "spark"), "local"))
def test_a_sample_of_classes_is_made_again_on_a_cluster(cluster, tmp_path, made_by, model, kind):
    source, made = tmp_path / f"in.{kind}", tmp_path / f"made.{kind}"
    table = pd.DataFrame(ROWS)
    table.to_csv(source, index=False) if kind == "csv" else table.to_parquet(source)
    asked = {"method": "k-anonymity", "sampleSize": 20, "quasi": ["who"], **MODELS[model]}
    text, data, key = asking(insensitive=["id"], **asked), {DATASET: source}, b"\x07" * 32
    apply_policy(text, data, made, engine=cluster if made_by == "spark" else made_by, key=key)
    assert certify_output(made, text, data, engine=cluster, key=key).rows_out == 20


@pytest.mark.nightly
@pytest.mark.parametrize("code", everyday(tuple(CHANGES), "V001 20 rows of 'w'"))
def test_what_is_no_sample_is_refused_on_a_cluster(cluster, tmp_path, code):
    pd.DataFrame(ROWS).to_csv(tmp_path / "in.csv", index=False)
    path = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", **ASKED).path
    path.with_name("certificate.jsonld").unlink()
    CHANGES[code](pd.read_csv(path)).to_csv(path, index=False)
    data = {DATASET: tmp_path / "in.csv"}
    with pytest.raises(CertificateError, match=code):
        certify_output(path, asking(**ASKED), data, engine=cluster)


@pytest.mark.nightly
@pytest.mark.parametrize("kinds", [("csv", "parquet"), ("parquet", "csv")])
def test_strata_are_the_same_in_files_of_any_format_on_a_cluster(cluster, tmp_path, kinds):
    source, made = (tmp_path / f"{one}.{kind}" for one, kind in zip("io", kinds, strict=True))
    table = pd.DataFrame({"id": range(100), "sex": ["1", "1.0", " 2", "2020-01-01 00:00:00"] * 25})
    table["sex"] = table["sex"].mask(table["id"] % 4 == 3, "3.50")
    table.to_csv(source, index=False) if kinds[0] == "csv" else table.to_parquet(source)
    apply_policy(asking(**ASKED), {DATASET: source}, made, engine=cluster)
    for data in (None, {DATASET: source}):
        again = certify_output(made, asking(**ASKED), data=data, engine=cluster)
        assert (again.sample.strata, again.rows_out) == (3, 20)


ROUNDED = {
    "method": "masking",
    "insensitive": ["id"],
    "masked": [column("pay", masking="rounding", base=10)],
    "sampleSize": 20,
}


def rounded(folder):
    """Return where a sample is whose cells are rounded, and its data."""
    table = pd.DataFrame({"id": range(100), "pay": range(0, 700, 7)})
    table.to_csv(folder / "in.csv", index=False)
    path = applied(folder / "in.csv", folder / "out" / "a.csv", **ROUNDED).path
    return path, {DATASET: folder / "in.csv"}


@pytest.mark.nightly
def test_masked_cells_of_a_sample_are_certified_on_a_cluster(cluster, tmp_path):
    path, data = rounded(tmp_path)
    assert certify_output(path, asking(**ROUNDED), data, engine=cluster).holds


@pytest.mark.nightly
def test_masked_cells_of_a_sample_are_those_of_their_rows_on_a_cluster(cluster, tmp_path):
    path, data = rounded(tmp_path)
    made = pd.read_csv(path)
    made.assign(pay=made.pay + 100).to_csv(path, index=False)
    (path.parent / "certificate.jsonld").unlink()
    with pytest.raises(CertificateError, match="V001 20 cells of 'pay' cannot be what the masking"):
        certify_output(path, asking(**ROUNDED), data, engine=cluster)
