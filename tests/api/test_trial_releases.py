import numpy as np
import pytest
from applying import asking
from attacked import attacked, bounded, known
from building import DATASET, column

from policy_engine import apply_policy, compare_release, explore_policy
from policy_engine.errors import PlanError
from policy_engine.kernels.estimates import NotApplicable

ROWS = 200
KEY = b"k" * 32
MASKED = [column("pay", masking="rank-swapping", p=0.05), column("age", masking="noise", sdShare=1)]


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(3)
    pay, age = rng.permutation(10 * np.arange(ROWS)), rng.integers(18, 90, ROWS)
    rows = (f"{row},{p},{a},{row % 4}\n" for row, (p, a) in enumerate(zip(pay, age, strict=True)))
    path = tmp_path / "in.csv"
    path.write_text("id,pay,age,zone\n" + "".join(rows))
    return {DATASET: path}


def policy(asked=0.3, names=("pay", "age"), **parts):
    given = {"method": "masking", "masked": MASKED, "insensitive": ["id"], **parts}
    return attacked(bounded(asked), known(*names), **{n: v for n, v in given.items() if v})


def linked(run):
    return run.outcome.risk.worst.linked.value


@pytest.mark.nightly
def test_more_swapping_links_fewer_records_and_loses_more(data):
    near, far = explore_policy(policy(0.12), data, {"p": (0.02, 0.5)}, draws=1)
    assert linked(near) > linked(far)
    assert near.outcome.loss.measure == "il1s"
    assert near.outcome.loss.median < far.outcome.loss.median
    assert [near.is_cheapest, far.is_cheapest] == [False, True]


@pytest.mark.nightly
def test_a_setting_is_attacked_as_its_release_is(data, tmp_path):
    [run] = explore_policy(policy(), data, {"p": (0.05,), "sdShare": (1,)}, key=KEY)
    release = apply_policy(policy(0.9), data, tmp_path / "out.csv", key=KEY)
    found = {one.attack: one.linked for one in run.outcome.draws[0].attacks}
    expected = {one.attack: one.reached for one in release.certificate.disclosures}
    assert found == expected


@pytest.mark.nightly
def test_a_setting_loses_what_its_release_does(data, tmp_path):
    [run] = explore_policy(policy(), data, {"p": (0.05,)}, key=KEY)
    apply_policy(policy(0.9), data, tmp_path / "out" / "people.csv", key=KEY)
    release = tmp_path / "out" / "people.csv"
    compared = compare_release(data[DATASET], release, classifier=False)
    [draw] = run.outcome.draws
    assert draw.il1s == pytest.approx(compared.masking.il1s)
    assert draw.probabilistic == pytest.approx(compared.masking.probabilistic.total)
    assert draw.query_error == pytest.approx(compared.queries.median)


@pytest.mark.nightly
def test_the_policys_own_setting_is_attacked_where_nothing_is_varied(data):
    [run] = explore_policy(policy(), data)
    assert run.setting == {}
    assert len(run.outcome.draws) == 3


@pytest.mark.nightly
def test_draws_differ_and_none_is_by_the_same_key(data):
    [run] = explore_policy(policy(), data, {"p": (0.2,)}, draws=2)
    one, other = run.outcome.draws
    assert one.il1s != other.il1s


@pytest.mark.nightly
def test_a_key_gives_one_draw_that_is_the_same_again(data):
    first, second = (explore_policy(policy(), data, {"p": (0.2,)}, key=KEY) for _ in range(2))
    assert first[0].outcome.draws == second[0].outcome.draws
    assert len(first[0].outcome.draws) == 1


@pytest.mark.parametrize(("draws", "key"), [(0, None), (1_001, None), (2, KEY)])
def test_draws_that_cannot_be_are_an_error(data, draws, key):
    with pytest.raises(PlanError, match="M003 draws is"):
        explore_policy(policy(), data, {"p": (0.2,)}, draws=draws, key=key)


