"""Releases that `certify` makes again from their data: what it says where they are others."""

import pytest
from applying import applied, asking
from building import DATASET, column

from policy_engine import certify_output
from policy_engine.errors import CertificateError, DataError

KEY, OTHER = b"\x07" * 32, b"\x08" * 32
CHANGING = b"!" * 32  # among few keys whose noise changes one of three integers
PERSONS = {
    "method": "k-anonymity",
    "k": 2,
    "quasi": ["age"],
    "privacyUnit": "who",
    "masked": [column("pay", masking="noise", sdShare=0.5)],
}
SHARE = {"method": "masking", "insensitive": ["pay"], "sampleShare": 0.5}
OTHER_RELEASE = "V004 The output is not the one that the data and the key give"


@pytest.fixture
def made(tmp_path):
    """Makes a release with a key, or none, and returns its path and how it is certified."""
    rows = "".join(f"p{n // 2},{n % 7},{n}.5\n" for n in range(40))
    (tmp_path / "in.csv").write_text(f"who,age,pay\n{rows}")
    data = {DATASET: tmp_path / "in.csv"}

    def make(asked, **key):
        path = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", **asked, **key).path
        return path, lambda **more: certify_output(path, asking(**asked), data, **more)

    return make


def test_persons_beside_noise_are_counted_again_with_the_key(made):
    _, certify = made(PERSONS, key=KEY)
    assert certify(key=KEY).holds


@pytest.mark.parametrize("key", [{}, {"key": KEY}])
def test_persons_beside_noise_are_not_counted_without_the_key(made, key):
    _, certify = made(PERSONS, **key)
    with pytest.raises(DataError, match="V006 How 'pay' was masked follows from the key"):
        certify()


def test_draws_that_change_nothing_say_that_the_key_is_needed(tmp_path):
    (tmp_path / "in.csv").write_text("who,age,pay\na,1,2\nb,1,3\nc,1,2\n")
    asked = {**PERSONS, "k": 3}
    data = {DATASET: tmp_path / "in.csv"}
    path = applied(tmp_path / "in.csv", tmp_path / "a.csv", key=CHANGING, **asked).path
    for _ in range(9):  # most draws change none of the integers, and some are those published
        try:
            assert certify_output(path, asking(**asked), data).holds
        except DataError as told:
            assert [one.code for one in told.problems] == ["V006"]  # noqa: PT017 (or holds)


@pytest.mark.parametrize("asked", [PERSONS, SHARE])
@pytest.mark.parametrize("key", [{}, {"key": OTHER}])
def test_a_key_that_a_release_was_not_made_with_makes_another(made, asked, key):
    _, certify = made(asked, **key)
    with pytest.raises(CertificateError, match=OTHER_RELEASE) as told:
        certify(key=KEY)
    assert [one.code for one in told.value.problems] == ["V004"]


@pytest.mark.parametrize("key", [{}, {"key": KEY}])
def test_a_changed_output_is_not_the_certified_one_with_and_without_the_key(made, key):
    path, certify = made(PERSONS, key=KEY)
    path.write_text(path.read_text().replace(".", ",", 1))
    with pytest.raises(CertificateError, match="V004 The output is not the one that was certified"):
        certify(**key)
