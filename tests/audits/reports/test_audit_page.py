import re
from html import unescape

import pytest
from audits_made import LOWER, NONE, UPPER, attack, audit
from test_page import Outline

from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.audits.reports.audit import audit_page, write_audit_report
from policy_engine.audits.reports.charts import canvas
from policy_engine.errors import DataError, OutputError
from policy_engine.kernels.estimates import NotApplicable

EVIL = '<script>alert("$x^2$ & _")</script>'


@pytest.fixture(scope="module")
def page():
    return audit_page(audit())


def test_a_page_refers_to_nothing_outside_itself(page):
    outline = Outline(page)
    assert "://" not in page
    assert not {"script", "link", "img", "iframe"} & set(outline.tags)
    assert all(reference.startswith("#") for reference in outline.references)
    assert "@import" not in page


def test_ids_are_unique_and_what_is_referred_to_is_there(page):
    outline = Outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    assert {reference.removeprefix("#") for reference in outline.references} <= set(outline.ids)


def test_pictures_take_their_colours_from_the_page(page):
    pictures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) == 5  # the ROC, the classes, two histograms, the bounds on epsilon
    assert set(re.findall(r"#[0-9a-f]{6}\b", "".join(pictures))) <= {"#000000"}
    used = set(re.findall(r"var\((--[\w-]+)\)", page))
    light, dark = page.split("prefers-color-scheme: dark")[:2]
    assert all(f"{name}:" in light and f"{name}:" in dark for name in used)


def test_the_verdict_stands_before_every_figure(page):
    assert page.index("An attacker gains something.") < page.index('<dl class="figures">')
    assert page.index('<dl class="figures">') < page.index("<table>")


def test_what_was_audited_stands_on_the_page(page):
    for figure in ("a" * 64, "b" * 64, "One label appears twice.", "numpy 2.4", "11 values"):
        assert figure in page
    assert '"noise_multiplier":2.0' in unescape(page)


def test_the_strongest_attack_and_the_worst_slice_are_marked(page):
    marked = re.findall(r'<tr class="marked"><th scope="row">(.*?)</th>', page)
    assert marked == ["lira-online", "the records classified wrongly"]


def test_values_are_escaped_wherever_they_stand():
    worst = attack().slices[0].model_copy(update={"name": EVIL})
    evil = attack("loss", 1.0, slices=(worst,), worst=worst, classes=(worst,))
    column = EncodedColumn(name=EVIL, kind="number", width=1, says=EVIL)
    found = audit(
        **dict.fromkeys(("data", "architecture"), EVIL),
        attacks=(evil,),
        strongest="loss",
        classes=(EVIL,),
        encoding=(column,),
        verdict=(EVIL, EVIL),
        warnings=(EVIL,),
        versions={EVIL: EVIL},
        games=(),
        **dict.fromkeys(("epsilon_upper", "epsilon_lower"), NotApplicable(reason=EVIL)),
    )
    assert "<script" not in audit_page(found)


def test_a_hundred_classes_are_one_picture_of_dots():
    many = attack("loss", 1.0, records=1_000, of=100)
    page = audit_page(audit(attacks=(many,), strongest="loss"))
    assert "each measure from its lowest to its highest" in page
    assert page.count("<use") >= 200


def test_without_bounds_on_epsilon_their_reasons_stand():
    page = audit_page(audit(epsilon_upper=NONE, epsilon_lower=NONE))
    assert page.count("it was not asked for") == 2
    assert "Bounds on epsilon" not in page


def test_a_contradiction_is_warned_of():
    more = LOWER.model_copy(update={"value": 2 * UPPER.substitution})
    assert "cannot show more than is proven" in audit_page(audit(epsilon_lower=more))


def test_one_label_only_attack_is_a_page_too():
    one = attack("label-only", 0.2, worst=NONE, classes=(), slices=())
    page = audit_page(audit(attacks=(one,), strongest="label-only", games=(), encoding=()))
    assert "The worst slice is not known: it was not asked for." in page


def test_the_same_audit_makes_the_same_page(page):
    assert audit_page(audit()) == page


@pytest.mark.nightly
def test_a_page_is_written_where_it_is_asked_for(tmp_path, page):
    write_audit_report(audit(), tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == page
    with pytest.raises(OutputError, match="O002"):
        write_audit_report(audit(), tmp_path / "nowhere" / "audit.html")


def test_a_page_needs_matplotlib(monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011"):
        audit_page(audit())


def test_what_proves_nothing_is_marked():
    """A dead attack, one that a coin alone takes to few false alarms, and what is not told."""
    rates = attack("loss").figures.tpr_at_fpr
    coin = tuple(one.model_copy(update={"randomised": True}) for one in rates)
    counted = attack("loss").figures.model_copy(update={"tpr_at_fpr": coin})
    dead = attack("shokri", degenerate="it gives all records one score")
    page = audit_page(audit(attacks=(attack("loss", figures=counted), dead), strongest="loss"))
    assert "shokri is degenerate: it gives all records one score. Its low figures prove" in page
    assert page.count("\N{DAGGER}") == 3
    assert "only a random choice among them" in page


def test_the_strongest_stands_first_by_the_measure_that_was_asked_for():
    page = audit_page(audit(strongest="label-only", strongest_by="auc"))
    assert "strongest attack by auc" in page
    assert "The strongest, by auc, is marked" in page
    body = page[page.index("The strongest, by auc") :]
    assert body.index('scope="row">label-only') < body.index('scope="row">lira-online')


@pytest.mark.nightly
def test_nothing_is_read_between_bounds_that_contradict(page):
    assert "The true epsilon is between" in page
    more = LOWER.model_copy(update={"value": 2 * UPPER.substitution})
    assert "The true epsilon is between" not in audit_page(audit(epsilon_lower=more))
