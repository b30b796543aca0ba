"""Synthetic tables from a policy and visits to a certificate, and how near they are."""

import re

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from asking_statistics import UNITS, VISITS, policy_text
from typer.testing import CliRunner

from policy_engine import apply_policy, compare_release, query_data
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.statistics_consistency import statistics_contradictions
from policy_engine.cli import app
from policy_engine.errors import PlanError

SEX = {"pe:function": "synthetic", "pe:of": f"{VISITS}/sex", "pe:candidates": ["f", "m"]}
STAY = {
    "pe:function": "synthetic",
    "pe:of": f"{VISITS}/days",
    "pe:name": "stay",
    "pe:lower": 0,
    "pe:upper": 4,
    "pe:grid": 1,
}
ASKED = {
    "by": [],
    "query": {"pe:rows": 400},
    "maxRowsPerGroup": 1,
    "rule": {"assignee": "http://e.org/lab"},
}
EXACT = {"@value": "100", "@type": "xsd:decimal"}
NUMBERS = range(1_000)
PEOPLE = pa.table(
    {
        "person": [f"p{number}" for number in NUMBERS],
        "sex": ["fm"[number % 2] for number in NUMBERS],
        "days": [number % 2 + 1 for number in NUMBERS],
    }
)


def released(tmp_path, *columns, table=PEOPLE, ledger="ledger.sqlite", name="", **changes):
    text = policy_text(*(columns or (SEX, STAY)), **{"epsilon": EXACT, **ASKED, **changes})
    return apply_policy(
        text, {VISITS: table}, *([tmp_path / name] * bool(name)), ledger=tmp_path / ledger
    )


def test_a_synthetic_table_is_released_once_and_certified(tmp_path):
    first, again = released(tmp_path), released(tmp_path)
    assert first.table.column_names == ["sex", "stay"]
    assert first.table.num_rows == 400
    assert first.table.equals(again.table)
    assert read_certificate(first.certificate.to_jsonld()) == first.certificate
    assert {one.bound: one.achieved for one in first.certificate.measurements} == {
        "epsilon": 100,
        "delta": 0,
    }


def test_its_certificate_tells_the_noise_and_nothing_of_the_data(tmp_path):
    """With and without a person, and without anybody: all but the table is the same."""
    told = [
        released(tmp_path, table=table, ledger=f"{number}.sqlite", epsilon="1")
        for number, table in enumerate((PEOPLE, PEOPLE[1:], PEOPLE[:0]))
    ]
    hidden = {"time", "commitment", "output_digest"}
    assert len({one.certificate.model_dump_json(exclude=hidden) for one in told}) == 1
    assert len({str(one.table.schema) for one in told}) == 1
    assert {one.table.num_rows for one in told} == {400}


def test_a_certificate_of_other_rows_contradicts_itself(tmp_path):
    certificate = released(tmp_path).certificate
    step = certificate.plan.require_aggregate()
    assert [*statistics_contradictions(certificate, step)] == []
    other = certificate.model_copy(update={"rows_out": 401})
    contradictions = [*statistics_contradictions(other, step)]
    assert contradictions == ["It has 401 rows, and 400 are asked for."]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_it_is_compared_with_its_original(tmp_path, ending):
    pa_csv.write_csv(PEOPLE, tmp_path / "people.csv")
    name = f"synthetic.{ending}"
    released(tmp_path, table=tmp_path / "people.csv", name=name)
    comparison = compare_release(tmp_path / "people.csv", tmp_path / name)
    assert [one.columns for one in comparison.columns] == [("sex",), ("stay",)]
    [pair] = comparison.pairs
    assert pair.columns == ("sex", "stay")
    assert comparison.mean_total_variation == pair.total_variation < 0.02
    assert (comparison.release.rows, comparison.original.rows) == (400, 1_000)
    page = tmp_path / "distances.html"
    arguments = ["compare", str(tmp_path / "people.csv"), str(tmp_path / name)]
    told = CliRunner().invoke(app, [*arguments, "--report", str(page)])
    assert "total variation" in told.output
    assert f"{pair.total_variation:.4f}" in page.read_text()
    assert "<svg" in page.read_text()
    with pytest.raises(PlanError, match="not paid for"):
        compare_release(tmp_path / "people.csv", tmp_path / name, shareable=True)


def test_statistics_are_no_rows_to_compare(tmp_path):
    released(tmp_path, UNITS, name="one.csv", query={})
    with pytest.raises(PlanError, match="no rows to compare"):
        compare_release(tmp_path / "one.csv", tmp_path / "one.csv")


def test_a_plan_tells_the_noise_of_columns_and_pairs(tmp_path):
    (tmp_path / "policy.jsonld").write_text(policy_text(SEX, STAY, **ASKED))
    output = (
        CliRunner()
        .invoke(app, ["plan", str(tmp_path / "policy.jsonld")], env={"COLUMNS": "300"})
        .output
    )
    text = re.sub(r"[\s│]+", " ", output)
    for part in (
        "made up of sex: 2 values",
        "made up of days, moved into 0 to 4, in steps of 1",
        "changes the score of each pair of columns by 1, in one choice",
        "400, made up of these figures alone",
    ):
        assert part in text


def test_a_synthetic_table_is_no_answer_to_a_query_for_figures(tmp_path):
    answer = query_data(
        "SELECT COUNT(*) AS n FROM Visits",
        [policy_text(SEX, STAY, **ASKED)],
        "http://e.org/lab",
        {VISITS: PEOPLE},
        epsilon="0.5",
        ledger=tmp_path / "ledger.sqlite",
    )
    [reason] = answer.reasons
    assert reason.code == "Q010"
    assert "SQL cannot ask for any" in reason.hint
