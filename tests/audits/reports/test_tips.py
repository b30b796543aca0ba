import pytest
from test_page import column, comparison
from test_risk_part import correlations, rows

from policy_engine.audits.disclosure.risks.result import FileRisks, Risk
from policy_engine.audits.reports.comparison import report_page
from policy_engine.audits.reports.tips import tips
from policy_engine.audits.utility.model import Classification
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement

FINE = {
    "suppressed": 0,
    "columns": (column(loss=0.2),),
    "pairs": (),
    "queries": NotApplicable(reason="nobody asked"),
    "average_class_ratio": 1.5,
}
LEARNT = {
    "target": "disease",
    "values": 2,
    "rows_learnt": 4,
    "rows_held_out": 2,
    "majority": 0.5,
    "error": 0.02,
}


def risks(**figures):
    found = (Risk.of(name.replace("_", "-"), ("age",), share) for name, share in figures.items())
    return FileRisks(risks=tuple(found))


def test_nothing_is_said_where_nothing_stands_out():
    fine = comparison(**FINE, risks=risks(prosecutor_largest=0.2), row_pairs=rows(fitting=3))
    assert tips(fine) == ()
    assert "<h2>Tips</h2>" not in report_page(comparison(**FINE))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"risks": risks(prosecutor_largest=0.5)}, "up to 50.0%. With a k of 5 or more"),
        ({"risks": risks(counted_uniques=0.01)}, "1.0% of the records are alone"),
        ({"measurements": (Measurement(bound="k", asked=5, achieved=3),)}, "bound k is broken"),
        ({"row_pairs": rows(fitting=1)}, "1 of the 1 rows side by side fit a single row"),
        ({"columns": (column(loss=0.95),)}, "age has lost 95% of its detail"),
        ({"columns": (column(suppressed=0.3),)}, "30.0% of the released cells of age"),
        ({"suppressed": 1}, "16.7% of the rows are suppressed"),
        ({"average_class_ratio": 3.0}, "3.0 times the rows that k asks for"),
        ({"pairs": correlations()}, "age and b go together has changed most, from 0.50 to 0.25"),
        (
            {"classification": Classification(**LEARNT, original=0.9, anonymised=0.52)},
            "next to nothing of disease",
        ),
    ],
)
def test_what_stands_out_is_said(facts, words):
    [tip] = tips(comparison(**(FINE | facts)))
    assert words in tip


def test_a_model_that_learns_is_no_tip_and_neither_is_one_that_nobody_could_have_learnt():
    for original, anonymised in ((0.9, 0.7), (0.51, 0.5)):
        learnt = Classification(**LEARNT, original=original, anonymised=anonymised)
        assert tips(comparison(**FINE, classification=learnt)) == ()


def test_inexact_counts_are_said():
    inexact = comparison(**{**FINE, "queries": comparison().queries})
    assert "wrong by 50.0% or more" in tips(inexact)[0]
