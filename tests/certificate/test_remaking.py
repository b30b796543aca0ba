"""Which releases are made again to certify them, and what is told of those that differ."""

import pytest
from applying import asking
from attacked import attacked, bounded, known
from building import column
from certifying import certified, sha256

from policy_engine.certificate.remaking import (
    check_same,
    drawn_by_key,
    is_made_again,
    other_draws,
    other_rows,
)
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError, DataError, Problem
from policy_engine.policy import read_policy

CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age"]}
ROUNDED = {"method": "masking", "masked": [column("pay", masking="rounding", base=10)]}
NOISY = {"method": "masking", "masked": [column("pay", masking="noise", sdShare=1)]}
LOCAL = {**CLASSES, "algorithm": "local-suppression"}
SENSITIVE = {"method": "l-diversity", "l": 2, "sensitive": ["ill"]}
BUCKETS = {**CLASSES, **SENSITIVE, "algorithm": "bucketization", "buckets": "distinct-l"}
NOISE_BESIDE = {"masked": NOISY["masked"]}
MICRO = {**CLASSES, "algorithm": "microaggregation"}
UNIT = {"privacyUnit": "person"}
HALF = {"sampleShare": 0.5}
KEPT = {"insensitive": ["id"]}


def certificate_of(**parts):
    return certified(read_policy(asking(**parts)))


def plan_of(**parts):
    return certificate_of(**parts).plan


@pytest.mark.parametrize(
    ("parts", "without_key", "with_key"),
    [
        (CLASSES, False, False),
        ({**CLASSES, **UNIT}, True, True),
        ({**CLASSES, **HALF}, False, True),
        (ROUNDED | KEPT, False, False),
        (NOISY | KEPT, False, True),
        (LOCAL, False, True),
        ({**LOCAL, "pseudonymize": ["id"]}, False, False),
        (BUCKETS, True, True),
        ({**BUCKETS, "buckets": "anatomy"}, False, True),
        ({**BUCKETS, **HALF}, False, True),
        ({**BUCKETS, **NOISE_BESIDE}, False, True),
    ],
    ids=range(11),
)
def test_a_release_is_made_again_where_that_gives_it_or_is_needed(parts, without_key, with_key):
    plan = plan_of(**parts)
    assert is_made_again(plan, has_key=False) == without_key
    assert is_made_again(plan, has_key=True) == with_key


def test_an_attacked_release_is_made_again_unless_its_rows_are_matched():
    asked = bounded(0.5), known("age")
    plan = certified(read_policy(attacked(*asked, **CLASSES, **KEPT))).plan
    for has_key in (False, True):
        assert is_made_again(plan, has_key=has_key)
        assert not is_made_again(plan, has_key=has_key, is_matched=True)


@pytest.mark.parametrize("parts", [{**CLASSES, **UNIT}, NOISY | KEPT], ids=["persons", "noise"])
def test_a_sample_whose_rows_have_to_be_known_takes_the_key(parts):
    plan = plan_of(**parts, **HALF)
    assert is_made_again(plan, has_key=True)
    with pytest.raises(DataError) as caught:
        is_made_again(plan, has_key=False)
    assert [(one.code, one.message, one.hint) for one in caught.value.problems] == [
        (
            "V006",
            "Which rows of the input were sampled follows from the key of the release.",
            "Give the key that it was made with.",
        )
    ]


NOISE = "How 'pay' was masked"
CLASSED = "Which of the rows with equal quasi-identifiers are in which class"


@pytest.mark.parametrize(
    ("parts", "drawn"),
    [
        (CLASSES, ""),
        (ROUNDED | KEPT, ""),
        (NOISY | KEPT, NOISE),
        (
            {**NOISY, "masked": [*NOISY["masked"], column("cap", masking="noise", sdShare=1)]},
            "How 'cap' and 'pay' were masked",
        ),
        (MICRO, CLASSED),
        (LOCAL, ""),
    ],
    ids=range(6),
)
def test_what_the_key_decides_is_told(parts, drawn):
    assert drawn_by_key(plan_of(**{**KEPT, **parts})) == drawn


def told(call, error=DataError):
    """Return the code, the message and the hint of a refusal."""
    with pytest.raises(error) as caught:
        call()
    [problem] = caught.value.problems
    return problem.code, problem.message, problem.hint


OF_KEY = (
    "V006",
    f"{NOISE} follows from the key of the release, so it cannot be made again identically.",
    "Give the key that it was made with. Without one, its draws cannot be repeated.",
)
OF_DATA = "Give the data that it was made from, and the key, if it was made with one."


def test_a_release_that_is_the_same_again_is_not_refused():
    made = certificate_of(**NOISY, **KEPT)
    check_same(made, StoredData("a.csv", made.output_digest), None, has_key=False)


@pytest.mark.parametrize(
    ("has_key", "given"), [(True, "the data and the key give"), (False, "the data give")]
)
def test_another_release_than_that_made_again_is_refused(has_key, given):
    made, other = certificate_of(**CLASSES), StoredData("a.csv", sha256("other"))
    found = told(lambda: check_same(made, other, None, has_key=has_key), CertificateError)
    message = f"The output is not the one that {given}: its sha-256 is {other.digest}, that of "
    assert found == ("V004", f"{message}the release made again {made.output_digest}.", OF_DATA)


def test_another_release_without_its_key_may_be_of_the_data():
    made, other = certificate_of(**NOISY, **KEPT), StoredData("a.csv", sha256("other"))
    assert told(lambda: check_same(made, other, None, has_key=False)) == OF_KEY
    code, *_ = told(lambda: check_same(made, other, None, has_key=True), CertificateError)
    assert code == "V004"


def test_an_output_that_is_not_that_of_its_certificate_is_told_first():
    made, other = certificate_of(**NOISY, **KEPT), StoredData("a.csv", sha256("other"))
    code, message, _ = told(lambda: check_same(made, other, made, has_key=False), CertificateError)
    assert (code, "made again" in message) == ("V004", False)
    same = made.model_copy(update={"output_digest": other.digest})
    assert told(lambda: check_same(made, other, same, has_key=False)) == OF_KEY


def failing(guard, plan, error, *, has_key):
    def call():
        with guard(plan, has_key=has_key):
            raise error

    return call


def test_other_rows_are_told_with_what_is_to_be_given():
    plan, rows = plan_of(**NOISY, **KEPT), Problem("V003", "Rows are missing.")
    error = CertificateError(rows, source="a.csv")
    found = told(failing(other_rows, plan, error, has_key=True), CertificateError)
    assert found == ("V003", "Rows are missing.", OF_DATA)
    assert told(failing(other_rows, plan, error, has_key=False)) == OF_KEY
    mixed = CertificateError(rows, Problem("V001", "k is 1."))
    with pytest.raises(CertificateError) as caught:
        failing(other_rows, plan, mixed, has_key=False)()
    assert caught.value is mixed


def test_draws_that_fit_no_value_are_those_of_another_key():
    plan = plan_of(**NOISY, **KEPT)
    fits, other = DataError.of("R013", "No draw fits."), DataError.of("R001", "It is empty.")
    assert told(failing(other_draws, plan, fits, has_key=False)) == OF_KEY
    for error, has_key in ((fits, True), (other, False)):
        with pytest.raises(DataError) as caught:
            failing(other_draws, plan, error, has_key=has_key)()
        assert caught.value is error