@pytest.mark.nightly
def test_masking_without_a_bound_is_attacked_and_none_is_marked(data):
    asked = asking(method="masking", masked=MASKED, insensitive=["id"])
    [run] = explore_policy(asked, data, {"pay:p": (0.05,)}, draws=1)
    assert {one.attack for one in run.outcome.draws[0].attacks} == {
        "distance-linkage",
        "value-linkage",
        "exact-linkage",
        "mahalanobis-linkage",
        "probabilistic-linkage",
        "intersection-linkage",
        "likelihood-linkage",
    }
    assert run.outcome.risk.worst.known == ("pay", "age")
    assert run.outcome.risk.keeps_bounds is None
    assert not run.is_cheapest


@pytest.mark.nightly
def test_classes_are_attacked_where_the_policy_bounds_attacks(data):
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["pay", "age"], "masked": []}
    few, many = explore_policy(policy(0.2, **parts), data, {"k": (2, 20)})
    assert linked(few) > linked(many)
    assert few.outcome.loss.measure == "global_certainty_penalty"
    assert few.outcome.loss.median == few.outcome.global_certainty_penalty
    assert [few.is_cheapest, many.is_cheapest] == [False, True]


def test_a_setting_that_breaks_a_bound_on_classes_is_not_marked(data):
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age"]}
    risk = bounded(0.11, operand="pe:largestRisk")
    asked = attacked(risk, action="pe:populationRisk", **parts)
    few, many = explore_policy(asked, data, {"k": (2, 10)})
    assert [one.outcome.risk.keeps_bounds for one in (few, many)] == [False, True]
    assert [one.is_cheapest for one in (few, many)] == [False, True]
    [draw] = many.outcome.draws
    assert [(one.name, one.holds) for one in draw.risks] == [("prosecutor-largest", True)]
    assert {one.attack for one in draw.attacks} >= {"distance-linkage"}


def test_a_setting_that_tells_too_much_of_a_column_is_not_marked(data):
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "sensitive": ["pay"]}
    asked = attacked(bounded(0.9, operand="pe:inferred"), action="pe:attributeInference", **parts)
    [run] = explore_policy(asked, data, {"k": (5,)})
    [draw] = run.outcome.draws
    [learned] = draw.learned
    assert (learned.column, run.outcome.risk.keeps_bounds) == ("pay", learned.holds)


def test_classes_alone_are_attacked_if_that_is_asked_for(data):
    asked = asking(method="k-anonymity", k=2, quasi=["pay", "age"])
    [run] = explore_policy(asked, data, {"k": (2,)})
    assert run.outcome.draws == ()
    [run] = explore_policy(asked, data, {"k": (2,)}, attack=True)
    assert linked(run) > 0.1


@pytest.mark.nightly
def test_different_parts_are_compared_by_counts_of_rows(data):
    both = {"method": ["masking", "k-anonymity"], "k": 2, "quasi": ["age"], "sampleShare": 0.5}
    asked = policy(masked=[column("zone", masking="pram", keep=0.8)], names=["age"], **both)
    choices = {"k": (2, 4), "zone:keep": (0.5,), "sampleShare": (0.3, 0.6)}
    runs = explore_policy(asked, data, choices, draws=1)
    assert {one.outcome.loss.measure for one in runs} == {"query_error"}
    rows = [one.outcome.risk.worst.records for one in runs]
    assert rows[0] < rows[1]


@pytest.mark.nightly
def test_a_setting_that_cannot_be_released_says_why_beside_the_others(data):
    masked = [column("pay", masking="microaggregation", groupSize=3)]
    good, bad = explore_policy(
        policy(0.9, ["pay"], masked=masked), data, {"groupSize": (3, 500)}, draws=1
    )
    assert good.outcome.risk is not None
    assert isinstance(bad.outcome, NotApplicable)


def test_a_table_of_which_nothing_is_known_is_not_attacked(data):
    asked = asking(method="masking", insensitive=["pay"], sampleShare=0.5)
    with pytest.raises(PlanError, match="M013 No column is generalised or masked"):
        explore_policy(asked, data, {"sampleShare": (0.2,)})


def test_persons_with_several_rows_are_not_attacked(data):
    asked = asking(
        method=["masking", "k-anonymity"],
        k=2,
        quasi=["age"],
        masked=[MASKED[0]],
        privacyUnit="id",
    )
    with pytest.raises(PlanError, match="M013 Record linkage counts rows"):
        explore_policy(asked, data, {"pay:p": (0.2,)})
