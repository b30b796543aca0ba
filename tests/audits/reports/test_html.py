import re

import pytest
from jinja2 import UndefinedError
from places import ROOT

from policy_engine.audits.reports.html import Table, _environment, html_page, picture

EVIL = "<script>alert(\"'&'\")</script>"
TEMPLATES = ROOT / "policy_engine" / "audits" / "reports" / "templates"


def html_table(table):
    return str(_environment().get_template("parts.html").module.table(table))


def test_a_table_escapes_whatever_stands_in_it():
    table = html_table(Table(EVIL, (EVIL, EVIL), [(EVIL, f"1\n{EVIL}"), (EVIL, EVIL)]))
    assert "<script" not in table
    assert table.count("&lt;script&gt;") == 8  # the caption names the table, too


def test_a_table_marks_verdicts_texts_and_rows():
    rows = [("a", "holds", "2"), ("b", "broken", "4.1%\n3% to 5%")]
    table = html_table(Table("", ("x", "y", "z"), rows, texts=(2,), marked=(1,)))
    assert '<th scope="col" class="text">z</th>' in table
    assert '<td class="good">holds</td><td class="text">2</td>' in table
    assert '<tr class="marked"><th scope="row">b</th><td class="bad">broken</td>' in table
    assert "4.1%<small>3% to 5%</small>" in table
    assert "<caption>" not in table


def test_of_a_picture_the_drawing_alone_is_not_escaped():
    one = picture(EVIL, "<svg></svg>", EVIL, Table("", (EVIL,), [(EVIL,)]))
    assert one.drawing.__html__() == "<svg></svg>"
    assert not any(hasattr(text, "__html__") for text in (one.title, one.caption))


@pytest.mark.parametrize("template", ["audit.html", "comparison.html"])
def test_a_page_that_lacks_a_value_is_an_error(template):
    with pytest.raises(UndefinedError):
        html_page(template, title="x")


def test_no_template_lets_a_value_through_unescaped():
    for file in TEMPLATES.glob("*.html"):
        assert not re.search(r"\bsafe\b|autoescape|\braw\b|xmlattr", file.read_text("utf-8")), file
