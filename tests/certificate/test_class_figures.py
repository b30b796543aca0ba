"""What a certificate says of classes by microaggregation, and what no true one says."""

import json

import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column
from everyday import examples
from hypothesis import given as whatever
from hypothesis import settings
from hypothesis import strategies as st
from microaggregated import shared_table

from policy_engine import certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError

KEY = b"k" * 32
ASKED = {"method": "k-anonymity", "k": 2, "algorithm": "microaggregation"}
PEOPLE = {"age": [1, 3, 11, 13, 13], "job": list("aabbc"), "pay": [5, 5, 5, 5, 5]}
QUASI = {"quasi": ["age", "job", "pay"]}


def figures_of(made):
    figures = made.certificate.class_figures
    columns = {
        one.column: (one.unchanged, one.information_loss, one.dominated) for one in figures.columns
    }
    return figures.smallest, figures.largest, figures.information_loss, columns


def test_figures_are_those_worked_out_by_hand():
    # Means 2 and 12.33: squared differences 2 and 2.67 of 132.8. The job c becomes b.
    assert figures_of(applied(PEOPLE, **QUASI, **ASKED)) == (
        2,
        3,
        3.514,
        {"age": (0.0, 3.514, 0.5), "job": (0.8, None, None), "pay": (1.0, None, 0.0)},
    )


def test_the_loss_is_the_mean_of_the_columns_losses():
    table = {"age": [0, 2, 10, 12], "pay": [0, 1, 1, 0]}
    made = applied(table, quasi=["age", column("pay", weight=0)], **ASKED)
    # As in the test of the kernel: 4 of 104, and all of the variance.
    assert figures_of(made)[2:] == (
        51.923,
        {"age": (0.0, 3.846, 1.0), "pay": (0.0, 100.0, 1.0)},
    )


def test_medians_and_modes_of_numbers_lose_what_they_are_away():
    table = {"age": [0, 0, 3], "pay": [0, 0, 3]}
    quasi = [column("age", generalization="median"), column("pay", generalization="mode")]
    made = applied(table, quasi=quasi, **{**ASKED, "k": 3})
    # 9 about 0, and 6 about the mean 1.
    assert figures_of(made)[2] == 150
    assert figures_of(made)[3]["age"] == (0.667, 150, None)


def test_texts_have_no_loss():
    made = applied({"job": list("aabb")}, quasi=["job"], **ASKED)
    assert figures_of(made) == (2, 2, None, {"job": (1.0, None, None)})


@pytest.mark.parametrize(("values", "share"), [([-9, -8, 7, 9], 1), ([-8, -8, 9, 9], 0)])
def test_a_negative_value_dominates_by_its_size(values, share):
    made = applied({"debt": values}, quasi=["debt"], **ASKED)
    assert figures_of(made)[3]["debt"][2] == share


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("file", "k", "loss"),
    [
        ("census_casc.csv", 3, 5.692),
        ("census_casc.csv", 5, 9.088),
        ("census_casc.csv", 10, 14.156),
        ("tarragona.csv", 3, 16.933),
        ("tarragona.csv", 5, 22.462),
        ("tarragona.csv", 10, 33.193),
    ],
)
def test_the_loss_is_the_published_one(file, k, loss):
    # Domingo-Ferrer and Torra, 2005, and others: 5.69, 9.09, 14.16; 16.93, 22.46, 33.19.
    values = shared_table(file)
    table = {f"column{place}": one for place, one in enumerate(values.T)}
    made = applied(table, quasi=list(table), **{**ASKED, "k": k})
    assert made.certificate.class_figures.information_loss == loss


NUMBERS = st.none() | st.sampled_from([0, 0, 0, 1, 7, -7, 10**6])


@settings(max_examples=examples(40))
@whatever(
    st.lists(NUMBERS, min_size=3, max_size=40),
    st.sampled_from(["mean", "median", "mode", "centroid"]),
)
def test_true_figures_never_contradict_themselves(values, kind):
    made = applied(
        {"x": pa.array(values, pa.int64())},
        quasi=[column("x", generalization=kind)],
        **{**ASKED, "k": 3},
    )
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate


@pytest.fixture(scope="module")
def text():
    return applied(PEOPLE, **QUASI, **ASKED).certificate.to_jsonld()


def anonymize(facts):
    """Return the step of a plan by which classes are formed."""
    return next(one for one in facts["plan"]["steps"] if one.get("step") == "anonymize")


def told(text, change):
    """Return the message of the error for a certificate in which something is changed."""
    document = json.loads(text)
    facts = document["pe:certificate"]
    change(facts, facts["class_figures"])
    with pytest.raises(CertificateError, match="V005") as error:
        read_certificate(json.dumps(document))
    return error.value.problems[0].message.partition("itself. ")[2]


@pytest.mark.parametrize(
    ("place", "figure", "value", "message"),
    [
        (0, "unchanged", 1.2, "unchanged of 'age' cannot be 1.2."),
        (0, "unchanged", -0.1, "unchanged of 'age' cannot be -0.1."),
        (0, "information_loss", 100.7, "information_loss of 'age' cannot be 100.7."),
        (0, "information_loss", 4, "Its information loss is not the mean of its columns'."),
        (0, "information_loss", None, "Its information loss is not the mean of its columns'."),
        (0, "dominated", 1.01, "dominated of 'age' cannot be 1.01."),
        (0, "column", "pay", "It does not describe exactly the quasi-identifiers of its plan."),
    ],
)
def test_a_figure_that_no_column_has_is_refused(text, place, figure, value, message):
    def change(_, figures):
        figures["columns"][place][figure] = value

    assert told(text, change) == message


