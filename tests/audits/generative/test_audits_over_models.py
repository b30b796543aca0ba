"""Audits of several models are one, with intervals over models."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.over_models import audit_over_models, audit_runs
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.result import AttackOverModels, OmittedAttack
from policy_engine.audits.generative.runs import (
    GeneratorRun,
    check_apart,
    fingerprints,
    share_records,
)
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.generative.wording import limits, set_words, tells_members
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable

COLUMNS = tuple(AuditedColumn(name, is_number=True) for name in "xyz")
SETTINGS = GenerativeSettings(draws=50, attacks=("exact-copies", "nearest-sample"))


def rows(seed, count=200):
    return np.random.default_rng(seed).normal(0, 1, (count, 3))


def run(seed, copied, members=None, holdout=None):
    """A generator that copies so many members, and makes up as many other rows."""
    members = rows([seed, 1]) if members is None else members
    holdout = rows([seed, 2]) if holdout is None else holdout
    released = np.concatenate([members[:copied], rows([seed, 3], 200 - copied)])
    sets = zip(("members", "holdout", "released"), (members, holdout, released), strict=True)
    material = Material(
        *(RecordSet(name, values) for name, values in sets), columns=COLUMNS, seed=seed
    )
    return GeneratorRun(ReadMaterial(material, {}, ()), SETTINGS, str((seed, copied)))


def audited(*runs):
    return audit_runs(runs, len(runs))[0]


@pytest.mark.nightly
def test_the_headline_is_the_mean_with_students_interval_over_models():
    audit = audited(run(1, 100), run(2, 120), run(3, 160))
    attack = audit.attack("exact-copies")
    areas = [0.75, 0.8, 0.9]  # half of the copies are above all others, the rest tie with them
    assert attack.over_models.auc.values == pytest.approx(areas)
    assert attack.auc.value == pytest.approx(np.mean(areas))
    half = stats.t.ppf(0.975, 2) * np.std(areas, ddof=1) / np.sqrt(3)
    assert attack.auc.low == pytest.approx(np.mean(areas) - half)
    assert attack.auc.high == pytest.approx(min(np.mean(areas) + half, 1))
    assert attack.games.models == attack.over_models.models == 3
    assert attack.games.set.value == pytest.approx(attack.over_models.set.mean)
    assert "(95% interval over 3 models" in audit.verdict
    assert len(audit.models) == 3
    assert "3 fits" in limits(audit)[1]


def test_one_model_has_no_figures_over_models():
    audit = audited(run(1, 100))
    reason = audit.attack("exact-copies").over_models
    assert reason == NotApplicable(reason="it was made on one model")
    assert audit.models == ()
    assert "over" not in set_words(audit.attack("exact-copies"))


@pytest.mark.nightly
def test_two_models_that_are_alike_by_chance_have_the_interval_of_their_records():
    """Both copy half, so the areas are equal, and Student's interval has no width."""
    audit = audited(run(1, 100), run(2, 100))
    over = audit.attack("exact-copies").over_models
    assert over.auc.deviation == 0
    alone = audited(run(1, 100)).attack("exact-copies").auc
    assert over.auc.mean - over.auc.low == pytest.approx((alone.value - alone.low) / 2**0.5)


@pytest.mark.nightly
def test_a_model_that_discloses_is_not_hidden_by_others_that_do_not():
    audit = audited(run(1, 0), run(2, 200))
    attack = audit.attack("exact-copies")
    assert attack.auc.low < 0.5
    assert attack.over_models.shown_on == 1
    assert tells_members(attack, 2)
    assert audit.discloses
    assert "By itself, that is shown on 1 of the 2 models." in audit.verdict
    assert audit.copies.members.value == 1  # those of the model that has most


@pytest.mark.nightly
def test_models_without_members_disclose_nobody():
    audit = audited(*(run(seed, 0) for seed in range(4)))
    assert not audit.discloses
    assert "Members are not told from others" in audit.verdict


