"""What certificates tell of the label of accuracy-guided classes."""

import json

import pytest
from applying import asking
from building import DATASET
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from policy_engine import certify_output
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.certificate.label_figures import LabelFigures
from policy_engine.certificate.page import certificate_html
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.errors import CertificateError
from policy_engine.kernels.estimates import NotApplicable

GUIDED = {
    "method": "k-anonymity",
    "k": 2,
    "algorithm": "accuracy-guided",
    "quasi": ["age", "city"],
    "label": f"{DATASET}/income",
}
# Three rows of 7, and five of which three have the label 1: means of 7 and 3.
ROWS = "age,city,income\n" + "30,Rome,7\n" * 3 + "50,Oslo,1\n" * 3 + "50,Oslo,6\n" * 2
FIGURES = {"label": "income", "mostly_one": 3, "all_one": 3, "by_class": 6, "overall": 3}


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "out.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture(scope="module")
def certificate(output):
    return certify_output(output, asking(**GUIDED))


def test_what_classes_disclose_is_measured_on_any_output(certificate):
    # Of the squares around 4.25, 30 + 30 - 30 lie within the second class.
    figures = certificate.label_figures
    assert figures.model_dump(exclude={"explained"}) == FIGURES
    assert figures.explained == pytest.approx(30 / 60, abs=1e-12)
    assert read_certificate(certificate.to_jsonld()) == certificate


def test_texts_have_no_variance(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text(ROWS.replace(",7", ",high"))
    figures = certify_output(path, asking(**GUIDED)).label_figures
    assert figures == LabelFigures(**FIGURES)


def test_certificates_of_other_classes_are_as_before(output):
    other = {**GUIDED, "algorithm": "mondrian", "insensitive": ["income"]}
    del other["label"]
    made = certify_output(output, asking(**other))
    assert made.label_figures is None
    assert "label_figures" not in json.loads(made.to_jsonld())["pe:certificate"]


@pytest.mark.parametrize(
    ("parts", "are_named"),
    [
        ({}, {"scikit-learn"}),
        ({"guide": "network"}, {"scikit-learn", "keras"}),
        ({"guide": f"{DATASET}/score"}, set()),
    ],
)
def test_the_libraries_of_a_guide_that_is_trained_are_named(output, parts, are_named):
    versions = certify_output(output, asking(**GUIDED, **parts)).versions
    assert {"scikit-learn", "keras"} & {*versions} == are_named


def printed(table):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_figures_are_shown_as_shares_in_text_and_on_pages(certificate):
    for text in (printed(certificate_table(certificate)), certificate_html(certificate)):
        assert "rows in classes of one income" in text
        assert "rows in classes 95% of one income" in text
        assert "37.50%" in text
        assert "75.00%, without the class 37.50%" in text
        assert "50.00%" in text


def message(certificate, figures=None, **facts):
    """Return the message of the error for a certificate with other figures."""
    document = json.loads(certificate.to_jsonld())
    written = document["pe:certificate"]
    if figures is None:
        written.pop("label_figures")
    else:
        written["label_figures"] = figures
    written |= facts
    with pytest.raises(CertificateError, match="V005") as error:
        read_certificate(json.dumps(document))
    return error.value.problems[0].message.partition("itself. ")[2]


@pytest.mark.parametrize(
    "changes",
    [
        {"mostly_one": 2},  # fewer than of one label
        {"mostly_one": 9},  # more than rows
        {"mostly_one": 8},  # 95% of five rows more would be right
        {"by_class": 2},  # fewer than of one label
        {"by_class": 8},  # all, and not all of one label
        {"all_one": 8, "mostly_one": 8, "explained": None},  # of one label, and not all right
        {"all_one": 8, "mostly_one": 8, "by_class": 8},  # of one label, and half explained
        {"overall": 7},  # more than the classes tell
        {"overall": 0},
        {"all_one": 0, "mostly_one": 0, "by_class": 1, "overall": 1},  # fewer than classes
    ],
    ids=str,
)
def test_figures_that_no_classes_of_the_rows_have_are_refused(certificate, changes):
    figures = certificate.label_figures.model_dump() | changes
    told = message(certificate, figures)
    assert told == "What is told of the label 'income' is not that of 2 classes of 8 rows."


def test_figures_are_those_of_the_label_and_of_accuracy_guided_classes(certificate):
    figures = certificate.label_figures.model_dump()
    assert message(certificate).startswith("It does not say what its classes disclose")
    other = message(certificate, {**figures, "label": "age"})
    assert other == "It tells what is disclosed of 'age', and its label is 'income'."
    lacking = message(certificate, {"reason": "it is large"})
    assert lacking == "It says that its label was not counted, and it always is."


def test_a_class_of_one_label_has_k_rows(certificate):
    figures = certificate.label_figures.model_dump() | {"all_one": 1}
    assert message(certificate, figures) == "1 rows are not those of a class of 3 or more."


def test_no_class_of_two_labels_is_of_one(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("age,city,income\n" + "30,Rome,7\n30,Rome,8\n" * 2)
    made = certify_output(path, asking(**{**GUIDED, "method": "l-diversity", "l": 2}))
    assert made.label_figures.all_one == 0
    figures = made.label_figures.model_dump() | {"all_one": 4, "mostly_one": 4, "by_class": 4}
    told = message(made, {**figures, "overall": 4, "explained": None})
    assert told == "Classes with 2 or more labels do not have one label."


def test_a_figure_may_be_missing_where_a_cluster_cannot_hold_the_labels(certificate):
    document = json.loads(certificate.to_jsonld())
    facts = document["pe:certificate"]
    facts["plan"]["engine"] = "spark"
    facts["label_figures"] = {"reason": "the label has more than 9 values"}
    assert Certificate.model_validate(facts).label_figures == NotApplicable(
        reason="the label has more than 9 values"
    )
    read = read_certificate(json.dumps(document))
    assert "the label has more than 9 values" in printed(certificate_table(read))
    assert "the label has more than 9 values" in certificate_html(read)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_true_figures_never_contradict_themselves(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("out") / "out.csv"
    rows = (f"{one},Rome,{label}\n" * 2 for one, label in pairs)
    path.write_text("age,city,income\n" + "".join(rows))
    made = certify_output(path, asking(**GUIDED))
    assert read_certificate(made.to_jsonld()) == made


def test_a_certificate_that_says_otherwise_than_the_output_is_refused(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text(ROWS)
    made = certify_output(path, asking(**GUIDED))
    beside = tmp_path / "certificate.jsonld"
    beside.write_text(made.to_jsonld())
    assert certify_output(path, asking(**GUIDED)).label_figures == made.label_figures
    document = json.loads(beside.read_text())
    document["pe:certificate"]["label_figures"] |= {"all_one": 0, "mostly_one": 0}
    beside.write_text(json.dumps(document))
    with pytest.raises(CertificateError) as error:
        certify_output(path, asking(**GUIDED))
    assert [(one.code, one.message) for one in error.value.problems] == [
        ("V018", f"The certificate says that {name} of the label 'income' is 0; {again}")
        for name, again in (
            ("mostly_one", "measured again, it is 3."),
            ("all_one", "measured again, it is 3."),
        )
    ]
