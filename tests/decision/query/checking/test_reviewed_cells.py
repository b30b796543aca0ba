"""Which cells a person may let out, and when an answer is the one that was accepted."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import policy_with
from reviewed_answers import CHECK, PEOPLE, accepted, asked, submitted

from policy_engine.audits.outputs.reasons import Reason
from policy_engine.decision.query.checking.checked_query import NotCheckableError
from policy_engine.decision.query.checking.reviewed_cells import (
    AcceptedAnswer,
    check_same,
    is_for_review,
    opened,
    with_accepted,
)
from policy_engine.plan.output_checks import checks_of
from policy_engine.release.output_ledger import OutputLedger

MASKS = (0, Reason.NEGATIVE_VALUES.bit, Reason.FEW_UNITS.bit, Reason.EXTREME.bit)

WITHOUT_X = pa.table(
    {
        "person": range(42, 60),
        "region": ["d"] * 18,
        "sector": ["y"] * 18,
        "gain": [(-1) ** n * (100.0 + n) for n in range(18)],
    }
)


@pytest.fixture
def verdict(tmp_path):
    """Return a verdict: released, for review, of few, an extreme; two cells more are released."""
    own = asked(tmp_path / "ledger").checked.judged
    reasons = np.array([*MASKS, 0, 0], np.uint32).reshape(own.reasons.shape)
    return type(own)(own.table, own.check, reasons)


def with_mitigation(verdict, mitigation):
    [check] = checks_of([policy_with(*CHECK, ("pe:mitigation", "eq", mitigation))])
    return type(verdict)(verdict.table, check, verdict.reasons)


def left(verdict):
    return verdict.reasons.ravel()[:4].tolist()


def test_a_person_lets_out_what_the_rules_leave_to_one(verdict):
    assert is_for_review(verdict)
    assert left(opened(verdict, is_exception=False)) == [0, 0, MASKS[2], MASKS[3]]
    assert left(opened(verdict, is_exception=True)) == [0, 0, 0, MASKS[3]]


def test_where_the_policy_asks_for_review_all_is_left_to_one_but_what_it_refuses(verdict):
    whole = with_mitigation(verdict, "review")
    assert not whole.released.any()
    after = opened(whole, is_exception=False)
    assert left(after) == [0, 0, 0, MASKS[3]]
    assert after.released.ravel().tolist() == [True, True, True, False, True, True]


def test_where_the_policy_denies_nothing_is_left_to_a_person(verdict):
    denied = with_mitigation(verdict, "deny")
    assert not is_for_review(denied)
    assert left(opened(denied, is_exception=True)) == list(MASKS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("place", [2, 3])
def test_what_may_not_be_let_out_cannot_be_accepted(verdict, place):
    cells = np.zeros(verdict.reasons.shape, np.bool_)
    cells.flat[place] = True
    accepted = AcceptedAnswer("carl", cells.tolist(), pa.table({}), "digest", verdict.check)
    before = opened(verdict, is_exception=False)
    with pytest.raises(NotCheckableError, match="not what was reviewed"):
        with_accepted(before, accepted, verdict.check, "digest")


def test_just_what_was_accepted_is_released(verdict):
    cells = np.zeros(verdict.reasons.shape, np.bool_)
    cells.flat[1] = True
    accepted = AcceptedAnswer("carl", cells.tolist(), pa.table({}), "digest", verdict.check)
    before = opened(verdict, is_exception=False)
    after = with_accepted(before, accepted, verdict.check, "digest")
    assert (after.released == cells).all()
    with pytest.raises(NotCheckableError):
        with_accepted(before, accepted, verdict.check, "of other data")


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("own", "is_same"),
    [
        ({"a": [0.1 + 0.2, None]}, True),
        ({"a": [0.3001, None]}, False),
        ({"a": [0.3, 1.0]}, False),
        ({"b": [0.3, None]}, False),
        ({"a": [0.3]}, False),
        ({"a": ["x", None]}, False),
    ],
)
def test_an_answer_is_the_same_up_to_the_order_in_which_it_was_added_up(verdict, own, is_same):
    table = pa.table({"a": [0.3, None]})
    accepted = AcceptedAnswer("carl", (), table, "", verdict.check)
    if is_same:
        check_same(pa.table(own), accepted)
        return
    with pytest.raises(NotCheckableError, match="not what was reviewed"):
        check_same(pa.table(own), accepted)


ZEROS = [
    "SELECT COUNT(*) AS n FROM T WHERE region = 'd' AND sector = 'x'",
    "SELECT COUNT(*) FILTER (WHERE sector = 'x') AS n FROM T WHERE region = 'd'",
    "SELECT region, sector, COUNT(*) AS n FROM T WHERE region = 'd' AND sector = 'x' GROUP BY 1, 2",
]


@pytest.mark.nightly
@pytest.mark.parametrize("sql", ZEROS)
def test_a_zero_may_be_let_out_in_whatever_words_it_is_asked_for(tmp_path, sql):
    """Which one cell tells by itself, that nobody of a region is of a sector, is the person's."""
    table = pa.concat_tables([PEOPLE, WITHOUT_X])
    folder, ledger = tmp_path / "folder", tmp_path / "ledger"
    result = asked(ledger, sql, is_exception=True, table=table)
    assert result.checked.codes == ("K049",)
    assert {row["n"] for row in result.checked.offered.table.to_pylist()} == {0}
    submitted(folder, ledger, sql, exception="That is public.", table=table)
    accepted(folder, ledger, table=table)
    assert OutputLedger(ledger).history()[-1].output.accepted == "carl"


@pytest.mark.nightly
def test_a_zero_that_only_several_answers_tell_is_not_let_out(tmp_path):
    """Of regions c and d, two are of sector x, and just the two of c are: none of d is."""
    table, ledger = pa.concat_tables([PEOPLE, WITHOUT_X]), tmp_path / "ledger"
    both = "SELECT COUNT(*) AS n FROM T WHERE region IN ('a', 'd') AND sector = 'x'"
    assert asked(ledger, both, table=table).checked.table.to_pylist() == [{"n": 18}]
    alone = "SELECT COUNT(*) AS n FROM T WHERE region = 'a' AND sector = 'x'"
    result = asked(ledger, alone, is_exception=True, table=table)
    assert result.checked.codes == ("K049",)
    assert result.checked.offered.table.to_pylist() == [{"n": None}]
