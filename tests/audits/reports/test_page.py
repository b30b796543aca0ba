import re
from functools import cache
from html.parser import HTMLParser

import pytest

from policy_engine.audits.reports.charts import canvas
from policy_engine.audits.reports.comparison import report_page, write_report
from policy_engine.audits.utility.model import (
    Classification,
    ClassSizes,
    ColumnChange,
    Comparison,
    PairChange,
    QueryErrors,
    TableSide,
)
from policy_engine.errors import DataError, OutputError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement

EVIL = '<script>alert("$x^2$ & _")</script>'


def column(name="age", **parts):
    facts = {
        "role": "quasi-identifier",
        "kind": "generalised",
        "is_ordered": True,
        "loss": 0.25,
        "entropy": 0.5,
        "hellinger": 0.1,
        "total_variation": 0.125,
        "values_before": 2,
        "values_after": 1,
        "bins": [
            {"label": "20 - 29", "before": 0.75, "after": 0.5},
            {"label": "30", "before": 0.25, "after": 0.5},
        ],
    }
    return ColumnChange(name=name, **(facts | parts))


def comparison(**parts):
    facts = {
        "original": TableSide(name="people.csv", digest="a" * 64, rows=6),
        "release": TableSide(name="anonymous.csv", digest="b" * 64, rows=5),
        "is_certified_input": True,
        "methods": ("l-diversity (k 2, l 2)",),
        "measurements": (Measurement(bound="k", asked=2, achieved=3),),
        "suppressed": 1,
        "certainty_penalty": 0.3,
        "entropy": 0.4,
        "discernability": 18,
        "average_class_ratio": 1.5,
        "left_out": ("name",),
        "columns": (column(), column("city", is_ordered=False)),
        "pairs": (
            PairChange(
                first="age",
                second="city",
                hellinger=0.1,
                total_variation=0.2,
                measure="cramers-v",
                before=0.5,
                after=None,
            ),
        ),
        "classes": ClassSizes(
            classes=2,
            smallest=2,
            median=2.5,
            mean=2.5,
            largest=3,
            bins=[{"low": 2, "high": 2, "classes": 1}, {"low": 3, "high": 3, "classes": 1}],
        ),
        "queries": QueryErrors(
            queries=10,
            selectivity=0.05,
            sanity=0.001,
            seed=0,
            median=0.5,
            mean=0.5,
            percentiles=tuple(place / 100 for place in range(101)),
        ),
        "classification": NotApplicable(reason="nobody asked"),
    }
    return Comparison(**(facts | parts))


class Outline(HTMLParser):
    """What a page is made of: its elements, their ids, and what they refer to."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.references = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.references += [value for name, value in attrs if name in ("href", "src", "xlink:href")]


@cache
def usual_page():
    return report_page(comparison())


@pytest.mark.nightly
def test_a_page_refers_to_nothing_outside_itself():
    page = usual_page()
    outline = Outline(page)
    assert "://" not in page
    assert not {"script", "link", "img", "iframe"} & set(outline.tags)
    assert all(reference.startswith("#") for reference in outline.references)
    assert "@import" not in page


def test_ids_are_unique_and_what_is_referred_to_is_there():
    outline = Outline(usual_page())
    assert len(outline.ids) == len(set(outline.ids))
    assert {reference.removeprefix("#") for reference in outline.references} <= set(outline.ids)


def test_pictures_take_their_colours_from_the_page():
    page = usual_page()
    assert page.count("<svg") == 6  # class sizes, losses, suppression, two marginals, queries
    pictures = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert set(re.findall(r"#[0-9a-f]{6}\b", pictures)) <= {"#000000"}
    assert "var(--before)" in pictures


def test_values_are_escaped_wherever_they_stand():
    evil = comparison(
        original=TableSide(name=EVIL, digest="a" * 64, rows=6),
        release=TableSide(name=EVIL, digest="b" * 64, rows=5),
        methods=(EVIL,),
        left_out=(EVIL,),
        columns=(
            column(EVIL, bins=[{"label": EVIL, "before": 1, "after": 1}], is_ordered=False),
            column("x", bins=[{"label": EVIL, "before": 1, "after": 1}]),
        ),
        queries=NotApplicable(reason=EVIL),
        classification=NotApplicable(reason=EVIL),
    )
    assert "<script" not in report_page(evil)


def test_figures_stand_on_the_page():
    page = usual_page()
    for figure in ("0.3000", "l-diversity (k 2, l 2)", "b" * 64, "at least 2", "nobody asked"):
        assert figure in page


@pytest.mark.nightly
def test_what_was_learnt_stands_beside_the_majority():
    learnt = Classification(
        target="disease",
        values=2,
        rows_learnt=4,
        rows_held_out=2,
        majority=0.5,
        original=0.875,
        anonymised=0.75,
        error=0.01,
    )
    page = report_page(comparison(classification=learnt))
    assert all(figure in page for figure in ("50.0%", "87.5%", "75.0%", "disease"))


@pytest.mark.nightly
def test_another_input_than_the_certified_one_is_warned_of():
    assert "another input" in report_page(comparison(is_certified_input=False))
    assert "another input" not in report_page(comparison(is_certified_input=None))


@pytest.mark.nightly
def test_the_same_comparison_makes_the_same_page():
    assert report_page(comparison()) == usual_page()


@pytest.mark.nightly
def test_a_report_is_written_where_it_is_asked_for(tmp_path):
    write_report(comparison(), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.nightly
def test_a_report_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="O002"):
        write_report(comparison(), tmp_path / "nowhere" / "report.html")


def test_a_report_needs_matplotlib(monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    with pytest.raises(DataError, match=r"C011 .*policy-engine\[utility\]"):
        report_page(comparison())


UNTOLD = ("is_ordered", "entropy", "hellinger", "total_variation", "values_before")
SHARED = {
    "is_shareable": True,
    "original": None,
    "is_certified_input": None,
    "suppressed": None,
    "entropy": None,
    "left_out": (),
    "columns": (column(bins=[], **dict.fromkeys(UNTOLD)),),
    "pairs": (),
    "queries": NotApplicable(reason="not told"),
    "classification": NotApplicable(reason="not told"),
}


def test_a_page_says_whether_it_may_be_shared():
    assert "For the owner of the original alone" in usual_page()
    shared = report_page(comparison(**SHARED))
    assert "To be shared" in shared
    assert "For the owner" not in shared
    assert "Distributions of the quasi-identifiers" not in shared
    assert "people.csv" not in shared
