"""Figures that no output of so many rows can have."""

import json

import pytest
from applying import applied

from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError
from policy_engine.methods.maskings.noise import Noise
from policy_engine.methods.maskings.pram import Pram
from policy_engine.methods.maskings.rank_swapping import RankSwapping
from policy_engine.methods.maskings.recoding import Recoding
from policy_engine.methods.maskings.top_coding import TopCoding

TAIL = TopCoding(name="pay", tail=20)
MEAN = TopCoding(name="pay", threshold=900, replacement="mean")
LABELS = Recoding(name="job", taxonomy="job.csv", level=1)
SWAP, NOISE = RankSwapping(name="pay", p=0.1), Noise(name="pay", sdShare=0.1)


@pytest.mark.parametrize(
    ("masking", "figures"),
    [
        (TAIL, {"rowsCoded": 20, "extremeLeft": 960, "unchanged": 0.95}),
        (TAIL, {"rowsCoded": 400, "unchanged": 0}),
        (TAIL, {}),
        (MEAN, {"rowsCoded": 2, "extremeLeft": 899, "unchanged": 1.0}),
        (MEAN, {"rowsCoded": 0}),
        (LABELS, {"labels": 2, "smallestLabel": 200}),
        (LABELS, {"labels": 0}),
        (SWAP, {"unchanged": 1.0, "largestRankMove": 0}),
        (SWAP, {"unchanged": 0.998, "largestRankMove": 0.003}),
        (NOISE, {"unchanged": 0.998}),
    ],
)
def test_figures_that_rows_can_have(masking, figures):
    assert masking.may_have_of_rows({name: float(one) for name, one in figures.items()}, 400)


@pytest.mark.parametrize(
    ("masking", "figures"),
    [
        (TAIL, {"rowsCoded": 0, "extremeLeft": 960}),
        (TAIL, {"rowsCoded": 19}),
        (TAIL, {"rowsCoded": 20.5}),
        (TAIL, {"rowsCoded": 401}),
        (TAIL, {"rowsCoded": 400, "extremeLeft": 1}),
        (TAIL, {"rowsCoded": 20, "extremeLeft": 960, "unchanged": 1.0}),
        (TAIL, {"rowsCoded": 20, "unchanged": 0.5}),
        (MEAN, {"rowsCoded": 1, "extremeLeft": 899}),
        (LABELS, {"labels": 2.5, "smallestLabel": 1}),
        (LABELS, {"labels": 2}),
        (LABELS, {"labels": 0, "smallestLabel": 1}),
        (LABELS, {"labels": 2, "smallestLabel": 201}),
        (SWAP, {"unchanged": 1.0, "largestRankMove": 0.05}),
        (SWAP, {"unchanged": 0.5, "largestRankMove": 0}),
        (NOISE, {"unchanged": 1.0}),
    ],
)
def test_figures_that_rows_cannot_have(masking, figures):
    assert not masking.may_have_of_rows({name: float(one) for name, one in figures.items()}, 400)


def test_a_matrix_is_only_left_out_of_a_column_without_values():
    drawn = Pram(name="job", keep=0.5)
    assert drawn.may_have_together({"unchanged": 0.0}, ())
    assert not drawn.may_have_together({"unchanged": 0.5, "largestDeviation": 1.0}, ())


TABLE = {"id": [f"p{one}" for one in range(100)], "sex": ["a"] * 60 + ["b"] * 40}


def read_with(asked, change):
    made = applied(TABLE, method="masking", insensitive=["id", "sex"], **asked)
    document = json.loads(made.certificate.to_jsonld())
    document["pe:certificate"].update(change(document["pe:certificate"]))
    return read_certificate(json.dumps(document))


@pytest.mark.parametrize(
    ("asked", "figures"),
    [
        ({"sampleSize": 40}, {"share": 0.99}),
        ({"sampleSize": 40}, {"strata": 2}),
        ({"sampleShare": 0.4, "stratifiedBy": ["sex"]}, {"share": 0.5}),
        ({"sampleShare": 0.4, "stratifiedBy": ["sex"]}, {"share": 1.0}),
    ],
)
def test_shares_and_strata_that_no_sample_has_are_refused(asked, figures):
    with pytest.raises(CertificateError, match=r"V005 .* rows are not a sample with the share"):
        read_with(asked, lambda facts: {"sample": facts["sample"] | figures})


def test_rows_that_were_sampled_are_in_the_output():
    with pytest.raises(CertificateError, match=r"V005 .* 39 rows are not of a sample of 40 rows"):
        read_with({"sampleSize": 40}, lambda _: {"rows_out": 39})


def test_buckets_have_whole_numbers_of_rows_and_no_more_values():
    asked = {"method": "l-diversity", "k": 2, "l": 2, "quasi": ["id"], "sensitive": ["sex"]}
    made = applied(TABLE | {"sex": ["a", "b"] * 50}, algorithm="bucketization", **asked)
    for bound, achieved in (("bucket-k", 2.5), ("bucket-l", 1.5), ("bucket-l", 90)):
        document = json.loads(made.certificate.to_jsonld())
        for one in document["pe:certificate"]["measurements"]:
            one["achieved"] = achieved if one["bound"] == bound else one["achieved"]
        with pytest.raises(CertificateError, match=f"V005 .*{bound} cannot be {achieved}"):
            read_certificate(json.dumps(document))
