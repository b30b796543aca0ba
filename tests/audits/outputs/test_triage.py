"""The queue is ordered by what a look is worth; nothing in it is a verdict."""

from dataclasses import fields

import numpy as np
import pytest

from policy_engine.audits.outputs.output_records import RuleRecord
from policy_engine.audits.outputs.triage import (
    PastDecision,
    QueuePlace,
    TriageSettings,
    learn_triage,
)
from policy_engine.errors import AuditError


def frequency(units, share=0.3, **more):
    more = {"is_confidential": True, "output": 0.5, **more}
    return RuleRecord("FrequencyTable", cell_units=units, percentage_rows=share, **more)


@pytest.fixture(scope="module")
def by_rules():
    """Return what is learnt where nobody has decided anything yet."""
    return learn_triage()


@pytest.fixture(scope="module")
def by_checkers():
    """Return what 600 decisions teach: few units are rejected; checkers differ about 25 to 45."""
    random = np.random.default_rng(5)
    units, limits = random.integers(1, 200, 600), random.integers(25, 46, 600)
    pairs = zip(units.tolist(), (units >= limits).tolist(), strict=True)
    return learn_triage([PastDecision(frequency(n), is_accepted) for n, is_accepted in pairs])


def rejected(triage, record):
    return triage.order([record])[0].rejected_share


@pytest.mark.nightly
def test_without_decisions_it_is_learnt_from_the_rules(by_rules):
    assert "0 decisions" in by_rules.source
    assert "drawn from the fourteen rules" in by_rules.source
    assert rejected(by_rules, frequency(2)) > 0.8
    assert rejected(by_rules, frequency(2000)) < 0.1


def test_decisions_of_checkers_are_learnt_even_where_the_rules_say_otherwise(by_checkers):
    assert by_checkers.source.startswith("600 decisions of checkers (")
    assert rejected(by_checkers, frequency(20)) > 0.8
    assert rejected(by_checkers, frequency(100)) < 0.2
    reasons = " ".join(by_checkers.order([frequency(20)])[0].reasons)
    assert "The rules allow it, but about" in reasons


@pytest.mark.nightly
def test_few_decisions_are_joined_with_drawn_records():
    few = [PastDecision(frequency(5), is_accepted=False)] * 19
    many = [PastDecision(frequency(50), is_accepted=True)] * 500
    assert "drawn from" in learn_triage([*few, *many]).source
    assert "drawn from" not in learn_triage([*few, few[0], *many]).source


def test_doubtful_outputs_stand_before_plain_ones(by_checkers):
    queue = by_checkers.order([frequency(150), frequency(3), frequency(35), frequency(36)])
    assert {place.index for place in queue[:2]} == {2, 3}
    assert sorted(place.index for place in queue) == [0, 1, 2, 3]
    doubts = [place.doubt for place in queue]
    assert doubts == sorted(doubts, reverse=True)


def test_what_is_unlike_all_that_was_decided_stands_first_and_is_named(by_checkers):
    queue = by_checkers.order([frequency(29), frequency(150), RuleRecord("Sonnet")])
    first = queue[0]
    assert (first.index, first.is_novel) == (2, True)
    assert first.doubt == pytest.approx(10 / 11)
    assert "It is unlike all outputs that were decided about before." in first.reasons
    assert "No rule is about outputs of the type 'Sonnet'." in first.reasons
    assert not next(place for place in queue if place.index == 1).is_novel


def test_what_is_like_rejected_outputs_alone_is_novel_but_not_doubtful(by_checkers):
    """Cells of one unit were often decided, and never accepted."""
    [place] = by_checkers.order([frequency(1)])
    assert place.is_novel
    assert "It is unlike the outputs that were accepted before." in place.reasons
    assert place.doubt < 0.2


@pytest.mark.nightly
@pytest.mark.parametrize("weight", [0.5, 1, 100])
def test_a_look_is_worth_the_cheaper_of_two_decisions(weight):
    triage = learn_triage(settings=TriageSettings(unsafe_weight=weight))
    for place in triage.order([frequency(n) for n in (5, 9, 10, 11, 400)]):
        share = place.rejected_share
        assert place.doubt == pytest.approx(min(weight * share, 1 - share))


@pytest.mark.nightly
def test_an_order_has_no_verdict_and_leaves_records_as_they_are(by_rules):
    assert {one.name for one in fields(QueuePlace)} == {
        *("index", "doubt", "rejected_share", "familiar_share", "is_novel", "reasons")
    }
    records = [frequency(5), frequency(500)]
    by_rules.order(records)
    assert records == [frequency(5), frequency(500)]


@pytest.mark.nightly
def test_an_order_is_the_same_again(by_rules):
    records = [frequency(n) for n in (3, 9, 10, 40, 400)] + [RuleRecord("Mode")]
    assert by_rules.order(records) == learn_triage().order(records)
    assert by_rules.order([]) == ()


@pytest.mark.parametrize("settings", [{"unsafe_weight": 0}, {"novelty_share": 1}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(AuditError, match="A025"):
        TriageSettings(**settings)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (frequency(-1), "A003 CellUnits of output 1 is not a finite number of at least 0"),
        (frequency(5, share=1.2), "A003 PercentageRows of output 1 is not between 0 and 1"),
        (frequency(5, output=float("inf")), "A003 Output of output 1 is not a finite number"),
    ],
)
def test_records_that_cannot_be_are_refused(by_rules, record, words):
    with pytest.raises(AuditError, match=words) as raised:
        by_rules.order([record])
    assert "1.2" not in str(raised.value)
