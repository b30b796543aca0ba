"""Every certificate that is published can be read, or nothing is released."""

import pytest
from applying import applied
from building import column

from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import readable_text
from policy_engine.errors import CertificateError, DataError

DRAWN = column("job", masking="pram", keep=0.8)


def jobs(number, suffix=""):
    return [f"job {place % number}{suffix}" for place in range(2 * number)]


def draw(table, output=None, masked=(DRAWN,)):
    return applied(table, output, method="masking", masked=list(masked))


@pytest.mark.nightly
def test_the_matrix_of_as_many_categories_as_are_allowed_can_be_read(tmp_path):
    made = draw({"job": jobs(300)}, tmp_path / "out" / "people.csv")
    assert load_certificate(tmp_path / "out") == made.certificate
    assert len(made.certificate.maskings[0].matrix) == 300


def test_more_categories_than_a_certificate_carries_are_refused(tmp_path):
    with pytest.raises(
        DataError, match=r"R013 The column 'job' has 301 categories\. pram takes 300"
    ):
        draw({"job": jobs(301)}, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_more_matrices_than_a_certificate_carries_are_refused():
    masked = [DRAWN, column("town", masking="pram", keep=0.5)]
    table = {"job": jobs(200) * 3, "town": jobs(240) * 2 + jobs(120)}
    with pytest.raises(DataError, match="R013 The certificate has the matrices") as error:
        draw(table, masked=masked)
    assert "97,600 probabilities, of 90,000 that are allowed" in str(error.value)
    assert str(error.value).count("'job' 200, 'town' 240") == 1


def test_a_certificate_that_would_be_too_long_is_not_published(tmp_path):
    with pytest.raises(CertificateError, match=r"V017 The certificate of 'people\.csv' could not"):
        draw({"job": jobs(20, "x" * 200_000)}, tmp_path / "out" / "people.csv")
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


def test_a_certificate_is_published_as_it_is_read():
    certificate = draw({"job": jobs(3)}).certificate
    assert readable_text(certificate) == certificate.to_jsonld()
