"""Ways of forming classes, compared by the models that learn from them."""

import json

import numpy as np
import pyarrow as pa
import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from everyday import everyday

from policy_engine.api.chosen_policy import PolicyChoice
from policy_engine.api.class_methods import FORMING, PERMITTED, ClassForming
from policy_engine.api.exploring_models import explore_models, explore_policy_for_model
from policy_engine.api.model_comparison import MethodRun, ModelOutcome, with_choice
from policy_engine.cli.tables.model_comparisons import model_tables
from policy_engine.data.catalog import make_catalog
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import OutputError, PlanError
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.plan.making import make_plan
from policy_engine.plan.products import chosen
from policy_engine.policy import Reading, read_policy

ROWS = 200
QUASI = ["age", "city"]


def people():
    random = np.random.default_rng(5)
    age = random.permutation(np.arange(ROWS) % 100)
    city = random.choice(["Bonn", "Oslo", "Rome"], ROWS)
    buys = np.where(age >= 50, "yes", "no")
    return pa.table({"id": np.arange(ROWS), "age": age, "city": city, "buys": buys})


def asked(**parts):
    """Return a policy of k-anonymity of age and city, which bounds nothing of what is bought."""
    own = {"method": "k-anonymity", "k": 5, "quasi": QUASI, "insensitive": ["buys", "id"]}
    own = {name: value for name, value in {**own, **parts}.items() if value is not None}
    return policy([permission(action=[anonymize(**own)], output=OUTPUT)])


def compared(
    settings=({"k": 5}, {"k": 20}), engine=None, label="buys", draws=2, table=None, **parts
):
    table = people() if table is None else table
    catalog = make_catalog({DATASET: table})
    plan = make_plan(read_policy(asked(**parts)), catalog)
    engine = engine or LocalEngine({DATASET: table})
    return explore_models(plan, engine, label, settings, draws=draws)


@pytest.fixture(scope="module")
def plain():
    """The comparison of people, and the step that it chooses."""
    return compared()


@pytest.mark.nightly
def test_every_way_is_measured_at_every_setting(plain):
    comparison, step = plain
    assert [(run.method, dict(run.setting)) for run in comparison.runs] == [
        ("raw", {}),
        *((name, {"k": k}) for name in FORMING for k in (5, 20)),
    ]
    assert comparison.raw.right.value == 1
    assert (comparison.rows, comparison.tested, comparison.guessed) == (160, 40, 0.5)
    for run, outcome in comparison.formed():
        assert outcome.smallest >= run.setting["k"]
        assert outcome.keeps_bounds
        assert outcome.right.low <= outcome.right.value <= outcome.right.high
    guided = next(o for run, o in comparison.formed() if run.method == "soft-guided")
    assert guided.right.value > 0.9
    assert guided.one_label > 0.5
    assert step.k == comparison.chosen.setting["k"]


class WatchedEngine(LocalEngine):
    """An engine that keeps the numbers of the rows that a guide learns from or that are classed."""

    def __init__(self, tables):
        super().__init__(tables)
        self.seen = []

    def guide(self, table, fitting):
        self.seen.append(set(table.column("id").to_pylist()))
        return super().guide(table, fitting)

    def anonymize(self, table, step, output):
        self.seen.append(set(table.column("id").to_pylist()))
        return super().anonymize(table, step, output)


@pytest.mark.nightly
def test_guides_and_classes_are_of_the_rows_learnt_from_alone():
    engine = WatchedEngine({DATASET: people()})
    comparison, _ = compared(({"k": 5},), engine)
    first, second = engine.seen[:8], engine.seen[8:]
    # Of each split, there are targets of three kinds and five ways are classed, all on the same.
    assert [len(one) for one in engine.seen] == [comparison.rows] * 16
    assert all(one == first[0] for one in first)
    assert all(one == second[0] for one in second)
    assert first[0] != second[0]


