"""A whole audit of released records: verdicts, reasons, and everything that stops it."""

import numpy as np
import pytest

from policy_engine.audits.generative.auditing import audit_generator
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.result import GrowthPoint
from policy_engine.audits.generative.settings import GenerativeSettings, read_settings
from policy_engine.audits.generative.wording import is_saturated, warnings
from policy_engine.errors import ArgumentError, AuditError, DataError
from policy_engine.kernels.estimates import Estimate, NotApplicable

COLUMNS = tuple(AuditedColumn(name, is_number=True) for name in "xyz")
SETTINGS = GenerativeSettings(draws=50)


def rows(seed, count=300, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 1, (count, 3))


MEMBERS, HOLDOUT, OTHERS = rows(1), rows(2), rows(3)


def audited(synthetic, settings=SETTINGS, reference=None, **changes):
    sides = {"members": MEMBERS, "holdout": HOLDOUT, "synthetic": synthetic, "reference": reference}
    sets = {
        name: RecordSet(name, values)
        for name, values in {**sides, **changes}.items()
        if values is not None
    }
    return audit_generator(ReadMaterial(Material(**sets, columns=COLUMNS), {}, ()), settings)


def test_copies_of_members_are_found():
    audit, evidence = audited(MEMBERS[:150], reference=OTHERS)
    assert audit.discloses
    assert audit.verdict.startswith("Members are told from others.")
    assert "Exact copies: 50.0%" in audit.verdict
    assert audit.attack("exact-copies").auc.value == pytest.approx(0.75)
    assert audit.attack("density-ratio").auc.low > 0.6
    assert audit.copies.holdout.value == 0
    assert {one.risk for one in audit.risks} >= {"linkability"}
    assert evidence.scores.as_csv().startswith("row,member,")


def test_synthetic_records_of_others_disclose_nobody():
    audit, _ = audited(OTHERS)
    assert not audit.discloses
    assert "Members are not told from others" in audit.verdict
    reasons = {one.attack: one.reason for one in audit.not_run}
    assert "no reference records" in reasons["density-ratio"]
    assert "No columns are named as secret".lower() in reasons["inference"].lower()
    assert isinstance(audit.reference, NotApplicable)


def test_only_the_attacks_asked_for_are_made():
    audit, _ = audited(OTHERS, read_settings(["exact-copies"], 1, None, allow_shift=False))
    assert [one.attack for one in audit.attacks] == ["exact-copies"]
    assert not audit.risks
    assert not audit.growth


def test_a_negative_seed_is_refused():
    sets = (RecordSet("", one) for one in (MEMBERS, HOLDOUT, OTHERS))
    material = Material(*sets, columns=COLUMNS, seed=-1)
    with pytest.raises(ArgumentError, match="A seed is not negative") as caught:
        audit_generator(ReadMaterial(material, {}, ()), SETTINGS)
    assert caught.value.code == "U002"


def test_a_shift_of_classes_is_refused_and_named():
    labels = {"members": np.arange(300) % 20 > 0, "holdout": np.arange(300) % 20 == 0}
    sets = {
        name: RecordSet(name, rows(seed), labels.get(name, np.arange(300) % 2).astype(int))
        for seed, name in enumerate(("members", "holdout", "synthetic"))
    }
    material = Material(**sets, columns=COLUMNS, classes=("a", "b"))
    with pytest.raises(AuditError, match="The label alone tells them apart") as caught:
        audit_generator(ReadMaterial(material, {}, ()), SETTINGS)
    assert caught.value.code == "A029"


def test_the_same_seed_gives_the_same_audit():
    assert audited(MEMBERS[:50])[0] == audited(MEMBERS[:50])[0]


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"holdout": rows(2, shift=1.0)}, "A029", "two distributions"),
        ({"holdout": MEMBERS}, "A030", "equal to a member"),
        ({"reference": MEMBERS[:100]}, "A030", "references"),
        ({"holdout": HOLDOUT[:9]}, "A031", "9 records"),
    ],
)
def test_records_that_would_measure_something_else_stop_it(changes, code, told):
    with pytest.raises(AuditError, match=told) as error:
        audited(OTHERS, **changes)
    assert error.value.problems[0].code == code


