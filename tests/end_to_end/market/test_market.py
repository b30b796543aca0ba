"""A market of many owners: the answers that market.md has by hand are those of the engine."""

import pytest
from trading import (
    HERE,
    KINDS,
    NS,
    SITUATIONS,
    check_reasons,
    groups,
    market,
    purpose,
    request,
    rows,
)

from policy_engine.data.catalog import make_catalog
from policy_engine.decision.log import DecisionLog
from policy_engine.decision.query.answering import query
from policy_engine.errors import PolicyEngineError

REQUESTS, QUERIES = rows("request"), rows("query")

LOGGED = ("log", "ever-apart")


def named(row):
    return row.name


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", REQUESTS, ids=named)
def test_a_request_is_answered_as_the_owners_would(row, tmp_path):
    if row.answer == "refused":
        with pytest.raises(PolicyEngineError, match=row.by):
            market(row.situation)
        return
    given, decider = market(row.situation)
    if row.situation in LOGGED:
        log = DecisionLog.open(tmp_path / "log.jsonl")
        for one in row.above:
            log.decide(decider, request(one), given.world)
        decision = log.decide(decider, request(row), given.world)
    else:
        decision = decider.decide(request(row), given.world)
    assert decision.effect == row.answer, decision.reason
    check_reasons(row, decision)


def asked(row):
    given, _ = market("usual")
    tables = {f"{NS}{file.stem}": file for file in (HERE / "data").glob("*.csv")}
    if row.by == "V004":
        tables[f"{NS}SafeVisits"] = HERE / "data" / "WardTable.csv"
    return query(
        row.asks.split(" --")[0],
        [*given.policies.values()],
        f"{NS}{row.who}",
        make_catalog(tables),
        purpose(row),
        certificates=[*given.proofs.values()],
        hierarchy=groups(),
        world=given.world,
        owners=given.owners,
    )


@pytest.mark.parametrize("row", QUERIES, ids=named)
def test_a_query_is_answered_as_the_owners_would(row):
    if row.answer == "refused":
        with pytest.raises(PolicyEngineError, match=row.by):
            asked(row)
        return
    found = asked(row)
    told = f"{found.table.num_rows} rows" if found.permitted else "deny"
    assert told == row.answer, found.reasons
    check_reasons(row, found.decision)


def test_every_row_of_the_table_is_one_of_its_own_and_says_why():
    every = [*REQUESTS, *QUERIES]
    names = [row.name for row in every]
    assert len(set(names)) == len(names) > 150
    assert all(row.why.endswith(".") for row in every)
    assert {row.situation for row in REQUESTS} == {*SITUATIONS}
    reasons = {one for row in REQUESTS for one in row.reasons}
    assert {one for one in reasons if "#" not in one} == {*KINDS, "P019"}
