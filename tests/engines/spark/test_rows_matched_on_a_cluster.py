"""Outputs that a cluster certifies by their data alone: the figures are those of their making."""

import pandas as pd
import pytest
from applying import applied
from building import column
from everyday import everyday
from masked_people import (
    CAP,
    HOURS,
    JOB,
    MASKED,
    PAY,
    RENT,
    SINCE,
    certified,
    people,
    stored,
)

from policy_engine.errors import CertificateError

pytestmark = pytest.mark.usefixtures("few_rows")

PLAIN = {"method": "masking", "insensitive": ["id", "age"]}
KINDS = (".csv", ".parquet")


FEW = [PAY, HOURS, JOB, SINCE]


@pytest.mark.nightly
@pytest.mark.parametrize("given", everyday(KINDS, ".csv"))
@pytest.mark.parametrize("made", everyday(KINDS, ".parquet"))
@pytest.mark.parametrize("masked", everyday((MASKED, FEW), FEW), ids=len)
def test_all_figures_are_made_again_on_a_cluster(cluster, given, made, tmp_path, masked):
    data, asked = stored(people(), tmp_path / f"in{given}"), PLAIN | {"masked": masked}
    release = applied(data, tmp_path / "out" / f"a{made}", **asked)
    expected = {one.column: dict(one.figures) for one in release.certificate.maskings}
    assert certified(release.path, data, engine=cluster, **asked) == expected


@pytest.mark.nightly
def test_false_figures_are_refused_on_a_cluster(cluster, tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), PLAIN | {"masked": [PAY, CAP]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    path = release.path.parent / "certificate.jsonld"
    figures = release.certificate.maskings[0].figures
    told = f'"largestRankMove": {figures["largestRankMove"]}'
    assert told in path.read_text()
    path.write_text(path.read_text().replace(told, '"largestRankMove": 0.017'))
    with pytest.raises(CertificateError, match=r"V018 .* largestRankMove of 'pay' is 0\.017"):
        certified(release.path, data, engine=cluster, **asked)


@pytest.mark.nightly
def test_too_little_masking_is_told_on_a_cluster(cluster, tmp_path):
    table = pd.DataFrame({"id": range(300), "pay": range(300), "tax": range(0, 30000, 100)})
    data = stored(table, tmp_path / "in.csv")
    table.loc[:1, "pay"], table["tax"] = [1, 0], table["tax"] + 1
    noise = column("tax", masking="noise", sdShare=0.1)
    asked = {"method": "masking", "insensitive": ["id"], "masked": [PAY, noise]}
    with pytest.raises(CertificateError) as told:
        certified(stored(table, tmp_path / "out.csv"), data, engine=cluster, **asked)
    messages = [one.message.partition(": ")[2] for one in told.value.problems]
    assert "298 rows whose value no other has keep it, where at most one does." in messages
    assert any(one.startswith("the noise of 300 values has a mean size of") for one in messages)


@pytest.mark.nightly
def test_cells_in_other_rows_are_broken_on_a_cluster(cluster, tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), PLAIN | {"masked": [PAY, CAP]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    table = pd.read_csv(release.path, dtype=str, keep_default_na=False)
    table[["pay", "cap"]] = table[["pay", "cap"]].iloc[::-1].to_numpy()
    with pytest.raises(CertificateError) as told:
        certified(stored(table, tmp_path / "copy" / "out.csv"), data, engine=cluster, **asked)
    columns = {problem.message.partition("'")[2][:3] for problem in told.value.problems}
    assert columns == {"pay", "cap"}


@pytest.mark.nightly
def test_rows_that_no_columns_tell_apart_are_not_matched_on_a_cluster(cluster, tmp_path):
    data = stored(people(), tmp_path / "in.csv")
    asked = {"method": "masking", "masked": [PAY], "insensitive": ["age"]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    assert certified(release.path, data, engine=cluster, **asked) == {"pay": {}}


TIED = {"method": "masking", "masked": [PAY, CAP, RENT], "insensitive": ["age"]}


@pytest.mark.nightly
def test_masked_cells_of_tied_rows_are_certified_on_a_cluster(cluster, tmp_path):
    data = stored(people(), tmp_path / "in.csv")
    release = applied(data, tmp_path / "out" / "a.csv", **TIED)
    assert certified(release.path, data, engine=cluster, **TIED)


@pytest.mark.nightly
def test_masked_cells_of_tied_rows_beside_other_rows_are_refused_on_a_cluster(cluster, tmp_path):
    data = stored(people(), tmp_path / "in.csv")
    release = applied(data, tmp_path / "out" / "a.csv", **TIED)
    table = pd.read_csv(release.path, dtype=str, keep_default_na=False)
    table["rent"] = table["rent"].iloc[::-1].to_numpy()
    with pytest.raises(
        CertificateError, match=r"V001 [0-9]+ cells of 'rent' do not keep its round"
    ):
        certified(stored(table, tmp_path / "copy" / "out.csv"), data, engine=cluster, **TIED)


@pytest.mark.nightly
def test_decimals_of_masked_integers_are_refused_on_a_cluster(cluster, tmp_path):
    table = pd.DataFrame({"id": range(60), "pay": range(0, 60_000, 1000)})
    noise = column("pay", masking="noise", sdShare=0.3)
    asked = {"method": "masking", "insensitive": ["id"], "masked": [noise]}
    data = stored(table, tmp_path / "in.parquet")
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    assert certified(release.path, data, engine=cluster, **asked)
    made = pd.read_csv(release.path)
    changed = stored(made.assign(pay=made["pay"] + 0.25), tmp_path / "copy" / "a.csv")
    with pytest.raises(CertificateError, match="V001 60 cells of 'pay' do not keep its noise"):
        certified(changed, data, engine=cluster, **asked)