def test_a_shift_may_be_allowed_and_is_told():
    settings = GenerativeSettings(draws=50, allow_shift=True)
    audit, _ = audited(OTHERS, settings, holdout=rows(2, shift=1.0))
    assert any("not quite of one distribution" in one for one in audit.warnings)


@pytest.mark.parametrize(
    ("attacks", "samples", "seconds", "code"),
    [(["nearest-sampel"], 1, None, "A012"), ([], 0, None, "A033"), ([], 1, float("nan"), "A033")],
)
def test_settings_that_nothing_can_be_made_of_are_refused(attacks, samples, seconds, code):
    with pytest.raises(AuditError, match=code):
        read_settings(attacks, samples, seconds, allow_shift=False)


def test_what_is_promised_of_epsilon_is_told_beside_what_attacks_show():
    settings = read_settings([], 1, None, allow_shift=False, promised=(0.1, 0.0))
    audit, _ = audited(MEMBERS, settings)
    [first, second] = [one for one in audit.warnings if "romise" in one]
    assert first.startswith("Promised is an epsilon of 0.1 for a person more or less, and so 0.2")
    assert "That is more than is promised" in second
    assert audit.epsilon_lower.value > 0.2
    audit, _ = audited(OTHERS, settings)
    assert not any("That is more" in one for one in audit.warnings)
    assert audited(OTHERS)[0].promised.reason == "no epsilon is promised"


def test_copies_that_no_score_tells_are_disclosed_all_the_same():
    from policy_engine.audits.generative.auditing import _figures
    from policy_engine.audits.generative.result import Copies
    from policy_engine.audits.generative.scoring import Scored
    from policy_engine.audits.generative.wording import strongest_of, verdict
    from policy_engine.kernels.estimates import Estimate

    material = Material(RecordSet("m", MEMBERS), RecordSet("h", HOLDOUT), columns=COLUMNS)
    noise = np.random.default_rng(0).random(600)
    attacks = [_figures(Scored("nearest-sample", scores=noise), material, SETTINGS)]
    excess = Estimate(value=0.1, low=0.05, high=0.2)
    copies = Copies(members=excess, holdout=excess, excess=excess)
    none = NotApplicable(reason="no label is given")
    discloses, told = verdict(attacks, copies, [], strongest_of(attacks), none)
    assert discloses
    assert told.startswith("Something is disclosed of members. Exact copies: 10.0%")
    assert "Members are not told" not in told
    assert verdict([], copies, [], "", none) == (
        False,
        "No attack could be made, so nothing is shown.",
    )


def test_an_attack_the_other_way_round_is_the_strongest():
    audit, _ = audited(HOLDOUT, reference=OTHERS)
    assert audit.discloses
    assert audit.attack(audit.strongest).auc.value < 0.1
    assert "may be swapped" in audit.verdict


def test_what_is_not_installed_is_said(monkeypatch):
    home = "policy_engine.audits.membership.learners.scikit"
    monkeypatch.setattr(f"{home}.find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011 The package scikit-learn is not installed"):
        audited(OTHERS)


@pytest.mark.parametrize(
    ("counts", "is_more"), [([30_000, 40_000], False), ([10_000, 30_000, 40_000], True)]
)
def test_what_was_gained_is_that_of_a_tripling(counts, is_more):
    """From 30,000 samples to 40,000 is none, whatever was gained."""
    growth = [GrowthPoint(samples=one, single=one / 1e5, auc=0.6) for one in counts]
    told = [*warnings(Estimate(value=0.5, low=0.4, high=0.6), growth, resamples=True, fewest=999)]
    assert any("The last tripling" in one for one in told) == is_more
    assert is_saturated(growth) is (False if is_more else None)
