"""Where a certificate falls short, in words."""

from dataclasses import dataclass, field, replace

import pytest
from applying import asking
from attacked import attacked, bounded, by, known
from building import column, people_policy
from certifying import certified
from modelled import of_release

from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.shortcomings import lost_rows, proven, shortcomings
from policy_engine.engines.samples import SampleFigures
from policy_engine.errors import Problem
from policy_engine.methods import Measurement
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.policy import read_policy


@dataclass(frozen=True)
class Rows:
    """What a record says of the rows of a release."""

    rows_in: int
    suppressed: int
    held_out: int
    sampled: int | None = None
    suppressed_cells: dict[str, int] = field(default_factory=dict)

    @property
    def rows_used(self):
        return self.rows_in if self.sampled is None else self.sampled


@pytest.fixture(scope="module")
def table():
    return certified(read_policy(people_policy()))


@pytest.fixture(scope="module")
def model():
    return certified(read_policy(of_release("DecisionTreeClassifier", attempts=3)))


def told(certificate, **changes):
    """Return the codes and messages of what falls short in a certificate that was changed."""
    found = shortcomings(certificate.model_copy(update=changes))
    return [(one.code, one.message) for one in found]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"bound": "k", "asked": 2, "achieved": 2}, ""),
        (
            {"bound": "k", "asked": 2, "achieved": 1, "worst": 0},
            "k must be at least 2, but is 1 in class 0 of the output.",
        ),
        (
            {"bound": "l", "column": "pay", "asked": 2.5, "achieved": 1},
            "l of 'pay' must be at least 2.5, but is 1 in a class of the output.",
        ),
        ({"bound": "rounding", "column": "pay", "sense": "at most", "asked": 0, "achieved": 0}, ""),
        (
            {"bound": "top-coding", "column": "pay", "sense": "at most", "asked": 0, "achieved": 3},
            "3 cells of 'pay' do not keep its top-coding.",
        ),
        (
            {"bound": "rounding", "column": "pay", "sense": "at most", "asked": 0, "achieved": 1},
            "1 cell of 'pay' does not keep its rounding.",
        ),
        (
            {
                "bound": "maxSuppression",
                "column": "zip",
                "sense": "at most",
                "asked": 0.1,
                "achieved": 1 / 3,
            },
            "0.3333 of the cells of 'zip' are suppressed. Allowed are 0.1.",
        ),
        (
            {"bound": "bucket-l", "column": "pay", "asked": 2, "achieved": 1, "worst": 3},
            "bucket-l of 'pay' must be at least 2, but is 1 in bucket 3 of the output.",
        ),
    ],
)
def test_each_bound_that_is_broken_is_told_with_where_it_is(table, facts, message):
    first, second = Measurement(**facts), Measurement(bound="k", asked=2, achieved=1)
    last = ("V001", "k must be at least 2, but is 1 in a class of the output.")
    found = told(table, measurements=(first, second))
    assert found == ([("V001", message), last] if message else [last])


def test_a_certificate_of_no_output_falls_short(table):
    nothing = ("V004", "Nothing was released: the certificate has no output.")
    assert told(table) == []
    assert told(table, output_digest="") == [nothing]


def test_attacks_that_were_not_made_on_an_output_fall_short():
    made = certified(read_policy(attacked(bounded(0.5), by("value-linkage"), known("pay"))))
    [(code, message)] = told(made)
    assert (code, "value-linkage" in message) == ("V019", True)
    assert [code for code, _ in told(made, output_digest="")] == ["V004"]


def test_what_the_files_of_a_model_give_away_falls_short(model):
    assert told(model) == []
    unmeasured = [("V011", "The files of the model were not checked for what they reveal.")]
    assert told(model, files=None) == unmeasured
    files = model.files
    other = files.model_copy(
        update={"asked": files.asked.model_copy(update={"rare_values": 5}), "rare_values": 5}
    )
    assert told(model, files=other) == unmeasured
    short = files.model_copy(
        update={"smallest_leaf": 1, "rare_values": 7, "broken": ("it holds a name",)}
    )
    found = told(model, files=short)
    assert [code for code, _ in found] == ["V011"] * 3
    assert [message for _, message in found] == [*short.shortcomings()]


def test_a_bound_on_an_attack_that_was_not_held_falls_short(model):
    reached = model.attacks[0].reached.model_copy(update={"value": 0.9, "low": 0.8, "high": 0.95})
    broken = tuple(one.model_copy(update={"reached": reached}) for one in model.attacks)
    found = told(model, attacks=broken)
    assert found
    assert {code for code, _ in found} == {"V007"}
    assert "but the attack loss reaches 0.9 (95% interval 0.8 to 0.95)" in found[0][1]


