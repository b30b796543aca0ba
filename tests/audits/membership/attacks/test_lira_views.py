import numpy as np
import pytest
from attack_evidence import evidence

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.audits.membership.observations import (
    CONFIDENCE_ANSWERS,
    VIEWS,
    Evidence,
    Observations,
    Shadow,
    Views,
)
from policy_engine.errors import AuditError

STRENGTHS = (0.05, 0.05, 0.1, 0.1, 0.8)


def seen(margins, views):
    """What a model of two classes says of records of class 0, of which these are the margins."""

    def logits(rows):
        return np.stack([rows, np.zeros_like(rows)], axis=-1).astype(np.float32)

    views = Views(logits(np.asarray(views, float)), STRENGTHS)
    margins = logits(np.asarray(margins, float))
    return Observations(margins, np.zeros(len(margins), int), CONFIDENCE_ANSWERS | {VIEWS}, views)


def test_the_score_is_of_the_mean_over_the_weakly_disturbed_views():
    """Means 3; 0 and 2, a deviation of sqrt 2; the strong view does not count."""
    target = seen([1], [[2], [3], [4], [5], [-99]])
    others = (seen([0], [[0]] * 4 + [[50]]), seen([2], [[2]] * 4 + [[50]]))
    shadows = tuple(Shadow(one, np.array([True]), one) for one in others)
    judgement = attack_of("lira-views").judge(Evidence(target, shadows, (), 0))
    assert judgement.scores == pytest.approx([2 / np.sqrt(2)])
    assert judgement.threshold is None


def test_several_views_tell_more_than_one():
    draw = np.random.default_rng(8)
    is_member = np.arange(600) < 300

    def said(seen_too):
        hard = np.zeros(600) + seen_too
        return seen(hard + draw.normal(size=600), hard + draw.normal(size=(5, 600)))

    others = [said(np.zeros(600)) for _ in range(6)]
    shadows = tuple(Shadow(one, is_member, one) for one in others)
    given = Evidence(said(is_member), shadows, (), 0)
    one, several = (
        auc(attack_of(name).judge(given).scores, is_member).value
        for name in ("lira-offline", "lira-views")
    )
    assert several > one + 0.1


def test_without_views_there_is_nothing_to_average():
    with pytest.raises(AuditError) as raised:
        attack_of("lira-views").judge(evidence([1, 2]))
    assert [problem.code for problem in raised.value.problems] == ["A005", "A007"]
