import re

import pytest
from test_page import EVIL, SHARED, column, comparison

from policy_engine.audits.disclosure.risks.result import FileRisks, NoRisk, Risk, RiskDistribution
from policy_engine.audits.reports.comparison import report_page
from policy_engine.audits.reports.risk import risk_part
from policy_engine.audits.utility.model import CellPair, PairChange, RowPair

KNOWN = ("age", "city")
VALUES = {
    "prosecutor-mean": 0.4,
    "prosecutor-largest": 0.5,
    "prosecutor-above": 1.0,
    "journalist-largest": 0.25,
    "journalist-above": 0.8,
    "marketer": 0.125,
}


def risks(known=KNOWN, **facts):
    return FileRisks(
        risks=tuple(Risk.of(name, known, share) for name, share in VALUES.items()),
        distributions=(RiskDistribution(measure="prosecutor", at=(0.01, 0.5), shares=(1, 0.4)),),
        **facts,
    )


def test_each_intruder_has_a_gauge_and_a_row():
    part = risk_part(comparison(risks=risks()))
    assert [one.title for one in part.gauges] == ["Prosecutor", "Journalist", "Marketer"]
    assert [*part.intruders.rows] == [
        ("prosecutor", "50.0%", "40.0%", "100.0%"),
        ("journalist", "25.0%", "12.5%", "80.0%"),
        ("marketer", "-", "12.5%", "-"),
    ]


def test_a_gauge_shows_its_figure_and_whether_it_is_above_the_mark():
    prosecutor, _, marketer = risk_part(comparison(risks=risks())).gauges
    assert ">50.0%<" in prosecutor.drawing
    assert ">20%<" in prosecutor.drawing
    assert "var(--bad)" in prosecutor.drawing
    assert ">12.5%<" in marketer.drawing
    assert "var(--good)" in marketer.drawing


@pytest.mark.nightly
def test_what_has_no_figure_says_why():
    found = FileRisks(
        risks=risks().risks[:3],
        distributions=risks().distributions,
        not_run=(NoRisk(measure="journalist", reason="nobody told"),),
    )
    page = report_page(comparison(risks=found))
    assert "No figure: journalist, since nobody told" in page
    assert page.count("no figure") == 4


@pytest.mark.nightly
def test_the_page_has_no_references_and_its_ids_are_unique():
    page = report_page(comparison(risks=risks(), row_pairs=rows(), pairs=correlations()))
    assert "://" not in page
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def rows(text="20", fitting=3):
    cells = (CellPair(column=text, before=text, after=f"[{text}]"),)
    return (RowPair(cells=cells, fitting=fitting),)


def correlations(text="age"):
    facts = {"hellinger": 0.1, "total_variation": 0.1, "measure": "pearson"}
    pairs = ((text, "b", 0.5, 0.25), (text, "c", None, None), ("b", "c", 0.1, 0.2))
    return tuple(
        PairChange(first=first, second=second, before=before, after=after, **facts)
        for first, second, before, after in pairs
    )


@pytest.mark.nightly
def test_values_in_every_part_are_escaped():
    page = report_page(
        comparison(
            risks=risks((EVIL, "x")),
            row_pairs=rows(EVIL),
            pairs=correlations(EVIL),
            columns=(column(EVIL, loss=1.0, suppressed=0.5),),
        )
    )
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 5


@pytest.mark.nightly
def test_rows_side_by_side_are_marked_as_those_of_the_original():
    page = report_page(comparison(row_pairs=rows()))
    assert "These are rows of the original as they are" in page
    assert '<span>20</span><span class="after">[20]</span>' in page
    assert "Rows side by side" not in report_page(comparison(**SHARED))


@pytest.mark.nightly
def test_changes_of_correlations_are_a_map():
    page = report_page(comparison(pairs=correlations()))
    assert "Changes of correlations" in page
    drawing = re.search(r"<h3>Changes of correlations</h3>\s*(<svg.*?</svg>)", page, re.DOTALL)[1]
    assert {">-0.25<", ">+0.10<"} <= set(re.findall(r">[+-][\d.]+<", drawing))
    assert "var(--after)" in drawing
    assert "var(--members)" in drawing


@pytest.mark.nightly
def test_a_column_says_what_its_bars_are():
    page = report_page(
        comparison(columns=(column(scale="logarithmic"), column("b", scale="quantile")))
    )
    assert "equally wide on a logarithmic axis" in page
    assert "hold about as many rows of the original each" in page


@pytest.mark.nightly
def test_suppression_is_drawn_by_column_where_there_is_any():
    page = report_page(comparison(columns=(column(suppressed=0.5), column("b", suppressed=0.0))))
    drawing = re.search(r"<h3>Suppressed by column</h3>\s*(<svg.*?</svg>)", page, re.DOTALL)[1]
    # One of six rows, and half of the cells of the other five.
    assert ">58.3%<" in drawing
    assert ">16.7%<" in drawing
    none = comparison(suppressed=0, columns=(column(suppressed=0.0),))
    assert "Suppressed by column" not in report_page(none)
