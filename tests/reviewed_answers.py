"""Answers to queries that a person decides about, of forty persons of whom some lost money."""

import pyarrow as pa
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.api.reviewing_answers import accept_answer, submit_answer
from policy_engine.decision.query.checking.reviewed_cells import AnswerReview

CHECK = (
    ("pe:outputCheck", "eq", "bundesbank"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
    ("pe:minUnits", "eq", 5),
)
PEOPLE = pa.table(
    {
        "person": range(42),
        "region": ["a"] * 20 + ["b"] * 20 + ["c"] * 2,
        "sector": (["x"] * 18 + ["y"] * 2) * 2 + ["y"] * 2,
        "gain": [(-1) ** n * (100.0 + n) for n in range(42)],
    }
)
TOTALS = "SELECT region, COUNT(*) AS n, SUM(gain) AS s FROM T GROUP BY region"
BY_SECTOR = TOTALS.replace("region", "sector")
"""With the totals by region that are shown, those by sector tell what the two others have."""
EVERYBODY = "SELECT COUNT(*) AS n FROM T"


def asked(ledger, sql=TOTALS, *, more=(), is_exception=False, table=PEOPLE):
    """Return the answer to a query that a person is to look at."""
    review = AnswerReview(is_exception=is_exception)
    return query_data(
        sql,
        [policy_with(*CHECK, *more)],
        RESEARCHER,
        {TABLE: table},
        output_ledger=ledger,
        review=review,
    )


def submitted(folder, ledger, sql=TOTALS, *, more=(), exception="", table=PEOPLE, by="rita"):
    """Return the folder of an answer that a person is to look at."""
    result = asked(ledger, sql, more=more, is_exception=bool(exception), table=table)
    return submit_answer(result, sql, folder, by=by, exception=exception)


def accepted(folder, ledger, *, more=(), table=PEOPLE, by="carl", **settings):
    """Return where the answer in a folder stands once it is accepted."""
    return accept_answer(
        folder,
        [policy_with(*CHECK, *more)],
        {TABLE: table},
        ledger,
        reason="Losses are not secret.",
        by=by,
        **settings,
    )
