"""A release looked at together with earlier ones, and made jointly with them."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from everyday import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repeated_releases import asking, classes_of, fewest, fewest_values, released

from policy_engine import PolicyEngineError
from policy_engine.release.budget import BudgetLedger
from policy_engine.release.composition.kept_classes import NOBODY, KeptClasses

# Two tables of the same patients, as two wards publish them: each is 3-anonymous, and together they
# tell who has what (the attack of Ganta, Kasiviswanathan and Smith, KDD 2008, section 2).
PATIENTS = pa.table(
    {
        "id": [*range(6)],
        "age": [21, 25, 29, 41, 45, 49],
        "zip": [10, 20, 21, 11, 12, 22],
        "disease": ["flu", "asthma", "angina", "hiv", "flu", "ulcer"],
    }
)
INTERSECTED = {"composition": "intersected"}


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "releases.ledger"


def refused(call, *arguments, **options):
    with pytest.raises(PolicyEngineError) as raised:
        call(*arguments, **options)
    [problem] = raised.value.problems
    return problem


def test_two_releases_of_the_same_persons_leave_single_candidates(ledger):
    released(asking("ByAge", ["age"], k=3), PATIENTS, ledger)
    second = released(asking("ByZip", ["zip"], k=3), PATIENTS, ledger)
    found = second.record.composition
    [together] = found.earlier
    # Ages put {0, 1, 2} and {3, 4, 5} together, codes {0, 3, 4} and {1, 2, 5}: 0 and 5 are alone.
    assert (together.persons, together.least, together.below) == (6, 1, 6)
    assert [(one.column, one.least) for one in together.values] == [("disease", 1)]
    assert not found.holds
    assert "6 persons of 6 are one of fewer than 3 candidates" in together.sentence(3)


def test_intersected_releases_are_made_jointly(ledger):
    first = released(asking("ByAge", ["age"], sensitive=["id"], k=3), PATIENTS, ledger)
    second = released(
        asking("ByZip", ["zip"], sensitive=["id"], k=3, **INTERSECTED), PATIENTS, ledger
    )
    parts = [classes_of(first, ["age"], "id"), classes_of(second, ["zip"], "id")]
    assert fewest(parts, range(6)) >= 3
    assert second.record.composition.joint
    assert second.certificate.composition.bound == "intersected"
    assert second.certificate.composition.releases == 1


def test_a_bound_on_releases_needs_their_ledger():
    policy = asking("ByAge", ["age"], k=3, **INTERSECTED)
    assert refused(released, policy, PATIENTS, None).code == "B014"


def test_independent_releases_hold_each_by_itself(ledger):
    released(asking("ByAge", ["age"], k=3), PATIENTS, ledger)
    second = released(asking("ByZip", ["zip"], k=3, composition="independent"), PATIENTS, ledger)
    assert second.certificate.composition is None
    assert second.record.composition.together.below == 6


def test_what_the_method_cannot_join_is_refused_with_figures(ledger):
    released(asking("ByAge", ["age"], k=3), PATIENTS, ledger)
    by_zip = asking("ByZip", ["zip"], k=3, algorithm="full-domain", **INTERSECTED)
    problem = refused(released, by_zip, PATIENTS, ledger)
    assert problem.code == "B013"
    assert "6 persons of 6 are one of fewer than 3 candidates" in problem.values[0]
    states = [one.state for one in BudgetLedger(ledger).history()]
    assert states.count("announced") == 1  # nothing is recorded of what was refused


def test_values_stay_diverse_within_earlier_classes(ledger):
    rows = 24
    table = pa.table(
        {
            "id": [*range(rows)],
            "age": [one % 12 for one in range(rows)],
            "zip": [one * 7 % rows for one in range(rows)],
            "disease": [("flu", "hiv")[one // 3 % 2] for one in range(rows)],
        }
    )
    asked = {"methods": ["l-diversity"], "l": 2, "k": 3}
    released(asking("ByAge", ["age"], **asked), table, ledger)
    second = released(asking("ByZip", ["zip"], **asked, **INTERSECTED), table, ledger)
    together = second.record.composition.together
    assert together.least >= 3
    assert [one.least for one in together.values] == [2]


def test_rows_that_were_removed_are_a_class_of_their_own(ledger):
    released(asking("ByAge", ["age"], k=2), PATIENTS, ledger)
    fewer = PATIENTS.slice(1)
    second = released(asking("Later", ["age"], k=2), fewer, ledger)
    [together] = second.record.composition.earlier
    assert (together.joined, together.left, together.least) == (0, 1, 1)
    problem = refused(released, asking("Last", ["age"], k=2, **INTERSECTED), fewer, ledger)
    assert problem.code == "B013"


def test_rows_that_changed_are_not_known_again(ledger):
    released(asking("ByAge", ["age"], k=2), PATIENTS, ledger)
    changed = PATIENTS.set_column(1, "age", [[22, 25, 29, 41, 45, 49]])
    second = released(asking("Later", ["age"], k=2), changed, ledger)
    [unknown] = second.record.composition.unknown
    assert "no column tells persons apart" in unknown.reason
    problem = refused(released, asking("Last", ["age"], k=2, **INTERSECTED), changed, ledger)
    assert problem.code == "B013"


def test_persons_are_known_again_by_the_unit_of_privacy(ledger):
    unit = {"unit": "id", "sensitive": ["disease"]}
    released(asking("ByAge", ["age"], k=2, **unit), PATIENTS, ledger)
    changed = PATIENTS.set_column(1, "age", [[22, 25, 29, 41, 45, 49]])
    second = released(asking("Later", ["zip"], k=2, **unit, **INTERSECTED), changed, ledger)
    assert second.record.composition.together.least >= 2


def test_persons_of_another_unit_are_not_known_again(ledger):
    released(asking("ByAge", ["age"], k=2), PATIENTS, ledger)
    second = released(asking("ByZip", ["zip"], k=2, unit="id"), PATIENTS, ledger)
    [unknown] = second.record.composition.unknown
    assert unknown.reason == "persons were counted as rows, and are counted by 'id'"


def test_persons_of_another_type_are_not_known_again(ledger):
    unit = {"unit": "id", "k": 2}
    released(asking("ByAge", ["age"], **unit), PATIENTS, ledger)
    floats = PATIENTS.set_column(0, "id", PATIENTS["id"].cast(pa.float64()))
    second = released(asking("Later", ["zip"], **unit), floats, ledger)
    [unknown] = second.record.composition.unknown
    assert unknown.reason.startswith("'id' was integer, and is double")
    problem = refused(released, asking("Last", ["zip"], **unit, **INTERSECTED), floats, ledger)
    assert problem.code == "B013"


def in_texts(ids):
    """Return eight patients, of whom pairs are near in age, and others in their codes."""
    return pa.table(
        {
            "id": ids,
            "age": [20, 60, 21, 61, 22, 62, 23, 63],
            "zip": [10, 11, 50, 51, 12, 13, 52, 53],
            "disease": ["flu", "hiv", "ulcer", "angina", "cold", "gout", "mumps", "rabies"],
        }
    )


IDS = [str(one) for one in range(996, 1004)]


def test_persons_are_known_again_where_a_column_pads_its_texts(ledger):
    unit = {"unit": "id"}
    released(asking("ByAge", ["age"], k=4, **unit), in_texts(IDS), ledger)
    padded = in_texts([one.ljust(4) for one in IDS])
    told = released(asking("ByZip", ["zip"], k=4, **unit), padded, ledger).record.composition
    [found] = told.earlier
    assert (found.persons, found.joined, found.left) == (8, 0, 0)
    assert (found.least, found.below) == (2, 8)
    asked = asking("Joint", ["zip"], k=4, **unit, **INTERSECTED)
    problem = refused(released, asked, padded, ledger)
    assert problem.code == "B013"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("before", "now"), [("Ann-1", "ann 1"), ("Ann-1", "ANN1"), ("0996", "996"), ("996.0", "996")]
)
def test_who_left_and_joined_in_another_case_is_not_known(ledger, before, now):
    unit = {"unit": "id", "k": 2}
    released(asking("ByAge", ["age"], **unit), in_texts([before, *IDS[1:]]), ledger)
    table = in_texts([now, *IDS[1:]])
    told = released(asking("ByZip", ["zip"], **unit), table, ledger).record.composition
    [unknown] = told.unknown
    assert unknown.reason.startswith("1 person who left and joined is the same but for case")
    problem = refused(released, asking("Z", ["zip"], **unit, **INTERSECTED), table, ledger)
    assert problem.code == "B013"


def test_persons_of_texts_whom_an_earlier_version_kept_are_not_known(ledger, monkeypatch):
    unit = {"unit": "id", "k": 2}
    packed = KeptClasses.packed

    def packed_before(classes):
        head, _, body = packed(replace(classes, respelt=(NOBODY, NOBODY))).partition(b"\n")
        facts = json.loads(head) | {"version": 1}
        del facts["respelt"]
        return json.dumps(facts).encode() + b"\n" + body

    monkeypatch.setattr(KeptClasses, "packed", packed_before)
    released(asking("ByAge", ["age"], **unit), in_texts(IDS), ledger)
    numbers = ledger.with_suffix(".numbers")
    released(asking("ByAge", ["age"], **unit), PATIENTS, numbers)
    monkeypatch.undo()
    told = released(asking("ByZip", ["zip"], **unit), in_texts(IDS), ledger).record.composition
    [unknown] = told.unknown
    assert "an earlier version of the engine kept its persons" in unknown.reason
    told = released(asking("ByZip", ["zip"], **unit), PATIENTS, numbers).record.composition
    assert not told.unknown
    assert told.together.persons == 6


def test_tables_without_a_person_in_common_are_not_known(ledger):
    texts = PATIENTS.set_column(0, "id", [[f"P{one}" for one in range(6)]])
    blanks = PATIENTS.set_column(0, "id", [[f"p{one}" for one in range(6)]])
    released(asking("ByAge", ["age"], unit="id"), texts, ledger)
    by_zip = asking("ByZip", ["zip"], unit="id", **INTERSECTED)
    problem = refused(released, by_zip, blanks, ledger)
    assert problem.code == "B013"
    assert "no person is in both" in problem.values[0]


def test_values_of_those_who_left_cannot_be_checked(ledger):
    # All are one class of three with the flu and three with hiv; those who stay have both.
    table = PATIENTS.set_column(3, "disease", [["flu", "hiv", "flu", "hiv", "hiv", "hiv"]])
    asked = {"methods": ["l-diversity"], "l": 2, "k": 3, "unit": "id"}
    released(asking("V1", ["age"], **asked), table, ledger)
    problem = refused(
        released, asking("V2", ["age"], **asked, **INTERSECTED), table.slice(0, 3), ledger
    )
    assert problem.code == "B013"
    assert "3 persons of earlier releases are in no class of this one" in problem.values[0]
    told = released(asking("V3", ["age"], **asked), table.slice(0, 3), ledger)
    assert told.record.composition.together.unchecked == 3
    assert "candidates in the new release have as few as" in problem.values[0]


def test_rows_of_nobody_are_refused_and_said(ledger):
    table = PATIENTS.set_column(0, "id", [[0, 1, 2, 3, 4, None]])
    asked = {"unit": "id", "sensitive": ["disease"], "k": 2}
    problem = refused(released, asking("A", ["age"], **asked, **INTERSECTED), table, ledger)
    assert problem.code == "B013"
    told = released(asking("B", ["age"], **asked), table, ledger)
    [unknown] = told.record.composition.unknown
    assert "'id' is missing in 1 row of it" in unknown.reason


def test_releases_without_classes_are_not_known(ledger):
    shown = asking("Buckets", ["age"], k=2, methods=["l-diversity"], l=2, algorithm="bucketization")
    released(shown, PATIENTS, ledger)
    second = released(asking("ByZip", ["zip"], k=2), PATIENTS, ledger)
    [unknown] = second.record.composition.unknown
    assert unknown.reason == "it publishes quasi-identifiers as they are"


def test_a_ledger_changes_no_release(ledger, tmp_path):
    policy = asking("ByZip", ["age", "zip"], k=2, partitioning="relaxed", polish=True)
    first = released(policy, PATIENTS, None, tmp_path / "a" / "out.csv")
    second = released(policy, PATIENTS, ledger, tmp_path / "b" / "out.csv")
    assert first.path.read_bytes() == second.path.read_bytes()


quasi = st.sampled_from([["age"], ["zip"], ["age", "zip"], ["zip", "job"], ["age", "job"]])
options = st.fixed_dictionaries(
    {},
    optional={
        "partitioning": st.just("relaxed"),
        "polish": st.sampled_from([True]),
        "score": st.sampled_from(["span", "entropy"]),
        "missing": st.just("wildcard"),
        "maxSuppression": st.just(0.1),
    },
)


@st.composite
def people(draw):
    rows = draw(st.integers(6, 30))
    whole = st.integers(0, 9)
    maybe = st.one_of(st.none(), whole) if draw(st.booleans()) else whole

    def column(of):
        return draw(st.lists(of, min_size=rows, max_size=rows))

    jobs = st.sampled_from(["nurse", "clerk", "cook"])
    columns = {"age": column(whole), "zip": column(maybe), "job": column(jobs)}
    return pa.table({"id": [*range(rows)], **columns})


@pytest.mark.nightly
@settings(
    max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(people(), st.lists(st.tuples(quasi, options), min_size=2, max_size=3), st.integers(2, 4))
def test_k_holds_in_every_intersection_of_releases_made_jointly(tmp_path, table, asked, k):
    ledger = tmp_path / f"{len([*tmp_path.iterdir()])}.ledger"
    parts = []
    for number, (names, how) in enumerate(asked):
        own = {**how, **INTERSECTED} if number else {"partitioning": "strict"}
        policy = asking(f"R{number}", names, sensitive=["id"], k=k, **own)
        made = released(policy, table, ledger)
        parts.append(classes_of(made, names, "id"))
        assert fewest(parts, range(table.num_rows)) >= k


ASKED = st.lists(st.tuples(quasi, options), min_size=2, max_size=3)


@settings(
    max_examples=examples(3, times=10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(people(), ASKED, st.integers(2, 4), st.integers(1, 3))
def test_bounds_hold_in_every_intersection_of_releases_made_jointly(
    tmp_path, table, asked, k, least
):
    """Whatever is released before, whoever knows all of it finds k candidates for each person, and
    as many values of what is sensitive; who they are is read off the outputs, as anybody can."""
    everybody = range(table.num_rows)
    values = dict(zip(everybody, table["job"].to_pylist(), strict=True))
    least = min(least, len({*values.values()}), k)
    diverse = {"methods": ["l-diversity"], "l": least} if least > 1 else {}
    ledger = tmp_path / f"{len([*tmp_path.iterdir()])}.ledger"
    parts = []
    for number, (names, how) in enumerate(asked):
        own = {**how, **INTERSECTED} if number else {"partitioning": "strict"}
        quasi_identifiers = [one for one in names if one != "job"] or ["age"]
        secrets = ["id", "job"]
        policy = asking(f"R{number}", quasi_identifiers, sensitive=secrets, k=k, **diverse, **own)
        made = released(policy, table, ledger)
        parts.append(classes_of(made, quasi_identifiers, "id"))
        assert fewest(parts, everybody) >= k
        assert fewest_values(parts, everybody, values) >= least