@pytest.mark.nightly
def test_models_that_are_the_other_way_round_are_told():
    swapped = []
    for one in (run(1, 150), run(2, 150)):
        was = one.read.material
        material = replace(was, members=was.holdout, holdout=was.members)
        swapped.append(replace(one, read=replace(one.read, material=material)))
    audit = audited(*swapped)
    assert audit.attack("exact-copies").over_models.inverted_on == 2
    assert "the other way round" in audit.verdict


@pytest.mark.nightly
def test_an_attack_that_some_models_do_not_allow_is_kept_and_told():
    both, only = audited(run(1, 100)), audited(run(2, 100))
    fewer = only.model_copy(
        update={"attacks": tuple(one for one in only.attacks if one.attack != "exact-copies")}
    )
    omitted = OmittedAttack(attack="exact-copies", reason="x")
    fewer = fewer.model_copy(update={"not_run": (omitted,)})
    audit = audit_over_models([both, fewer])
    assert not isinstance(audit.attack("exact-copies").over_models, AttackOverModels)
    told = {one.attack: one.reason for one in audit.not_run}
    assert told["exact-copies"] == "it was made on 1 of 2 models alone: x"


def test_a_model_is_not_counted_twice():
    check_apart(["a", "b"])
    with pytest.raises(AuditError, match="A034 The models 1 and 3 release, or draw, the same"):
        check_apart(["a", "b", "a"])
    with pytest.raises(AuditError, match="A034"):
        audited(run(1, 0), run(1, 0))


@pytest.mark.nightly
def test_models_of_the_same_members_have_the_spread_of_records_as_well():
    """Who is a member was drawn once: what that draw does is in every model alike."""
    members, holdout = rows(1), rows(2)
    shared = [run(seed, 100, members, holdout) for seed in (1, 2)]
    apart = [run(seed, 100) for seed in (1, 2)]
    sides = [[fingerprints(one.read.material) for one in runs] for runs in (shared, apart)]
    assert [share_records(one) for one in sides] == [True, False]
    wide = audited(*shared).attack("nearest-sample").over_models.auc
    half = stats.t.ppf(0.975, 1) * wide.deviation / np.sqrt(2)
    assert wide.mean - wide.low > half


def test_halves_that_are_drawn_anew_share_no_more_than_chance():
    pool = rows(5, 400)
    sides = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(400)
        sides.append(fingerprints(run(seed, 0, pool[order[:200]], pool[order[200:]]).read.material))
    assert not share_records(sides)


def of_visits(seed, persons, first=None):
    """The material of 60 persons of a side with three visits each, drawn anew by the seed."""
    values = rows(seed, 360) if first is None else np.concatenate([first, rows(seed, 300)])
    sides = zip(("members", "holdout"), np.split(values, 2), np.split(persons, 2), strict=True)
    return Material(*(RecordSet(name, own, persons=ids) for name, own, ids in sides))


def test_models_of_the_same_persons_share_them_by_whatever_records():
    persons = np.arange(360) // 3
    others = [np.random.default_rng(seed).permutation(120)[persons] for seed in (1, 2)]
    shared = [fingerprints(of_visits(seed, persons)) for seed in (1, 2)]
    apart = [fingerprints(of_visits(seed, one)) for seed, one in enumerate(others)]
    assert [share_records(one) for one in (shared, apart)] == [True, False]


def test_models_of_persons_with_other_names_share_their_records():
    persons = np.arange(360) // 3
    sides = [fingerprints(of_visits(seed, persons + 1_000 * seed, rows(9, 60))) for seed in (1, 2)]
    assert share_records(sides)


def test_fingerprints_do_not_follow_codes():
    numbers = [1.0, np.nan, -0.0]
    one, other = (
        fingerprints(
            Material(
                RecordSet("members", np.column_stack([numbers, codes])),
                RecordSet("holdout", np.zeros((0, 2))),
                columns=(
                    AuditedColumn("x", is_number=True),
                    AuditedColumn("y", is_number=False, texts=texts),
                ),
            )
        )[0].records.tolist()
        for codes, texts in (([0, 1, -1], ("a", "b")), ([1, 2, -1], ("A", "a", "b")))
    )
    assert one == other
    assert len(set(one)) == 3
