"""What a certificate may say of masked columns, and what none that is true says."""

import json

import numpy as np
import pytest
from applying import applied
from building import DATASET, column

from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError
from policy_engine.kernels.pram import invariant_matrix, is_from_keeping, transition_matrix

SHUFFLED = column("shares", masking="shuffling", given={"@id": f"{DATASET}/age"})
MASKED = [
    column("pay", masking="noise", sdShare=0.5),
    column("bonus", masking="rank-swapping", p=0.2),
    column("job", masking="pram", keep=0.6),
    column("union", masking="pram", keep=0.7, variant="invariant"),
    SHUFFLED,
    column("car", masking="rounding", base=10),
    column("rent", masking="microaggregation", groupSize=3),
    column("tiny", masking="noise", sdShare=0.1),
    column("kim", masking="correlated-noise", sdShare=0.1, variant="kim"),
]
LARGE = "The figures of 'rent' cannot be those of 40 rows by microaggregation, groupSize 3."
SMALL = "smallestClass of 'rent' cannot be 2 if microaggregation, groupSize 3 is kept."
MOVED = "The figures of 'bonus' cannot be those of 40 rows by rank-swapping, p 0.2."
NUMBERS = ("pay", "bonus", "shares", "car", "rent", "tiny", "kim")
NAMES = [one["@id"].rpartition("/")[2] for one in MASKED]


@pytest.fixture(scope="module")
def text():
    """The certificate of forty people, seven columns of whom are masked."""
    random = np.random.default_rng(2)
    numbers = {name: random.integers(1000, 9000, 40) for name in NUMBERS}
    words = {name: random.choice(["a", "b", "c"], 40) for name in ("job", "union")}
    table = {"age": random.integers(20, 60, 40), **numbers, **words}
    asked = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "masked": MASKED}
    made = applied(table, key=b"k" * 32, **asked)
    return made.certificate.to_jsonld()


def told(text, change):
    """Return the message of the error for a certificate in which something is changed."""
    document = json.loads(text)
    facts = document["pe:certificate"]
    by_name = {one["column"]: one for one in facts["maskings"]}
    change(facts, by_name)
    with pytest.raises(CertificateError, match="V005") as error:
        read_certificate(json.dumps(document))
    return error.value.problems[0].message.partition("itself. ")[2]


@pytest.mark.parametrize(
    ("name", "figure", "value", "message"),
    [
        ("pay", "unchanged", 1.2, "unchanged of 'pay' cannot be 1.2."),
        ("pay", "unchanged", -0.1, "unchanged of 'pay' cannot be -0.1."),
        ("pay", "varianceRatio", -1, "varianceRatio of 'pay' cannot be -1."),
        ("pay", "secrecy", 1, "noise of 'pay' has no figure 'secrecy'."),
        ("car", "varianceRatio", 1, "rounding of 'car' has no figure 'varianceRatio'."),
        ("bonus", "largestRankMove", 0.21, "largestRankMove of 'bonus' cannot be 0.21."),
        ("job", "largestDeviation", 24, "largestDeviation of 'job' cannot be 24."),
        ("pay", "correlation", 1.1, "correlation of 'pay' cannot be 1.1."),
        ("shares", "largestRankMove", 1.1, "largestRankMove of 'shares' cannot be 1.1."),
        ("rent", "informationLoss", 201, "informationLoss of 'rent' cannot be 201."),
        ("rent", "varianceRatio", 50, "varianceRatio of 'rent' cannot be 50."),
        ("rent", "varianceRatio", 0.5, "The figures of 'rent' contradict one another."),
        ("rent", "varianceRatio", 1.5, "The figures of 'rent' contradict one another."),
        ("rent", "largestClass", 39, LARGE),
        ("rent", "smallestClass", 2, SMALL),
        ("bonus", "largestRankMove", 0.02, MOVED),
        ("pay", "varianceRatio", 1000, "The figures of 'pay' contradict one another."),
        ("tiny", "correlation", -1, "The figures of 'tiny' contradict one another."),
        ("tiny", "varianceRatio", 9, "The figures of 'tiny' contradict one another."),
        ("kim", "correlation", -0.9, "The figures of 'kim' contradict one another."),
        ("rent", "smallestClass", 0, "smallestClass of 'rent' cannot be 0."),
        ("rent", "smallestClass", 41, "The figures of 'rent' contradict one another."),
        ("rent", "largestClass", 40.5, "The figures of 'rent' contradict one another."),
        ("job", "moved", 41, "The figures of 'job' contradict one another."),
        ("job", "moved", 39, "The figures of 'job' contradict one another."),
    ],
)
def test_a_figure_that_its_masking_cannot_have_is_refused(text, name, figure, value, message):
    def change(_, by_name):
        by_name[name]["figures"][figure] = value

    assert told(text, change) == message


