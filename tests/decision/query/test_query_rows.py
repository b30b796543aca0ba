"""The rows of a query as text and as JSON, whatever the cells hold."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from asking import PEOPLE, VISITS, VISITS_ROWS, policy, rows, rule

from policy_engine.data.catalog import make_catalog
from policy_engine.decision.query.rows import as_csv, as_json, as_texts
from policy_engine.decision.query.running import run
from policy_engine.errors import OutputError


def made(entry):
    return run({"": f"SELECT {entry} AS a"}, {})[""]


@pytest.mark.parametrize("cell", ["DATE 'infinity'", "TIMESTAMP '-infinity'", "DATE '20000-01-01'"])
def test_moment_that_no_calendar_of_python_has_is_refused(cell):
    for show in (as_json, as_texts):
        with pytest.raises(OutputError, match="O002"):
            show(made(cell))
    with pytest.raises(OutputError, match="O002"):
        as_csv(made(f"[{cell}]"))


def test_cell_that_a_terminal_would_obey_is_shown_as_it_is_written():
    assert as_texts(made("chr(27) || '[2Jx'")) == [("\\u001b[2Jx",)]
    assert as_json(made("chr(27) || 'x'")) == [{"a": "\x1bx"}]


def test_moments_finer_than_sql_has_them_keep_their_zone():
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    moments = pa.array([noon], pa.timestamp("ns", "UTC"))
    tables = {PEOPLE: pa.table({"id": [1], "since": moments}), VISITS: pa.table(VISITS_ROWS)}
    given = make_catalog(tables)
    assert rows("SELECT since FROM People", policy([rule(PEOPLE)]), data=given) == [(noon,)]
