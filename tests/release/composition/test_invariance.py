"""m-invariance, on small tables after the example of Xiao and Tao, SIGMOD 2007."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repeated_releases import asking, released

from policy_engine import PolicyEngineError
from policy_engine.kernels.intersections import OUTSIDE, PersonClasses
from policy_engine.release.composition.figures import Composition, DisagreeingVersions
from policy_engine.release.composition.invariance import Disagreement, Version, disagreements
from policy_engine.release.composition.kept_classes import KeptClasses, Signatures

# Tables 1 to 3: Bob, Alice, Andy, David, Gary, Helen, Jane, Ken, Linda, Paul, Steve; in the second
# version Alice, Andy, Helen, Ken and Paul are gone, and Emily, Mary, Ray, Tom and Vince are new.
DISEASES = ["dyspepsia", "bronchitis", "flu", "gastritis"]


def version(rows):
    """Return a version with rows of a person, a class and a value."""
    persons, classes, values = (np.array(one) for one in zip(*rows, strict=True))
    order = np.lexsort((values, classes))
    pairs = np.stack([classes[order], values[order]], axis=1)
    first, counts = np.unique(pairs, axis=0, return_counts=True)
    signatures = Signatures(first[:, 0], first[:, 1].astype(np.uint64), counts)
    kept = PersonClasses.of(persons.astype(np.uint64), classes.astype(np.int64))
    return Version(KeptClasses(kept, {"disease": signatures}))


FIRST = version([(1, 0, 10), (2, 0, 11), (3, 1, 12), (4, 1, 13)])


def test_classes_of_different_values_are_unique():
    assert FIRST.not_unique(2) == 0
    assert FIRST.not_unique(3) == 2
    assert version([(1, 0, 10), (2, 0, 10), (3, 0, 11)]).not_unique(2) == 1


def test_who_stays_keeps_the_values_of_the_class():
    # Bob (1) is with somebody new, who has what the one who left had.
    kept = version([(1, 0, 10), (9, 0, 11), (3, 5, 12), (4, 5, 13)])
    assert kept.changed(FIRST) == 0
    moved = version([(1, 0, 10), (9, 0, 12), (3, 1, 12), (4, 1, 13)])
    assert moved.changed(FIRST) == 1


def test_who_is_in_several_classes_has_no_signature():
    assert version([(1, 0, 10), (1, 1, 10), (2, 0, 11), (3, 1, 11)]).changed(FIRST) >= 1


def test_persons_outside_are_not_compared():
    kept = PersonClasses.of(np.array([1, 2], np.uint64), np.array([OUTSIDE, OUTSIDE]))
    nobody = Version(KeptClasses(kept))
    assert nobody.changed(FIRST) == 0


def people(names, ages, diseases):
    return pa.table({"name": names, "age": ages, "disease": diseases})


ASKED = {"methods": ["l-diversity"], "l": 2, "k": 2, "unit": "name"}
BEFORE = people(["Bob", "Alice", "Jane", "Ken"], [21, 22, 41, 43], DISEASES)


@pytest.fixture
def ledger(tmp_path):
    ledger = tmp_path / "releases.ledger"
    released(asking("V1", ["age"], **ASKED, composition="m-invariant"), BEFORE, ledger)
    return ledger


def test_a_version_with_the_same_signatures_is_released(ledger):
    # Alice leaves, and Emily comes with what she had: Bob stays in a class of the same values.
    now = people(["Bob", "Emily", "Jane", "Ken"], [21, 25, 41, 43], DISEASES)
    made = released(asking("V2", ["age"], **ASKED, composition="m-invariant"), now, ledger)
    assert made.certificate.composition.bound == "m-invariant"
    assert [one.changed for one in made.record.composition.earlier] == [0]


def test_a_version_that_rules_a_value_out_is_refused(ledger):
    now = people(
        ["Bob", "Emily", "Jane", "Ken"], [21, 25, 41, 43], ["dyspepsia", "hiv", "flu", "gastritis"]
    )
    with pytest.raises(PolicyEngineError, match="B013") as raised:
        released(asking("V2", ["age"], **ASKED, composition="m-invariant"), now, ledger)
    assert "1 person changed to classes with other values" in raised.value.problems[0].values[0]


def test_a_version_whose_values_have_another_type_is_refused(tmp_path):
    ledger = tmp_path / "numbers.ledger"
    asked = {**ASKED, "composition": "m-invariant"}
    names, ages = ["Bob", "Alice", "Jane", "Ken"], [21, 22, 41, 43]
    released(asking("V1", ["age"], **asked), people(names, ages, [1, 2, 3, 4]), ledger)
    now = people(names, ages, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(PolicyEngineError, match="B013") as raised:
        released(asking("V2", ["age"], **asked), now, ledger)
    assert "'disease' was integer, and is double" in " ".join(raised.value.problems[0].values)


def test_values_that_repeat_in_a_class_are_refused(tmp_path):
    rows = people(["Bob", "Alice", "Jane"], [21, 22, 23], ["flu", "flu", "hiv"])
    asked = asking("V1", ["age"], **ASKED, composition="m-invariant")
    with pytest.raises(PolicyEngineError, match="B013"):
        released(asked, rows, tmp_path / "releases.ledger")


def test_earlier_versions_that_do_not_agree_are_refused(tmp_path):
    # Bob is in {dyspepsia, bronchitis} and, in a version without a bound, in {dyspepsia, hiv}: that
    # tells his disease, and the new version is without him.
    ledger, asked = tmp_path / "releases.ledger", {**ASKED, "composition": "m-invariant"}
    released(asking("V1", ["age"], **asked), BEFORE, ledger)
    diseases = ["dyspepsia", "hiv", *DISEASES[2:]]
    now = people(["Bob", "Emily", "Jane", "Ken"], [21, 25, 41, 43], diseases)
    released(asking("V2", ["age"], **ASKED), now, ledger)
    with pytest.raises(PolicyEngineError, match="B013") as raised:
        released(asking("V3", ["age"], **asked), BEFORE.slice(2), ledger)
    told = " ".join(raised.value.problems[0].values)
    assert "http://example.com/V1 (entry 2) and http://example.com/V2 (entry 5)" in told
    assert "do not agree: 1 person is in classes with other values" in told


def test_versions_are_compared_in_pairs_by_the_first_that_has_a_person():
    same = version([(1, 3, 10), (9, 3, 11)])
    other = version([(1, 0, 10), (9, 0, 12), (3, 1, 12), (4, 1, 13)])
    nobody = Version(KeptClasses(PersonClasses.of(np.array([1], np.uint64), np.array([OUTSIDE]))))
    assert [*disagreements([])] == [*disagreements([FIRST])] == [*disagreements([nobody] * 2)] == []
    assert [*disagreements([FIRST, same, nobody, FIRST])] == []
    found = [*disagreements([FIRST, same, other])]
    assert found == [Disagreement(0, 2, 1), Disagreement(1, 2, 1)]


def test_versions_of_who_is_in_several_classes_or_of_other_columns_do_not_agree():
    several = version([(1, 0, 10), (1, 1, 10), (2, 0, 11), (3, 1, 11)])
    assert [*disagreements([several])] == []
    [found] = disagreements([FIRST, several])
    assert (found.first, found.second) == (0, 1)
    assert found.persons == several.changed(FIRST) == 2
    assert [*disagreements([several, FIRST])] == [Disagreement(0, 1, 2)]
    without = Version(KeptClasses(FIRST.classes.persons))
    assert [*disagreements([FIRST, without])] == [Disagreement(0, 1, 4)]


@given(
    st.lists(
        st.dictionaries(st.integers(0, 4), st.tuples(st.integers(0, 1), st.integers(10, 12))),
        min_size=2,
        max_size=4,
    )
)
@settings(max_examples=30, deadline=None)
def test_versions_disagree_where_any_two_of_them_do(drawn):
    versions = [
        version([(person, *cells) for person, cells in one.items()]) for one in drawn if one
    ]
    pairs = [*combinations(versions, 2)]
    assert bool([*disagreements(versions)]) == any(two.changed(one) for one, two in pairs)


def test_of_many_pairs_of_versions_that_do_not_agree_some_are_named():
    pairs = [
        DisagreeingVersions(release=f"V{one}", entry=one, other="V0", other_entry=0, persons=1)
        for one in range(1, 18)
    ]
    told = [*Composition(bound="m-invariant", k=2, disagreeing=pairs).sentences()]
    assert len(told) == 6
    assert told[0].startswith("The earlier versions V1 (entry 1) and V0 (entry 0) do not agree")
    assert told[-1] == "And 12 more pairs of earlier versions do not agree."
    assert len([*Composition(bound="m-invariant", k=2, disagreeing=pairs[:5]).sentences()]) == 5