def test_a_setting_that_is_refused_says_why_and_is_not_chosen():
    comparison, step = compared(({"k": 500},))
    assert step is None
    assert comparison.chosen is None
    assert all(isinstance(run.outcome, NotApplicable) for run in comparison.runs[1:])
    assert "fewer than k, which is 500" in comparison.runs[1].outcome.reason


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", everyday([(5,), (5, 90)], (5,)), ids=len)
def test_a_way_that_is_refused_by_itself_is_shown_beside_those_that_are_compared(sizes):
    # Models of parts of the rows cannot learn a class of four: soft labels need five, others none.
    buys = np.array(people()["buys"].to_pylist())
    buys[:4] = "maybe"
    table = people().set_column(3, "buys", pa.array(buys))
    comparison, step = compared([{"k": k} for k in sizes], table=table)
    refused = [run for run in comparison.runs if isinstance(run.outcome, NotApplicable)]
    assert [(run.method, run.setting["k"]) for run in refused] == [
        (name, k) for name in ("soft-guided", "permuted") for k in sizes
    ]
    assert all("fewer than 5 rows" in run.outcome.reason for run in refused)
    found = {(run.method, run.setting["k"]): one.classes for run, one in comparison.formed()}
    ways = ("hard-guided", "workload-aware", "mondrian")
    assert found.keys() == {(name, k) for name in ways for k in sizes}
    # Of 160 rows that are learnt from, 90 are in one class at most: all rows are one.
    assert all(classes == 1 if k == 90 else classes > 5 for (_, k), classes in found.items())
    assert comparison.chosen.method in ("hard-guided", "mondrian")
    assert step.k == 5
    compared_ways, refused_ways = model_tables(comparison)
    assert (compared_ways.row_count, refused_ways.row_count) == (
        1 + 3 * len(sizes),  # the raw table, too
        2 * len(sizes),
    )


@pytest.mark.nightly
def test_bounds_of_the_policy_hold_of_every_way():
    bounded = {"method": "l-diversity", "l": 2, "insensitive": ["id"], "sensitive": ["buys"]}
    comparison, step = compared(({"k": 5},), **bounded)
    outcomes = [outcome for _, outcome in comparison.formed()]
    assert len(outcomes) == len(FORMING)
    assert all(one.keeps_bounds for one in outcomes)
    # Where values are permuted, only the link to their rows is bounded.
    assert [run.method for run, one in comparison.formed() if one.one_label == 1] == ["permuted"]
    assert "l-diversity" in step.methods


@pytest.mark.parametrize(
    ("parts", "code", "message"),
    [
        ({"label": "age"}, "M004", "'age' is not released as it is"),
        ({"label": "byus"}, "M004", "'byus' is not released as it is"),
        ({"draws": 1}, "M003", "one split has no interval"),
        ({"settings": ({"l": 2},)}, "M004", "no parameter 'l'"),
    ],
)
def test_what_cannot_be_compared_is_refused(parts, code, message):
    with pytest.raises(PlanError, match=code) as refused:
        compared(**parts)
    assert message in str(refused.value)


PERMUTED = {"method": "probabilistic-k-anonymity"}


@pytest.mark.nightly
def test_permuted_values_are_for_policies_that_ask_for_them(plain):
    comparison, step = compared(({"k": 5},), **PERMUTED)
    assert [run.method for run in comparison.runs if run.is_eligible] == ["permuted"]
    assert step.is_permuted
    other, _ = plain
    assert {run.method for run in other.runs if run.is_eligible} == {*PERMITTED}


@pytest.mark.nightly
def test_persons_are_compared_by_every_way():
    comparison, _ = compared(({"k": 5},), privacyUnit="id", insensitive=["buys"])
    assert "permuted" in [run.method for run in comparison.runs]
    assert not [run for run in comparison.runs if isinstance(run.outcome, NotApplicable)]


def test_masking_alone_forms_no_classes():
    masked = [column("age", masking="rank-swapping", p=0.05)]
    with pytest.raises(PlanError, match="asks for no classes"):
        compared(method="masking", k=None, quasi=None, masked=masked)


def run(method, k, right, *, keeps=True, **setting):
    one = Estimate(value=right, low=right, high=right)
    outcome = ModelOutcome(right=one, lost=one, auc=one, tpr=one, keeps_bounds=keeps)
    return MethodRun(method=method, setting={"k": k, **setting}, outcome=outcome)


