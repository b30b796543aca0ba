import pyarrow as pa
import pytest
from places import ROOT, TESTS
from typer.testing import CliRunner

from policy_engine.api.deciding import query_data
from policy_engine.cli.commands import make_app
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import check_plannable
from policy_engine.policy import load_policy

POLICIES = sorted((ROOT / "policies").glob("*.jsonld"))
READING_ALONE = {"research-centre"}
"""Policies that let checked aggregates be read, and ask for no release."""
RELEASING = [path for path in POLICIES if path.stem not in READING_ALONE]

HINTS = {"census-masked": ["W005"], "diabetes-buckets": ["W007"]}
"""Masking alone bounds nothing, and buckets do not hide who is there, as their owners are told."""


@pytest.mark.parametrize("path", RELEASING, ids=lambda path: path.stem)
def test_a_shipped_policy_gives_the_plan_written_beside_the_tests(path):
    policy = load_policy(path)
    check_plannable(policy)
    assert [one.code for one in policy.hints] == HINTS.get(path.stem, [])
    expected = (TESTS / "plans" / f"{path.stem}.json").read_text()
    assert make_plan(policy).model_dump_json(indent=2) + "\n" == expected
    assert Plan.model_validate_json(expected) == make_plan(policy)


def test_there_is_a_plan_for_each_policy_and_no_other():
    plans = {path.stem for path in (TESTS / "plans").glob("*.json")}
    assert plans == {path.stem for path in RELEASING}
    assert {"customer", "adult", "diabetes"} <= plans


def test_shipped_policies_are_valid_together():
    told = CliRunner().invoke(make_app("validate"), ["validate", *map(str, POLICIES)])
    assert told.exit_code == 0, told.output


def test_policy_of_a_research_centre_lets_checked_aggregates_be_read(tmp_path):
    """Two firms have 84 and 34 employees, of whom 6 and 1 are in the fields."""
    sizes = {("A", "office"): 78, ("A", "field"): 6, ("B", "office"): 33, ("B", "field"): 1}
    cells = [cell for cell, size in sizes.items() for _ in range(size)]
    firms, sectors = zip(*cells, strict=True)
    table = pa.table({"person": list(range(118)), "firm": firms, "sector": sectors})
    [policy] = [load_policy(path) for path in POLICIES if path.stem in READING_ALONE]

    def ask(sql):
        who = "http://example.com/org/University"
        data, ledger = {"http://example.com/Employees": table}, tmp_path / "outputs"
        return query_data(sql, [policy], who, data, "dpv:AcademicResearch", output_ledger=ledger)

    counted = ask("SELECT firm, COUNT(*) AS n FROM Employees GROUP BY firm").table
    assert counted.to_pylist() == [{"firm": "A", "n": 84}, {"firm": "B", "n": 34}]
    offices = ask("SELECT firm, COUNT(*) FROM Employees WHERE sector = 'office' GROUP BY firm")
    assert not offices.permitted
    assert offices.checked.codes == ("K049",)
    assert not ask("SELECT firm FROM Employees").permitted
