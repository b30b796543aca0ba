"""Attacks on a table, and what is learned of it, as a certificate can tell of them."""

import pytest
from attacked import attacked, bounded, by, known
from building import DATASET, column
from certifying import certified

from policy_engine.certificate.consistency import contradictions
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.disclosure import (
    DisclosureBound,
    DisclosureMeasurement,
    InferenceBound,
    InferenceMeasurement,
)
from policy_engine.policy import read_policy

# By Clopper and Pearson: 0.1181 to 0.8819 of 3 of 6, 0 to 0.4593 of none, 0.5407 to 1 of all.
HALF = Estimate(value=0.5, low=0.118, high=0.882)
LIKELY, SHAPED = "likelihood-linkage", "mahalanobis-linkage"
NOISE = [column(name, masking="noise", sdShare=1) for name in ("pay", "cap")]
LINKED = DisclosureBound(measure="linked", asked=0.9)


def linked(attack=LIKELY, reached=HALF, columns=("pay",), **changes):
    parts = {"bound": LINKED, "known": columns, "records": 6, "baseline": 1 / 6}
    return DisclosureMeasurement(attack=attack, reached=reached, **{**parts, **changes})


def told_of(*figures, asked=(), **parts):
    """Return what is told of figures of six rows, two columns of which are masked by noise.

    What is told without them is left out: of its masked columns, the certificate has no figures.
    """
    parts = {"method": "masking", "masked": NOISE, "insensitive": ["id"], **parts}
    asked = asked or (bounded(0.9), by(LIKELY, SHAPED), known("pay", "cap"))
    bare = certified(read_policy(attacked(*asked, **parts)), rows_out=6)
    made, before = bare.model_copy(update={"disclosures": figures}), {*contradictions(bare)}
    return [one for one in contradictions(made) if one not in before]


NOT_MADE = "It has figures of attacks on the table that its plan does not make."
SEVERAL = "It has several figures for one bound on an attack on the table."
OTHER_ROWS = "Its figures of attacks on the table are not of its rows."
SLOW, ONE_COLUMN = "it is slow", "by one column of numbers it is value-linkage"
NUMBERS = "it compares numbers, each of which is one value"


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ([], []),
        ([linked()], []),
        ([linked(), linked(SHAPED)], []),
        ([linked(columns=("cap", "pay"))], []),
        ([linked(columns=("cap", "id"))], [NOT_MADE]),
        ([linked("value-linkage")], [NOT_MADE]),
        ([linked(bound=DisclosureBound(measure="linked", asked=0.8))], [NOT_MADE]),
        ([linked(), linked()], [SEVERAL]),
        ([linked(baseline=0.2)], [OTHER_ROWS]),
        ([linked(records=7, baseline=1 / 7)], [OTHER_ROWS]),
        ([linked(columns=())], [f"It does not say by which columns {LIKELY} reached its figure."]),
        (
            [linked(reached=NotApplicable(reason=SLOW), columns=())],
            [f"It says that {LIKELY} does not apply, and it always does."],
        ),
        (
            [linked(SHAPED, NotApplicable(reason=SLOW), ())],
            [f"It says that {SHAPED} does not apply since {SLOW}, and that is not so."],
        ),
        (
            [linked(SHAPED, NotApplicable(reason=NUMBERS), ())],
            [f"It says that {SHAPED} does not apply since {NUMBERS}, and that is not so."],
        ),
    ],
    ids=range(14),
)
def test_attacks_on_a_table_are_those_that_are_planned(figures, told):
    assert told_of(*figures) == told


def test_an_attack_that_is_not_planned_is_not_one_that_does_not_apply():
    unplanned = linked("distance-linkage", NotApplicable(reason=SLOW), ())
    assert told_of(unplanned) == [NOT_MADE]


def test_with_one_column_known_an_attack_by_several_does_not_apply():
    single = bounded(0.9), by(SHAPED), known("pay")
    assert told_of(linked(SHAPED, NotApplicable(reason=ONE_COLUMN), ()), asked=single) == []


def test_of_duties_with_one_bound_each_is_told_of_by_its_own_columns():
    by_one = linked(SHAPED, NotApplicable(reason=ONE_COLUMN), ())
    few = "its covariance takes 20 persons at least, and 6 are in the release"
    by_two = linked(SHAPED, NotApplicable(reason=few), ())
    certificates = [
        certified(
            read_policy(
                attacked(
                    *(bounded(0.9), by(SHAPED), known(*names)),
                    method="masking",
                    masked=NOISE,
                    insensitive=["id"],
                )
            ),
            rows_out=6,
        )
        for names in (("pay",), ("pay", "cap"))
    ]
    steps = (*certificates[0].plan.steps, *certificates[1].plan.disclosures)
    plan = certificates[0].plan.model_copy(update={"steps": steps})
    bare = certificates[0].model_copy(update={"plan": plan})

    def told(*figures):
        made = bare.model_copy(update={"disclosures": figures})
        return {*contradictions(made)} - {*contradictions(bare)}

    assert told(by_one, by_two) == set()
    assert told(by_one, by_one) == {
        f"It says that {SHAPED} does not apply since {ONE_COLUMN}, and that is not so."
    }


@pytest.mark.parametrize(
    ("value", "low", "high", "is_possible"),
    [
        (0.5, 0.118, 0.882, True),
        (0.5, 0.05, 0.95, True),
        (0.5, 0.122, 0.882, False),
        (0.5, 0.118, 0.878, False),
        (0, 0, 0.46, True),
        (0, 0, 0.45, False),
        (1, 0.54, 1, True),
        (1, 0.55, 1, False),
    ],
)
def test_an_interval_is_that_of_a_share_of_six_records(value, low, high, is_possible):
    reached = Estimate(value=value, low=low, high=high)
    shown = f"from {low:g} to {high:g} around {value:g}."
    told = [f"6 records give no interval of {LIKELY} {shown}"]
    assert told_of(linked(reached=reached)) == ([] if is_possible else told)
    name = "attribute-inference"
    told = [f"6 records give no interval of {name} {shown}"]
    if value:  # the commonest value gives more than nothing
        assert told_of(inferred(reached=reached), **LEARNING) == ([] if is_possible else told)


LEARNED = {"leftOperand": "pe:learned", "operator": "isAllOf", "rightOperand": [f"{DATASET}/id"]}
LEARNING = {
    "action": "pe:attributeInference",
    "asked": (bounded(0.9, operand="pe:inferred"), LEARNED, known("pay", "cap")),
}
NO_BOUND = "It has figures of risk that its plan does not bound."
TWICE = "It has several figures for one bound on the risk of the table."


def inferred(reached=HALF, **changes):
    parts = {"column": "id", "known": ("pay",), "records": 6, "baseline": 0.5}
    bound = InferenceBound(measure="inferred", asked=0.9)
    return InferenceMeasurement(bound=bound, reached=reached, **{**parts, **changes})


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ([inferred()], []),
        ([inferred(known=("cap", "pay"))], []),
        ([inferred(reached=NotApplicable(reason="too few"))], []),
        ([inferred(column="pay")], [NO_BOUND, TWICE]),
        ([inferred(known=("age",))], [NO_BOUND]),
        ([inferred(), inferred(known=("cap",))], [TWICE]),
        ([inferred(records=8)], ["Its figures of risk are not of its rows."]),
    ],
    ids=range(7),
)
def test_what_is_learned_is_what_the_plan_bounds(figures, told):
    assert told_of(*figures, **LEARNING) == told
