"""Figures of masked columns in a certificate, compared with those that are measured again."""

import json

import pandas as pd
import pytest
from applying import applied, asking
from building import DATASET, column
from masked_people import JOB, MASKED, PAY, RENT, TAX, people, stored

from policy_engine import certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError

KEY = b"k" * 32
CAPPED = column("rent", masking="top-coding", threshold=700, replacement="label")
MATCHED = {"method": "masking", "insensitive": ["id", "age"], "masked": MASKED}
FALSE = {
    "unchanged": (lambda one: 0.002 if one > 0.5 else one + 0.1),
    "varianceRatio": (lambda one: one + 0.1),
    "correlation": (lambda one: one - 0.1),
    "correlationChange": (lambda one: one + 0.1),
    "largestRankMove": (lambda one: one - 0.05),
    "largestDeviation": (lambda one: one + 1),
    "smallestClass": (lambda one: one + 1),
    "largestClass": (lambda one: one + 1),
    "informationLoss": (lambda one: one / 2),
    "rowsCoded": (lambda one: one + 1),
    "extremeLeft": (lambda one: one - 1),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return people, and their release, all columns of which are masked, with a key."""
    folder = tmp_path_factory.mktemp("made")
    data = stored(people(), folder / "in.csv")
    return data, applied(data, folder / "out" / "a.csv", key=KEY, **MATCHED)


def rewritten(release, change):
    """Change what the certificate beside a release says of each masked column."""
    path = release.path.parent / "certificate.jsonld"
    document = json.loads(release.certificate.to_jsonld())
    for one in document["pe:certificate"]["maskings"]:
        change(one)
    path.write_text(json.dumps(document, indent=2) + "\n")
    return path


def problems(release, data, **given):
    asked = given.pop("asked", MATCHED)
    with pytest.raises(CertificateError) as error:
        certify_output(release.path, asking(**asked), {DATASET: data}, **given)
    return [(one.code, one.message) for one in error.value.problems]


def falsified(release, figure, columns):
    """Return the text of a certificate that says another figure of columns."""

    def change(one):
        if one["column"] in columns:
            one["figures"][figure] = FALSE[figure](one["figures"][figure])

    return rewritten(release, change).read_text()


def can_be_read(text):
    try:
        read_certificate(text)
    except CertificateError as error:
        return {one.code for one in error.problems} != {"V005"}
    return True


GIVEN = pytest.mark.parametrize("given", [{}, {"key": KEY}], ids=["data", "key"])


@pytest.mark.one_in(27)
@GIVEN
@pytest.mark.parametrize("figure", FALSE)
def test_false_figures_are_refused(figure, given, made):
    data, release = made
    columns = [one.column for one in release.certificate.maskings if figure in one.figures]
    assert columns
    # Some are refused already when the certificate is read.
    read = [one for one in columns if can_be_read(falsified(release, figure, [one]))]
    falsified(release, figure, read)
    found = problems(release, data, **given) if read else []
    assert {code for code, _ in found} <= {"V018"}
    parts = [message.partition(" is ")[0] for _, message in found]
    assert parts == [f"The certificate says that {figure} of {name!r}" for name in read]


@pytest.mark.one_in(2)
@GIVEN
def test_true_figures_are_certified_again(given, made):
    data, release = made
    rewritten(release, lambda _: None)
    certify_output(release.path, asking(**MATCHED), {DATASET: data}, **given)


def test_a_figure_is_compared_exactly_or_to_its_last_digit(made):
    data, release = made

    def round_otherwise(one):
        if "correlation" in one["figures"]:
            one["figures"]["correlation"] -= 0.001

    rewritten(release, round_otherwise)
    certify_output(release.path, asking(**MATCHED), {DATASET: data})

    def count_otherwise(one):
        one["figures"]["unchanged"] += 0.001 if one["column"] == "pay" else 0

    rewritten(release, count_otherwise)
    [(code, message)] = problems(release, data)
    assert code == "V018"
    assert message.startswith("The certificate says that unchanged of 'pay' is ")


def test_false_counts_of_transitions_are_refused(tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), MATCHED | {"masked": [JOB]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)

    def move_more(one):
        figures = one["figures"]
        figures["moved"] += 3
        figures["unchanged"] = round(1 - figures["moved"] / figures["transitions"], 3)

    rewritten(release, move_more)
    told = problems(release, data, asked=asked)
    assert {code for code, _ in told} == {"V018"}
    assert {message.split()[4] for _, message in told} == {"unchanged", "moved"}


def test_a_matrix_of_other_data_is_refused(tmp_path):
    invariant = JOB | {"pe:variant": "invariant"}
    data, asked = stored(people(), tmp_path / "in.csv"), MATCHED | {"masked": [invariant]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    other = people().assign(job=["a"] * 20 + ["b"] * 20 + ["c"] * 20)
    others = applied(stored(other, tmp_path / "o.csv"), tmp_path / "other" / "a.csv", **asked)
    matrix = json.loads(others.certificate.to_jsonld())["pe:certificate"]["maskings"][0]["matrix"]
    rewritten(release, lambda one: one.update(matrix=matrix))
    message = "The matrix of 'job' is not the one that the data give."
    assert ("V018", message) in problems(release, data, asked=asked)


def test_what_rows_in_any_order_show_is_compared_and_the_rest_is_left_out(tmp_path):
    data = stored(people(), tmp_path / "in.csv")
    asked = {"method": "masking", "masked": [PAY, TAX, RENT], "insensitive": ["age"]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)

    def claim(one):
        one["figures"] |= {"unchanged": 0.9, "largestRankMove": 0.1} if "pay" in str(one) else {}

    rewritten(release, claim)
    again = certify_output(release.path, asking(**asked), {DATASET: data})
    figures = {one.column: {*one.figures} for one in again.maskings}
    assert figures["pay"] == set()  # not verified, and so not in the result
    assert figures["rent"] == {"unchanged"}
    assert figures["tax"] == {"varianceRatio", "smallestClass", "largestClass"}

    def claim_sizes(one):
        one["figures"] |= {"largestClass": 50} if one["column"] == "tax" else {}

    rewritten(release, claim_sizes)
    assert [code for code, _ in problems(release, data, asked=asked)] == ["V018"]


def test_what_the_output_alone_shows_is_compared_without_the_data(tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), {"method": "masking", "masked": [CAPPED]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    certify_output(release.path, asking(**asked))
    rewritten(release, lambda one: one["figures"].update(extremeLeft=100))
    with pytest.raises(CertificateError, match="V018 The certificate says that extremeLeft of"):
        certify_output(release.path, asking(**asked))


def forged(release, change):
    """Change the certificate beside a release."""
    path = release.path.parent / "certificate.jsonld"
    document = json.loads(release.certificate.to_jsonld())
    change(document["pe:certificate"])
    path.write_text(json.dumps(document, indent=2) + "\n")


def bound(certificate):
    certificate["measurements"][1]["achieved"] = 3


def loss(certificate):
    certificate["utility"]["column_losses"] = {"age": 0.125}
    certificate["utility"]["global_certainty_penalty"] = 0.125


def test_a_false_number_of_rows_is_refused_whoever_certifies(tmp_path):
    pay = column("pay", masking="rounding", base=10)
    asked = {"method": "masking", "masked": [pay], "insensitive": ["id"]}
    data = stored(pd.DataFrame({"id": [1, 2, 3], "pay": [11, 19, 42]}), tmp_path / "in.csv")
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    more = {"rows_out": 1_000_000}
    forged(release, lambda certificate: (certificate.update(more), certificate.pop("unique_rows")))
    for given in ({}, {DATASET: data}):
        with pytest.raises(CertificateError, match=r"V018 .* has 1,000,000 rows, and it has 3\."):
            certify_output(release.path, asking(**asked), given)


@pytest.mark.parametrize(
    ("change", "told"),
    [(bound, "l of 'job' is 3, and it is 2."), (loss, "the loss of 'age' is 0.125, and it is")],
)
def test_a_false_bound_or_loss_is_refused_whoever_certifies(change, told, tmp_path):
    asked = {"method": "l-diversity", "k": 3, "l": 2, "quasi": ["age"], "sensitive": ["job"]}
    table = pd.DataFrame({"age": [20, 21, 22, 30, 31, 32], "job": list("abaabb")})
    data = stored(table, tmp_path / "in.csv")
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    forged(release, change)
    for given in ({}, {DATASET: data}):
        with pytest.raises(CertificateError, match="V018 The certificate says that") as error:
            certify_output(release.path, asking(**asked), given)
        assert told in str(error.value)