@pytest.mark.parametrize("name", ["job", "union"])
def test_values_that_cannot_have_moved_by_the_matrix_are_refused(text, name):
    def change(_, by_name):
        by_name[name]["figures"] |= {"transitions": 10**6, "moved": 10**6, "unchanged": 0}

    assert told(text, change) == f"The figures of '{name}' contradict one another."


def test_one_of_two_counts_is_refused(text):
    def change(_, by_name):
        del by_name["job"]["figures"]["moved"]

    assert told(text, change) == "The figures of 'job' contradict one another."


def swap_rows(matrix):
    matrix[0], matrix[1] = matrix[1], matrix[0]


def make_likelier(matrix):
    matrix[0][0], matrix[0][1] = matrix[0][0] + 0.1, matrix[0][1] - 0.1


def drop_row(matrix):
    matrix.pop()


def exceed(matrix):
    matrix[0][0] += 0.001


@pytest.mark.parametrize("name", ["job", "union"])
@pytest.mark.parametrize("edit", [swap_rows, make_likelier, drop_row, exceed])
def test_a_matrix_by_which_nothing_was_drawn_is_refused(text, name, edit):
    def change(_, by_name):
        by_name[name]["matrix"] = [list(row) for row in by_name[name]["matrix"]]
        edit(by_name[name]["matrix"])

    assert told(text, change).startswith(f"The matrix of '{name}' is not one ")


def drop_one(facts, _):
    facts["maskings"].pop()


def repeat_one(facts, _):
    facts["maskings"].append(facts["maskings"][0])


def rename_one(_, by_name):
    by_name["pay"]["column"] = "age"


def mask_otherwise(_, by_name):
    by_name["pay"]["masking"] = "shuffling"


@pytest.mark.parametrize("change", [drop_one, repeat_one, rename_one, mask_otherwise])
def test_other_columns_than_the_plan_masks_are_refused(text, change):
    expected = "It does not describe exactly the masked columns of its plan."
    assert told(text, change) == expected


def test_categories_that_are_not_told_apart_are_refused(text):
    def change(_, by_name):
        by_name["job"]["categories"] = ["a", "a", "b"]

    assert told(text, change) == "The matrix of 'job' is not one of its categories."


def test_a_matrix_of_a_masking_that_has_none_is_refused(text):
    def change(_, by_name):
        by_name["pay"] |= {"categories": ["a"], "matrix": [[1]]}

    assert told(text, change) == "The matrix of 'pay' is not one that noise, sdShare 0.5 has."


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("counts", [[5], [3, 900_000], [1, 1, 1], [10, 20, 30, 100_000]])
def test_rounded_matrices_are_known_as_what_they_are(keep, counts):
    plain = transition_matrix(keep, len(counts))
    invariant = invariant_matrix(plain, np.array(counts))
    for matrix, is_invariant in ((plain, False), (invariant, True)):
        rounded = np.round(matrix, 12).tolist()
        assert is_from_keeping(rounded, keep, is_invariant=is_invariant)
        other = is_from_keeping(rounded, keep / 2, is_invariant=is_invariant)
        assert other == (len(counts) == 1)


def test_a_matrix_with_many_rare_categories_is_known():
    random = np.random.default_rng(1)
    counts = np.concatenate([random.integers(1, 5, 200), [10**6]])
    matrix = invariant_matrix(transition_matrix(0.9, 201), counts)
    assert is_from_keeping(np.round(matrix, 12).tolist(), 0.9, is_invariant=True)
