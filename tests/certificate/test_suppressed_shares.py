"""The share of a column's cells that was suppressed, of as many cells as anybody can count."""

import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from certifying import certified

from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.suppressed_shares import cap_contradictions, measure_caps
from policy_engine.engines.engine import StoredData, TableMeasurements, WrittenTable
from policy_engine.errors import DataError
from policy_engine.kernels.grouping import ClassTotals
from policy_engine.policy import read_policy

ACTION = anonymize(
    method="k-anonymity",
    k=2,
    quasi=["age", column("zone", maxSuppression=0.1)],
    algorithm="local-suppression",
)
MADE = certified(
    read_policy(policy([permission(uid=f"{DATASET}#r", action=ACTION, output=OUTPUT)])),
    rows_out=40,
)


def share(missing, before, *, is_shown=True):
    """Return the share that is told of 40 cells, of which at most 4 may be suppressed."""
    totals = ClassTotals(40, 4, 400, {"age": 0.0, "zone": missing}, 10, 10)
    known = None if before is None else {"zone": before, "age": 39}
    written = WrittenTable(StoredData(OUTPUT, "a" * 64), missing_cells=known)
    measured = TableMeasurements((), totals)
    [found] = measure_caps(MADE.plan.anonymize, measured, written, is_shown=is_shown)
    assert (found.bound, found.column, found.asked) == ("maxSuppression", "zone", 0.1)
    assert found.sense == "at most"
    return found.achieved


@pytest.mark.parametrize(
    ("missing", "before", "told", "hidden"),
    [
        (0, 0, 0, 0.1),
        (3, 0, 3 / 40, 0.1),
        (3, 3, 3 / 40, 0.1),  # nobody learns that none was suppressed
        (4, 0, 0.1, 0.1),
        (5, 0, 5 / 40, 5 / 40),
        (20, 16, 0.1, 0.1),
        (20, 15, 5 / 40, 5 / 40),
        (3, None, 3 / 40, 0.1),
        (4, None, 0.1, 0.1),
    ],
)
def test_a_share_within_the_cap_is_told_as_what_is_missing_up_to_it(missing, before, told, hidden):
    assert share(missing, before) == told
    assert share(missing, before, is_shown=False) == hidden


def test_without_the_input_nobody_knows_whether_more_were_suppressed():
    with pytest.raises(DataError) as caught:
        share(5, None)
    [problem] = caught.value.problems
    assert problem.code == "V006"
    assert problem.message == (
        "5 of 40 cells of 'zone' are missing, of which 0.1 may have been suppressed. How many were "
        "missing before, only the data tell, and of a sample, the key besides."
    )
    assert problem.hint == (
        "Give the data that it was made from, and the key if rows were sampled."
    )


@pytest.mark.parametrize(
    ("lost", "possible", "impossible"),
    [
        (0.05, [0.05], [0.04, 0.06, 0.1, 0.2]),
        (0.1, [0.1], [0.09, 0.11]),
        (0.5, [0.1, 0.11, 0.5], [0.09, 0.51]),
        (None, [0.1, 0.3, 1], [0.05]),  # where nobody sees what is missing
    ],
)
def test_a_share_that_is_told_is_that_of_the_missing_cells_up_to_the_cap(
    lost, possible, impossible
):
    shown = Utility.model_construct(column_losses={"zone": lost, "age": 0.07})
    utility = MADE.utility if lost is None else shown
    _, cap = MADE.measurements
    for share_told in (*possible, *impossible):
        other = cap.model_copy(update={"achieved": share_told})
        parts = {"measurements": (MADE.measurements[0], other), "utility": utility}
        missing = 1 if lost is None else lost
        told = f"maxSuppression of 'zone' cannot be {share_told:g} if {missing:g} of 40 cells are"
        found = [*cap_contradictions(MADE.model_copy(update=parts))]
        assert found == ([f"{told} missing."] if share_told in impossible else [])


def test_a_column_that_lost_nothing_has_no_cap_of_more():
    utility = Utility.model_construct(column_losses={"age": 0.1})
    _, cap = MADE.measurements
    for told, number in ((0.0, 0), (0.1, 1)):
        parts = {"measurements": (cap.model_copy(update={"achieved": told}),), "utility": utility}
        assert len([*cap_contradictions(MADE.model_copy(update=parts))]) == number
