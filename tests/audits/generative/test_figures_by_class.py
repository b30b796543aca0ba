"""The strongest attack within each class: whose members are told best."""

import numpy as np
import pytest

from policy_engine.audits.generative.auditing import audit_generator
from policy_engine.audits.generative.by_class import ClassScores, figures_by_class
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.measuring import attack_figures
from policy_engine.audits.generative.over_models import audit_runs
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.runs import GeneratorRun
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.generative.wording import verdict
from policy_engine.audits.membership.intervals import widen_for
from policy_engine.cli.tables.generative import print_generative
from policy_engine.kernels.estimates import NotApplicable

SETTINGS = GenerativeSettings(draws=50, attacks=("exact-copies",))
COLUMNS = tuple(AuditedColumn(name, is_number=True) for name in "xyz")
CLASSES = ("a", "b", "c")


def labelled(counts, copied):
    """Scores and classes: so many members and others of each, of whom so many members copied."""
    sides = []
    for place, (count, copies) in enumerate(zip(counts, copied, strict=True)):
        scores = np.concatenate([np.ones(copies), np.zeros(2 * count - copies)])
        members = np.arange(2 * count) < count
        sides.append((scores, members, np.full(2 * count, place)))
    scores, members, labels = (np.concatenate(one) for one in zip(*sides, strict=True))
    return ClassScores({"exact-copies": scores}, members, labels, CLASSES)


def figures(one):
    best = attack_figures("exact-copies", one.scores["exact-copies"], one.is_member, SETTINGS, 0)
    return best, figures_by_class(best, [one], 1)


def test_each_class_has_its_own_area_with_an_interval_for_one_of_them():
    one = labelled((100, 100, 100), (0, 20, 100))
    best, by_class = figures(one)
    assert [own.auc.value for own in by_class.classes] == pytest.approx([0.5, 0.6, 1.0])
    own = by_class.figures("b").auc
    raw = one.areas("exact-copies")["b"]
    wide = widen_for(raw, 3)
    assert (own.low, own.high) == pytest.approx((wide.low, wide.high))
    assert own.low < raw.low
    assert best.auc.value == pytest.approx(0.7)
    assert by_class.worst == "c"
    assert by_class.is_worst_shown


def test_no_class_is_worst_where_all_are_alike():
    _, by_class = figures(labelled((100, 100, 100), (50, 52, 55)))
    assert by_class.worst == ""
    assert not by_class.is_worst_shown


def test_classes_with_few_records_are_not_told():
    _, by_class = figures(labelled((100, 9, 10), (20, 9, 5)))
    assert by_class.untold == ("b",)
    assert [own.name for own in by_class.classes] == ["a", "c"]


def test_without_classes_there_is_a_reason():
    one = labelled((50, 50, 50), (1, 1, 1))
    without = ClassScores(one.scores, one.is_member, None, ())
    assert figures(without)[1] == NotApplicable(reason="no label is given")
    same = ClassScores(one.scores, one.is_member, np.zeros(300, int), CLASSES)
    assert figures(same)[1] == NotApplicable(reason="all records are of one class")


def read(seed, copied):
    """Three classes of 60 members and as many others, of whom so many members are copied."""
    random = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 60)
    sides = [random.normal(0, 1, (180, 3)) for _ in range(3)]
    for place, count in enumerate(copied):
        sides[2][60 * place : 60 * place + count] = sides[0][60 * place : 60 * place + count]
    sets = (RecordSet(name, one, labels) for name, one in zip("mhs", sides, strict=True))
    return ReadMaterial(Material(*sets, columns=COLUMNS, classes=CLASSES, seed=seed), {}, ())


def test_the_worst_class_is_named_in_the_verdict_and_the_text(capsys):
    audit, _ = audit_generator(read(1, (0, 0, 50)), SETTINGS)
    assert "Those of the class 'c' are told best: within it, exact-copies ranks" in audit.verdict
    assert "95% interval for one of 3 classes" in audit.verdict
    print_generative(audit)
    assert "exact-copies, class by class" in capsys.readouterr().out


def test_a_class_that_is_told_discloses_where_all_together_do_not():
    one = labelled((2000, 50, 2000), (0, 0, 0))
    scores = np.random.default_rng(1).normal(0, 1, len(one.is_member))
    scores[one.is_member & (one.labels == 1)] += 1.5
    one.scores["exact-copies"] = scores
    best, by_class = figures(one)
    discloses, told = verdict([best], NotApplicable(reason=""), [], "exact-copies", by_class)
    assert best.auc.low < 0.51
    assert by_class.worst == "b"
    assert discloses
    assert told.startswith("Members of one class are told from others. Those of the class 'b' are")
    assert "Members are not told from others by the attack that was made" in told


@pytest.mark.nightly
def test_the_worst_class_of_several_models_has_its_interval_over_them():
    runs = [GeneratorRun(read(seed, (0, 5, 40 + seed)), SETTINGS, str(seed)) for seed in range(4)]
    audit = audit_runs(runs, 4)[0]
    worst = audit.by_class.figures("c")
    assert audit.by_class.worst == "c"
    assert worst.auc.value == pytest.approx(np.mean([0.5 + (40 + one) / 120 for one in range(4)]))
    assert worst.members == 4 * 60