def test_means_that_one_value_dominates_are_those_of_a_column_of_means(text):
    def change(facts, _):
        anonymize(facts)["columns"]["quasi_identifier"][0]["generalization"] = "median"

    assert told(text, change) == "'age' has no means that one value could dominate."


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((3, 2), "5 rows in 2 classes cannot be 3 to 2 in each."),
        ((2, 4), "5 rows in 2 classes cannot be 2 to 4 in each."),
        ((1, 3), "5 rows in 2 classes cannot be 1 to 3 in each."),
    ],
)
def test_sizes_that_are_not_those_of_the_rows_are_refused(text, sizes, message):
    def change(_, figures):
        figures["smallest"], figures["largest"] = sizes

    assert told(text, change) == message


def test_a_k_that_is_not_that_of_the_smallest_class_is_refused(text):
    def change(facts, _):
        facts["measurements"][0]["achieved"] = 1

    assert told(text, change) == "k cannot be 1 if the smallest class has 2 rows."


def test_figures_are_those_of_classes_by_microaggregation_alone(text):
    message = "It has no figures of its classes by microaggregation, or has some of other classes."

    def drop(facts, _):
        del facts["class_figures"]

    def replan(facts, _):
        anonymize(facts)["recoding"]["algorithm"] = "mondrian"

    assert told(text, drop) == message
    assert told(text, replan) == message


def certified(folder, table=PEOPLE, key=None, **parts):
    """Return the policy and the release of a table in a folder."""
    asked = {**ASKED, **QUASI, **parts}
    return asking(**asked), applied(table, folder / "out" / "out.csv", key=key, **asked)


def changed(made, change):
    """Change the figures in the certificate beside an output, without contradicting it."""
    [file] = made.path.parent.glob("*.jsonld")
    document = json.loads(file.read_text())
    change(document["pe:certificate"]["class_figures"])
    file.write_text(json.dumps(document))


def given(table=PEOPLE):
    return {DATASET: pa.table(table)}


def test_figures_are_made_again_from_the_data(tmp_path):
    policy, made = certified(tmp_path)
    assert certify_output(made.path, policy, given()).class_figures == (
        made.certificate.class_figures
    )


def test_without_the_data_sizes_are_measured_alone(tmp_path):
    policy, made = certified(tmp_path)
    figures = certify_output(made.path, policy).class_figures
    assert (figures.smallest, figures.largest, figures.columns) == (2, 3, ())
    assert figures.information_loss is None


def test_a_renewed_certificate_keeps_the_figures_that_only_the_data_show(tmp_path):
    policy, made = certified(tmp_path)
    renewed = certify_output(made.path, policy, write=True)
    assert renewed.class_figures == made.certificate.class_figures


def lose_less(figures):
    figures["information_loss"] = figures["columns"][0]["information_loss"] = 1.0


def test_a_certificate_that_says_otherwise_than_the_data_is_refused(tmp_path):
    policy, made = certified(tmp_path)
    changed(made, lose_less)
    certify_output(made.path, policy)
    with pytest.raises(CertificateError) as error:
        certify_output(made.path, policy, given())
    assert [one.code for one in error.value.problems] == ["V018", "V018"]
    assert "information_loss is 1; the data show that it is 3.514" in str(error.value)


def test_data_of_which_other_classes_are_formed_are_refused(tmp_path):
    policy, made = certified(tmp_path)
    other = {**PEOPLE, "age": [1, 3, 11, 13, 17]}
    with pytest.raises(CertificateError, match="V018 The classes of the output are not those"):
        certify_output(made.path, policy, given(other))


DIVERSE = {"method": "l-diversity", "l": 2, "sensitive": ["ill"]}
SICK = {"age": [20, *[30] * 60, 40], "ill": [*"ab" * 31], "job": ["a"] * 62, "pay": range(62)}


@pytest.mark.nightly
def test_with_bounds_besides_k_the_key_forms_the_classes_again(tmp_path):
    parts = {**DIVERSE, "quasi": ["age"], "insensitive": ["pay"]}
    policy, made = certified(tmp_path, SICK, KEY, **parts)
    again = certify_output(made.path, policy, given(SICK), key=KEY)
    assert again.class_figures == made.certificate.class_figures
    # Without it, nobody knows; what is known then is not contradicted.
    certify_output(made.path, policy, given(SICK))
    changed(made, lose_less)
    with pytest.raises(CertificateError, match="V018"):
        certify_output(made.path, policy, given(SICK), key=KEY)


def test_classes_beside_masked_columns_are_formed_again(tmp_path):
    masked = [column("car", masking="noise", sdShare=0.5)]
    table = {**PEOPLE, "car": [1000, 2000, 3000, 4000, 5000]}
    policy, made = certified(tmp_path, table, KEY, masked=masked)
    again = certify_output(made.path, policy, given(table))
    assert again.class_figures == made.certificate.class_figures


def test_other_classes_have_no_such_figures():
    made = applied(PEOPLE, quasi=["age"], method="k-anonymity", k=2)
    assert made.certificate.class_figures is None
    assert "class_figures" not in made.certificate.to_jsonld()


def test_a_masked_column_that_tells_tied_rows_apart_is_masked_again(tmp_path):
    parts = {**DIVERSE, "quasi": ["age"], "insensitive": ["job"]}
    parts["masked"] = [column("pay", masking="rounding", base=10)]
    policy, made = certified(tmp_path, SICK, KEY, **parts)
    again = certify_output(made.path, policy, given(SICK), key=KEY)
    assert again.class_figures == made.certificate.class_figures