@pytest.mark.parametrize(
    ("runs", "place"),
    [
        ([run("mondrian", 10, 0.7), run("soft-guided", 10, 0.8)], 1),
        ([run("mondrian", 5, 0.9), run("soft-guided", 10, 0.8)], 1),
        ([run("workload-aware", 10, 0.9), run("hard-guided", 10, 0.8)], 1),
        ([run("mondrian", 10, 0.9, keeps=False), run("hard-guided", 10, 0.8)], 1),
        ([run("mondrian", 10, 0.8), run("hard-guided", 20, 0.8)], 1),
        ([run("mondrian", 10, 0.8), run("hard-guided", 10, 0.8)], 0),
        ([run("mondrian", 10, 0.8, l=2), run("mondrian", 10, 0.7, l=3)], 1),
        ([run("mondrian", 5, 0.9)], None),
    ],
)
def test_the_best_that_is_not_laxer_than_the_policy_is_chosen(runs, place):
    marked = [one.is_chosen for one in with_choice(tuple(runs), {"k": 10, "l": 3})]
    assert marked == [number == place for number in range(len(runs))]


FULL_DOMAIN = {"algorithm": "full-domain", "maxSuppression": 0.05, "loss": "height"}
OTHER_GUIDE = {
    "algorithm": "accuracy-guided",
    "label": f"{DATASET}/buys",
    "guide": f"{DATASET}/score",
    "representative": "cell",
    "quasi": [column("age", generalization="interval"), "city"],
}


@pytest.mark.parametrize("parts", [{}, FULL_DOMAIN, OTHER_GUIDE])
@pytest.mark.parametrize("method", PERMITTED)
def test_the_policy_of_a_choice_asks_for_the_step_that_was_compared(method, parts):
    text = asked(**parts)
    product = chosen(read_policy(text), OUTPUT)
    step = make_plan(read_policy(text)).require_anonymize()
    step = step.model_copy(update={"methods": {"k-anonymity": type(step.models[0])(k=20)}})
    own = ClassForming(method, "buys", ordered=("age",)).step(step)
    choice = PolicyChoice(product.transformation, own, "buys", OUTPUT)
    refined = choice.refined(text.encode(), Reading())
    made = make_plan(read_policy(refined)).require_anonymize()
    assert (made.k, made.recoding, made.columns) == (20, own.recoding, own.columns)
    before, after = json.loads(text), json.loads(refined)
    del before["permission"][0]["action"], after["permission"][0]["action"]
    assert before == after


def test_the_policy_of_permuted_values_names_no_representative():
    text = asked(**PERMUTED)
    product, step = chosen(read_policy(text), OUTPUT), make_plan(read_policy(text)).anonymize
    own = ClassForming("permuted", "buys").step(step)
    refined = PolicyChoice(product.transformation, own, "buys", OUTPUT).refined(
        text.encode(), Reading()
    )
    made = make_plan(read_policy(refined)).require_anonymize()
    assert (made.methods, made.recoding, made.columns) == (own.methods, own.recoding, own.columns)


def test_a_policy_in_another_syntax_is_not_rewritten():
    product, step = (
        chosen(read_policy(asked())),
        make_plan(read_policy(asked())).require_anonymize(),
    )
    own = ClassForming("soft-guided", "buys").step(step)
    with pytest.raises(OutputError, match="O002"):
        PolicyChoice(product.transformation, own, "buys", OUTPUT).refined(b"@prefix", Reading())


@pytest.mark.nightly
def test_the_choice_of_a_policy_can_be_made():
    text = asked(k=5)
    comparison, choice = explore_policy_for_model(
        text, {DATASET: people()}, f"{DATASET}/buys", {"k": (5,)}, draws=2
    )
    assert comparison.label == "buys"
    assert comparison.refinements[0]["rightOperand"] == 5
    made = make_plan(read_policy(choice.refined(text.encode(), Reading())))
    assert made.require_anonymize() == choice.step
