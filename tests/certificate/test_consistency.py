"""What no release can have, at the edge of what one can."""

from datetime import UTC, datetime, timedelta

import pytest
from building import DATASET, PEOPLE, people_policy
from certifying import certified
from modelled import of_raw, of_release

from policy_engine import apply_policy
from policy_engine.audits.gate import ModelFigures
from policy_engine.certificate.consistency import contradictions
from policy_engine.certificate.wording import NOT_GENERALISED
from policy_engine.engines.engine import EarlyStop
from policy_engine.engines.snapshots import TableSnapshot
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods import Measurement
from policy_engine.plan.training import FileBounds, FilesMeasured
from policy_engine.policy import read_policy

REACHED = Estimate(value=0.5, low=0.4, high=0.6)
MODEL = ModelFigures(on_members=REACHED, on_others=REACHED, baseline=REACHED)
NONE = NotApplicable(reason="none")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The certificate of six rows in three classes of two, with k 2 and l 2."""
    file = tmp_path_factory.mktemp("table") / "people.csv"
    file.write_text(PEOPLE)
    return apply_policy(people_policy(), {DATASET: file}).certificate


@pytest.fixture(scope="module")
def model():
    """The certificate of a model, once attacked, that learnt from a table."""
    made = certified(read_policy(of_release("DecisionTreeClassifier")))
    return made.model_copy(update={"models": (MODEL,)})


def figures(table, achieved=(2, 2), **lost):
    """Return the certificate of the table with other figures of its bounds and of its loss."""
    bounds = zip(table.measurements, achieved, strict=True)
    measured = tuple(one.model_copy(update={"achieved": figure}) for one, figure in bounds)
    utility = table.utility.model_copy(update=lost)
    return table.model_copy(update={"measurements": measured, "utility": utility})


def in_classes(count, discernability):
    size = 6 / count
    sizes = {"average_class_size": size, "average_class_ratio": size / 2}
    return {"classes": count, "discernability": discernability, **sizes}


LOST = "The loss of a column is not between 0 and 1."
MEAN = "Its certainty penalty is not the mean of its columns' losses."
ONCE = "It does not give exactly one loss for each quasi-identifier."


@pytest.mark.parametrize(
    ("achieved", "lost", "told"),
    [
        ((2, 2), {}, []),
        ((6, 6), in_classes(1, 36), []),
        ((1, 1), in_classes(6, 6), []),
        ((0, 0), {}, []),
        ((2, 2), in_classes(3, 36), []),
        ((7, 2), {}, ["k cannot be 7 in 6 rows.", "6 rows cannot form 3 classes of 7 or more."]),
        ((2, 7), {}, ["l cannot be 7 in 6 rows.", "6 rows cannot form 3 classes of 7 or more."]),
        ((-1, 2), {}, ["k cannot be -1 in 6 rows."]),
        ((2, 2.5), {}, ["6 rows cannot form 3 classes of 2.5 or more."]),
        ((1, 1), in_classes(7, 6), ["6 rows cannot form 7 classes."]),
        ((2, 2), {"discernability": 11}, ["The discernability of 3 classes cannot be 11."]),
        ((2, 2), {"discernability": 37}, ["The discernability of 3 classes cannot be 37."]),
        (
            (2, 2),
            {"average_class_size": 2.000_001},
            ["The average class size must be 2: 6 rows in 3 classes."],
        ),
        ((2, 2), {"average_class_ratio": 0.999_999}, ["The average class size must be 1 times k."]),
        ((2, 2), {"column_losses": {"age": 0, "city": 1}, "global_certainty_penalty": 0.5}, []),
        (
            (2, 2),
            {"column_losses": {"age": 0, "city": 1.001}, "global_certainty_penalty": 0.5005},
            [LOST],
        ),
        (
            (2, 2),
            {"column_losses": {"age": -0.001, "city": 1}, "global_certainty_penalty": 0.4995},
            [LOST],
        ),
        ((2, 2), {"column_losses": {"age": 0, "city": 1}, "global_certainty_penalty": 0.4}, [MEAN]),
        ((2, 2), {"global_certainty_penalty": None}, [MEAN]),
        ((2, 2), {"column_losses": {}, "perturbed": ("age", "city")}, [MEAN]),
        ((2, 2), {"perturbed": ("age",)}, [ONCE]),
        (
            (2, 2),
            {"column_losses": {"age": 0.5}, "global_certainty_penalty": 0.5},
            [ONCE],
        ),
        (
            (2, 2),
            {
                "column_losses": {"age": 0.5},
                "perturbed": ("city",),
                "global_certainty_penalty": 0.5,
            },
            [],
        ),
    ],
)
def test_figures_are_those_of_six_rows_in_three_classes(table, achieved, lost, told):
    assert [*contradictions(figures(table, achieved, **lost))] == told


BOUNDS = "It does not have exactly one measurement for each bound of its plan."


@pytest.mark.parametrize(
    ("bound", "achieved", "told"),
    [
        ("entropy-l", 7, [BOUNDS, "entropy-l cannot be 7 in 6 rows."]),
        ("rounding", 7, [BOUNDS, "rounding cannot be 7 in 6 rows."]),
        ("rounding", 6, [BOUNDS]),
        ("t", 7, [BOUNDS]),
        ("t", float("inf"), [BOUNDS]),
        ("t", -0.1, [BOUNDS, "t cannot be -0.1 in 6 rows."]),
    ],
)
def test_a_figure_that_counts_rows_is_not_above_them(table, bound, achieved, told):
    other = Measurement(bound=bound, column="age", asked=1, achieved=achieved)
    found = table.model_copy(update={"measurements": (*table.measurements, other)})
    if told[1:] and bound == "entropy-l":
        told = [*told, "6 rows cannot form 3 classes of 7 or more."]
    assert [*contradictions(found)] == told


@pytest.mark.parametrize("part", ["bound", "column", "sense", "asked"])
def test_each_bound_is_measured_as_the_plan_asks_for_it(table, part):
    other = {"bound": "entropy-l", "column": "age", "sense": "at most", "asked": 1}[part]
    first, *rest = table.measurements
    measured = (first.model_copy(update={part: other}), *rest)
    assert [*contradictions(table.model_copy(update={"measurements": measured}))] == [BOUNDS]
    twisted = table.model_copy(update={"measurements": table.measurements[::-1]})
    assert [*contradictions(twisted)] == []


def sooner(**before):
    return datetime.now(UTC) + timedelta(**before)


FEW = "Its figures do not match its number of attempts."
NO_MODELS = "It gives no number of attempts, or gives one although nothing is attacked."
SPEAKS = "It has no output, but has measurements of one."
NO_QUASI = "It lists approximated columns that are not quasi-identifiers."
REASON = "It gives another reason than there is for not telling how much was lost."
VERSIONS = "It names versions of programs that there are not."
NO_STAGE = "It says that a search was stopped early, but its plan has no such search."


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"time": sooner(hours=23)}, []),
        ({"time": datetime(2020, 1, 1)}, ["Its time has no time zone."]),  # noqa: DTZ001
        ({"rows_out": 0}, ["Its output has no rows."]),
        ({"output_digest": ""}, [SPEAKS]),
        ({"utility": NOT_GENERALISED}, ["It does not say how much information was lost."]),
        ({"utility": NONE}, [REASON, "It does not say how much information was lost."]),
        ({"versions": {"numpy": "2.4.0rc1", "tensorflow-cpu": "2.20.0.dev20260101+cpu.1"}}, []),
        ({"versions": {"numpy": "Ann earns 41250"}}, [VERSIONS]),
        ({"versions": {"Ann": "1.0"}}, [VERSIONS]),
        ({"approximated": ("city", "age")}, []),
        ({"approximated": ("age", "age")}, [NO_QUASI]),
        ({"approximated": ("disease",)}, [NO_QUASI]),
        ({"ended": EarlyStop(seconds=1, stage="partitioning", left=1)}, []),
        ({"ended": EarlyStop(seconds=1, stage="polishing", left=1)}, [NO_STAGE]),
        ({"attempts": 1}, [NO_MODELS]),
        ({"models": (MODEL,)}, [NO_MODELS]),
        (
            {
                "files": FilesMeasured(
                    asked=FileBounds(smallest_leaf=10), smallest_leaf=10, rare_values=0
                )
            },
            ["It has figures of a model's files that its plan does not ask for."],
        ),
    ],
)
def test_a_table_is_told_of_as_it_can_be(table, changes, told):
    assert [*contradictions(table.model_copy(update=changes))] == told


def test_the_version_of_a_table_is_of_one_of_a_catalog(table):
    named = table.model_copy(update={"snapshot": TableSnapshot(format="delta", version="3")})
    told = "It names the version of a table, and is not of one of Spark's catalog."
    assert told in [*contradictions(named)]
    plan = table.plan.model_copy(update={"engine": "spark"})
    assert told not in [*contradictions(named.model_copy(update={"file": "", "plan": plan}))]


def test_the_future_begins_a_day_from_now(table):
    late = sooner(hours=25)
    told = [*contradictions(table.model_copy(update={"time": late}))]
    assert told == [f"It was made in the future, at {late.isoformat()}."]


def test_a_refused_release_is_of_nothing(table, model):
    for one in (table, model):
        refused = one.as_refusal()
        assert [*contradictions(refused)] == []
        for name in ("rows_out", "measurements", "commitment", "utility"):
            whole = {**vars(one), "commitment": table.commitment}
            told = refused.model_copy(update={name: whole[name]})
            if told != refused:
                assert [*contradictions(told)] == [SPEAKS]


PLAN = "It has figures of attacks that its plan does not run."
TWICE = "It has several figures for one bound on an attack."
RIGHT = "It does not give the accuracy of the attacked model."


def attacked(model, **changes):
    return tuple(one.model_copy(update=changes) for one in model.attacks)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (lambda _: {}, []),
        (lambda one: {"attacks": one.attacks * 2}, [TWICE]),
        (lambda one: {"attacks": (*one.attacks, *attacked(one, attack="none"))}, [PLAN, TWICE]),
        (lambda one: {"attacks": attacked(one, attack="none")}, [PLAN, TWICE]),
        (lambda _: {"attacks": ()}, []),  # which falls short, and is possible
        (lambda _: {"models": ()}, [RIGHT]),
        (lambda _: {"attempts": 0}, [NO_MODELS]),
        (lambda _: {"attempts": 2}, [FEW]),
        (lambda one: {"attempts": 2, "attacks": attacked(one, pooled=0.5)}, []),
        (lambda one: {"attacks": attacked(one, pooled=0.5)}, [FEW]),
        (lambda one: {"attempts": 2, "attacks": attacked(one, reached=NONE)}, []),
        (lambda one: {"attempts": 2, "attacks": attacked(one, reached=NONE, pooled=0.5)}, [FEW]),
        (lambda _: {"files": None}, []),
        (
            lambda one: {
                "files": one.files.model_copy(update={"asked": FileBounds(smallest_leaf=99)})
            },
            ["It has figures of a model's files that its plan does not ask for."],
        ),
        (lambda _: {"ended": EarlyStop(seconds=1, stage="partitioning", left=1)}, [NO_STAGE]),
    ],
    ids=range(15),
)
def test_a_model_is_told_of_as_it_can_be(model, changes, told):
    assert [*contradictions(model.model_copy(update=changes(model)))] == told


def test_what_nothing_was_generalised_of_has_no_loss(table):
    raw = certified(read_policy(of_raw()), models=(MODEL,))
    assert [*contradictions(raw)] == []
    told = [*contradictions(raw.model_copy(update={"utility": table.utility}))]
    assert told == ["It reports an information loss, but nothing was generalised."]
    told = [*contradictions(raw.model_copy(update={"approximated": ("age",)}))]
    assert told == [NO_QUASI]
