"""Queries by who knows how many persons and rows there are in all."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

SIZES = {"north": 60, "south": 40, "west": 30, "east": 3}
REGIONS = [region for region, size in SIZES.items() for _ in range(size)]
PAYS = [1000.0 + 17 * number % 331 for number in range(len(REGIONS))]


def people(times=1):
    """Return persons by region, each with so many rows; three of the north have no pay."""
    pays = [None if place < 3 else pay for place, pay in enumerate(PAYS)]
    persons = {"person": [*range(len(REGIONS))], "region": REGIONS, "all_pay": PAYS, "pay": pays}
    return pa.table(
        {key: [one for one in own for _ in range(times)] for key, own in persons.items()}
    )


@pytest.fixture
def ask(tmp_path):
    def answers(*queries, table=None, refinements=(), assignee=RESEARCHER):
        """Return the columns of the last answer and the codes against its cells."""
        check = [("pe:outputCheck", "eq", "dwb-2015"), *refinements]
        check.append(("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}))
        for sql in queries:
            result = query_data(
                sql,
                [policy_with(*check, assignee=assignee)],
                assignee,
                {TABLE: people() if table is None else table},
                output_ledger=tmp_path / "ledger",
            )
        return result.table.to_pydict()

    return answers


def unknown(counts):
    """Return how many persons are in none of the counts that are shown."""
    return len(REGIONS) - sum(one for one in counts if one is not None)


def test_counts_by_region_do_not_tell_of_a_few_by_the_number_of_all(ask):
    counts = ask("SELECT region, COUNT(*) AS n FROM T GROUP BY region")["n"]
    assert counts.count(None) == 2
    assert unknown(counts) >= 10
    assert ask("SELECT COUNT(*) AS n FROM T")["n"] == [133]


@pytest.mark.nightly
@pytest.mark.one_in(2)
@pytest.mark.parametrize("times", [1, 3])
def test_counts_of_several_answers_do_not_tell_of_a_few_by_the_number_of_all(ask, times):
    table = people(times)
    figure = "COUNT(DISTINCT person)" if times > 1 else "COUNT(*)"
    counts = [
        ask(f"SELECT {figure} AS n FROM T WHERE region = '{region}'", table=table)["n"][0]
        for region in SIZES
    ]
    assert counts[:2] == [60, 40]
    assert counts[2:] == [None, None]


def test_means_do_not_tell_of_a_few_by_the_number_of_all(ask):
    means = ask("SELECT region, AVG(all_pay) AS m FROM T GROUP BY region")["m"]
    shown = [size for size, mean in zip(sorted(SIZES), means, strict=True) if mean is not None]
    assert len(shown) == 2


def test_all_but_a_few_are_not_counted_by_other_words(ask):
    assert ask("SELECT COUNT(*) AS n FROM T WHERE region <> 'east'")["n"] == [None]


def test_totals_tell_no_number_of_persons(ask):
    totals = ask("SELECT region, SUM(all_pay) AS s FROM T GROUP BY region")["s"]
    assert totals.count(None) == 1


def test_that_a_few_have_no_value_withholds_no_mean(ask):
    mean = ask("SELECT AVG(pay) AS m, COUNT(*) AS n FROM T")
    assert mean["n"] == [133]
    assert mean["m"][0] == pytest.approx(sum(PAYS[3:]) / 130)
    assert ask("SELECT COUNT(pay) AS n FROM T")["n"] == [None]


def test_without_secondary_suppression_totals_count_as_unknown(ask):
    none = [("pe:secondary", "eq", "none")]
    counts = ask("SELECT region, COUNT(*) AS n FROM T GROUP BY region", refinements=none)["n"]
    assert counts.count(None) == 1
