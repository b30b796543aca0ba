"""Categories drawn by a matrix of transitions from a file."""

import json

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking, refused
from building import DATASET, column

from policy_engine import certify_output, compare_release
from policy_engine.errors import CertificateError, DataError

ALONE = {"method": "masking", "insensitive": ["id"]}
KEY = b"\x05" * 32
MATRIX = ",yes,no,maybe\nyes,0.7,0.2,0.1\nno,0.1,0.8,0.1\nmaybe,0.25,0.25,0.5\n"
STICKY = ",yes,no\nyes,1,0\nno,0.5,0.5\n"
BLIND = ",yes,no\nyes,0.5,0.5\nno,0.5,0.5\n"


def drawn(**settings):
    masked = [column("vote", masking="pram", matrix="m.csv", **settings)]
    return {**ALONE, "masked": masked}


def table(votes):
    return pa.table({"id": list(range(len(votes))), "vote": votes})


@pytest.fixture
def files(tmp_path):
    (tmp_path / "m.csv").write_text(MATRIX)
    return {"m.csv": tmp_path / "m.csv"}


def given(tmp_path, text):
    (tmp_path / "m.csv").write_text(text)
    return {"m.csv": tmp_path / "m.csv"}


VOTES = ["yes"] * 4000 + ["no"] * 2000


def test_categories_are_drawn_by_the_matrix_which_the_certificate_has(files):
    made = applied(table(VOTES), taxonomies=files, key=KEY, **drawn())
    [found] = made.certificate.maskings
    assert found.categories == ("maybe", "no", "yes")
    assert found.matrix == ((0.5, 0.25, 0.25), (0.1, 0.8, 0.1), (0.1, 0.2, 0.7))
    votes = made.table.sort_by("id")["vote"].to_pylist()
    shares = [votes[:4000].count(vote) / 4000 for vote in ("yes", "no", "maybe")]
    assert shares == pytest.approx([0.7, 0.2, 0.1], abs=0.03)
    assert made.release.doubts == ()


def test_the_invariant_variant_keeps_the_expected_counts(files):
    made = applied(table(VOTES), taxonomies=files, key=KEY, **drawn(variant="invariant"))
    matrix = np.array(made.certificate.maskings[0].matrix)
    assert np.array([0, 2000, 4000]) @ matrix == pytest.approx([0, 2000, 4000])
    assert "maybe" not in made.table["vote"].to_pylist()


@pytest.mark.parametrize(("text", "doubt"), [(STICKY, "never happen"), (BLIND, "is singular")])
def test_what_a_matrix_tells_or_hides_for_good_is_a_warning(tmp_path, text, doubt):
    made = applied(table(VOTES), taxonomies=given(tmp_path, text), **drawn())
    assert [doubt in one for one in made.release.doubts] == [True]


def test_a_transition_that_never_happens_is_not_made(tmp_path):
    made = applied(table(VOTES), taxonomies=given(tmp_path, STICKY), **drawn())
    assert set(made.table.sort_by("id")["vote"].to_pylist()[:4000]) == {"yes"}


def test_missing_values_stay_missing_and_numbers_stay_numbers(tmp_path):
    files = given(tmp_path, ",1,2\n1,0.5,0.5\n2,0.5,0.5\n")
    made = applied(table(pa.array([1, None, 2], pa.int16())), taxonomies=files, **drawn())
    assert made.table["vote"].type == pa.int16()
    assert made.table["vote"].null_count == 1


def test_a_column_of_nothing_but_missing_values_stays_one(files):
    made = applied(table(pa.array([None], pa.string())), taxonomies=files, **drawn())
    assert made.table["vote"].to_pylist() == [None]


def test_categories_that_the_matrix_lacks_are_all_told(files, tmp_path):
    votes = table(["yes", "never", "blank"])
    assert refused(votes, tmp_path, taxonomies=files, **drawn()) == ["R013"]
    with pytest.raises(DataError, match="lacks 2 of its categories") as caught:
        applied(votes, taxonomies=files, **drawn())
    assert caught.value.problems[0].values == ("blank", "never")


@pytest.mark.parametrize(
    ("text", "votes", "code"),
    [
        (",yes\nyes,0.9\n", ["yes"], "T013"),
        (",1,no\n1,1,0\nno,0,1\n", [1, 1], "R013"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused(tmp_path, text, votes, code):
    files = given(tmp_path, text)
    assert refused(table(votes), tmp_path, taxonomies=files, **drawn()) == [code]


def test_a_matrix_that_is_not_given_is_refused(tmp_path):
    assert refused(table(["yes"]), tmp_path, **drawn()) == ["C012"]
    assert refused(table(["yes"]), tmp_path, taxonomies={"m.csv": 3}, **drawn()) == ["C012"]


def test_another_matrix_of_the_same_name_is_another_draw(tmp_path):
    votes = table(["yes", "no"] * 500)
    texts = [f",yes,no\nyes,{p},{q}\nno,{q},{p}\n" for p, q in ((0.7, 0.3), (0.69, 0.31))]
    one, other = (
        applied(votes, taxonomies=given(tmp_path, text), key=KEY, **drawn()).table["vote"]
        for text in texts
    )
    same = sum(a == b for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True))
    assert same < 700  # 575 expected; with the same draws, all but about 10


@pytest.mark.one_in(2)
@pytest.mark.parametrize("key", [None, KEY])
def test_an_output_is_certified_again_with_its_matrix(files, tmp_path, key):
    rows = "".join(f"{n},{vote}\n" for n, vote in enumerate(["yes", "no", "no"] * 20))
    (tmp_path / "in.csv").write_text(f"id,vote\n{rows}")
    made = applied(
        tmp_path / "in.csv", tmp_path / "out" / "a.csv", taxonomies=files, key=KEY, **drawn()
    )
    again = {"taxonomies": files, "data": {DATASET: tmp_path / "in.csv"}, "key": key}
    found = certify_output(made.path, asking(**drawn()), **again)
    assert found.maskings[0].matrix == made.certificate.maskings[0].matrix
    assert compare_release(tmp_path / "in.csv", made.path).masking.frequencies
    digest = made.record.taxonomies["m.csv"]
    assert digest not in (made.path.parent / "certificate.jsonld").read_text()
    made.path.write_text(made.path.read_text().replace(",no\n", ",never\n", 1))
    with pytest.raises((CertificateError, DataError)):
        certify_output(made.path, asking(**drawn()), **again)


def test_a_certificate_of_a_matrix_that_is_none_is_refused(files, tmp_path):
    from policy_engine.certificate.certificate import read_certificate

    made = applied(table(VOTES[:50]), tmp_path / "out" / "a.csv", taxonomies=files, **drawn())
    document = json.loads((made.path.parent / "certificate.jsonld").read_text())
    document["pe:certificate"]["maskings"][0]["matrix"][0][0] = 0.9
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(json.dumps(document))