@pytest.mark.parametrize(("attempts", "count"), [(3, 0), (4, 1)])
def test_a_model_took_no_more_attempts_than_are_allowed(model, attempts, count):
    message = f"It took {attempts} attempts, but the policy allows 3."
    assert told(model, attempts=attempts) == [("V007", message)] * count


@pytest.mark.parametrize(
    ("rows_in", "suppressed", "held_out", "rows_out", "messages"),
    [
        (10, 0, 0, 10, []),
        (10, 2, 0, 8, []),
        (10, 2, 1, 7, []),
        (10, 3, 0, 7, ["3 rows are suppressed. Allowed are 2."]),
        (10, 0, 0, 9, ["The output has 9 rows, the input 10, of which 0 were suppressed."]),
        (
            10,
            1,
            2,
            10,
            ["The output has 10 rows, the input 10, of which 1 were suppressed and 2 kept."],
        ),
        (
            10,
            3,
            0,
            10,
            [
                "The output has 10 rows, the input 10, of which 3 were suppressed.",
                "3 rows are suppressed. Allowed are 2.",
            ],
        ),
    ],
)
def test_rows_are_lost_as_far_as_the_policy_allows(
    table, rows_in, suppressed, held_out, rows_out, messages
):
    record = Rows(rows_in, suppressed, held_out)
    limit = RecodingOptions(algorithm="full-domain", max_suppression=0.2)
    asked = table.plan.anonymize.model_copy(update={"recoding": limit})
    steps = [asked if one.step == "anonymize" else one for one in table.plan.steps]
    plan = table.plan.model_copy(update={"steps": tuple(steps)})
    found = lost_rows(table.model_copy(update={"plan": plan, "rows_out": rows_out}), record)
    assert [*found] == [Problem("V003", one) for one in messages]


def test_rows_that_were_not_sampled_are_not_lost(table):
    sample = SampleFigures(units="rows", sampled=6, rows=6, share=0.06, strata=1)
    found = table.model_copy(update={"sample": sample, "rows_out": 6})
    assert [*lost_rows(found, Rows(100, 0, 0, 6))] == []
    [problem] = lost_rows(found.model_copy(update={"rows_out": 5}), Rows(100, 0, 0, 6))
    assert "The output has 5 rows, the input 100, of which 0 were suppressed" in problem.message
    for record in (Rows(100, 0, 0, 7), Rows(100, 0, 0), Rows(5, 0, 0, 6)):
        assert "certificate one of 6" in next(lost_rows(found, record)).message


@pytest.mark.parametrize(
    ("cells", "messages"),
    [
        ({"age": 40, "zip": 10}, []),
        ({"zip": 11}, ["11 cells of 'zip' are suppressed. Allowed are 10."]),
        ({"age": 51}, ["51 cells of 'age' were suppressed, but 50 are missing in the output."]),
        ({"pay": 60}, []),  # it is not a quasi-identifier
    ],
    ids=str,
)
def test_cells_are_suppressed_as_far_as_the_policy_allows(cells, messages):
    capped = column("zip", maxSuppression=0.1)
    asked = {"method": "k-anonymity", "k": 2, "algorithm": "local-suppression"}
    made = certified(read_policy(asking(**asked, quasi=["age", capped], insensitive=["pay"])))
    utility = Utility.model_construct(column_losses={"age": 0.5, "zip": 0.2})
    found = lost_rows(
        made.model_copy(update={"utility": utility}), Rows(100, 0, 0, suppressed_cells=cells)
    )
    assert [*found] == [Problem("V003", one) for one in messages]


def test_no_row_is_left_out_where_nothing_is_generalised(table):
    steps = tuple(one for one in table.plan.steps if one.step != "anonymize")
    raw = table.model_copy(update={"plan": table.plan.model_copy(update={"steps": steps})})
    record = Rows(100, 0, 0)
    assert [*lost_rows(raw, record)] == []
    [problem] = lost_rows(raw.model_copy(update={"rows_out": 99}), replace(record, suppressed=1))
    assert problem == Problem("V003", "1 rows are suppressed. Allowed are 0.")


def test_what_was_shown_is_told_in_one_line(table):
    kept = Measurement(bound="rounding", column="pay", sense="at most", asked=0, achieved=0)
    broken = kept.model_copy(update={"achieved": 2})
    t = Measurement(bound="t", column="ill", sense="at most", asked=0.25, achieved=1 / 3)
    assert proven(table.model_copy(update={"measurements": (kept, broken, t)})) == (
        "rounding of pay kept, rounding of pay not kept by 2 cells, "
        "t 0.333333 (at most 0.25) of ill"
    )
    assert proven(table.model_copy(update={"measurements": ()})) == ""
