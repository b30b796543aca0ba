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


# The running example of Xiao and Tao (SIGMOD 2007, Tables 1 to 3): who is in which class of a
# version, and the class's values. Two versions that are 2-diverse, and the second one again with
# the counterfeits c1 and c2, which are rows of nobody.
VALUES = {"dyspepsia": 1, "bronchitis": 2, "flu": 3, "gastritis": 4}
STAY_OR_GO = "Bob Alice Andy David Gary Helen Jane Ken Linda Paul Steve"
COME = "Emily Mary Ray Tom Vince c1 c2"
PATIENTS = {name: number for number, name in enumerate(f"{STAY_OR_GO} {COME}".split(), start=1)}
DISEASE_OF = {
    **dict.fromkeys(["Bob", "Jane", "Paul", "Ray"], "dyspepsia"),
    **dict.fromkeys(["Alice", "c1"], "bronchitis"),
    **dict.fromkeys(["Andy", "Gary", "Ken", "Emily", "Vince", "c2"], "flu"),
    **dict.fromkeys(["David", "Helen", "Linda", "Steve", "Mary", "Tom"], "gastritis"),
}
FIRST_CLASSES = ["Bob Alice", "Andy David", "Gary Helen", "Jane Ken Linda", "Paul Steve"]
SECOND_CLASSES = ["Bob David", "Emily Jane Linda", "Gary Mary", "Ray Steve", "Tom Vince"]
THIRD_CLASSES = ["Bob c1", "David Emily", "Jane c2 Linda", "Gary Mary", "Ray Steve", "Tom Vince"]


def paper_version(classes):
    return version(
        [
            (PATIENTS[name], number, VALUES[DISEASE_OF[name]])
            for number, names in enumerate(classes)
            for name in names.split()
        ]
    )


def candidates(name, *versions):
    """Return the diseases that nobody can rule out for a patient who is in all versions."""
    sets = (
        {DISEASE_OF[other] for other in next(c for c in classes if name in c.split()).split()}
        for classes in versions
    )
    return set.intersection(*sets)


@pytest.mark.parametrize(
    ("classes", "changed", "ruled_out"),
    [(SECOND_CLASSES, ["Bob", "David"], True), (THIRD_CLASSES, [], False)],
    ids=["Table 2", "Table 3"],
)
def test_the_versions_of_the_paper_are_m_invariant_with_counterfeits_alone(
    classes, changed, ruled_out
):
    first, later = paper_version(FIRST_CLASSES), paper_version(classes)
    assert (first.not_unique(2), later.not_unique(2)) == (0, 0)
    stays = {name for one in FIRST_CLASSES for name in one.split()}
    stays &= {name for one in classes for name in one.split()}
    # Of those in both versions, the values of these are others in the second.
    known = {name for name in stays if candidates(name, FIRST_CLASSES) != candidates(name, classes)}
    assert known == {*changed}
    assert later.changed(first) == len(changed)
    assert bool([*disagreements([first, later])]) is ruled_out
    # Bob has dyspepsia for everybody who sees both: nothing else is among his candidates.
    assert (candidates("Bob", FIRST_CLASSES, classes) == {"dyspepsia"}) is ruled_out
