"""A whole audit of released records: verdicts, reasons, and everything that stops it."""

import numpy as np
import pytest

from policy_engine.audits.generative.auditing import audit_generator
from policy_engine.audits.generative.by_class import ClassScores
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.result import GrowthPoint
from policy_engine.audits.generative.settings import (
    OF_ANY_CLASS,
    GenerativeSettings,
    read_settings,
)
from policy_engine.audits.generative.shift import MOST_SHIFT, measured_shift
from policy_engine.audits.generative.wording import is_saturated, person_words, warnings
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


@pytest.mark.nightly
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


def labelled(synthetic, labels, settings=SETTINGS, model=None, **form):
    """Return an audit of records of two classes, of tables or of arrays of three features."""
    halves = np.arange(300) % 2
    sides = {"members": (MEMBERS, halves), "holdout": (HOLDOUT, halves)}
    if synthetic is not None:
        sides["synthetic"] = synthetic, labels
    sets = {name: RecordSet(name, *one) for name, one in sides.items()}
    material = Material(**sets, classes=("a", "b"), model=model, **form)
    return audit_generator(ReadMaterial(material, {}, ()), settings)[0]


FORMS = [{"columns": COLUMNS}, {"shape": (3,)}]


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_copies_of_members_under_other_labels_are_found(form):
    audit = labelled(MEMBERS, 1 - np.arange(300) % 2, **form)
    assert audit.discloses
    assert "100.0%" in audit.verdict
    assert "under any label" in audit.verdict
    for name in ("exact-copies-any-class", "nearest-sample-any-class"):
        assert audit.attack(name).auc.value == 1
    assert audit.attack("exact-copies").auc.value == 0.5
    assert audit.copies.any_class


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_copies_under_their_labels_are_told_as_such(form):
    audit = labelled(MEMBERS, np.arange(300) % 2, **form)
    assert not audit.copies.any_class
    assert "as they are" in audit.verdict
    audit = labelled(OTHERS, np.arange(300) % 2, **form)
    assert not audit.discloses
    assert not audit.copies.any_class


class Mislabelled:
    """A model that samples members, each under the other label."""

    def sample(self, n, *, label=None, seed):
        own = MEMBERS[np.arange(300) % 2 != label]
        return own[np.random.default_rng(seed).integers(len(own), size=n)]


@pytest.mark.nightly
def test_a_model_that_samples_members_under_other_labels_is_found():
    settings = GenerativeSettings(draws=50, samples=3_000)
    audit = labelled(None, None, settings, Mislabelled(), shape=(3,))
    assert audit.discloses
    assert audit.attack("nearest-sample-any-class").auc.value > 0.99
    assert audit.attack("nearest-sample").auc.value < 0.6


@pytest.mark.nightly
@pytest.mark.parametrize("name", OF_ANY_CLASS)
def test_without_classes_no_attack_looks_across_them(name):
    assert not {one.attack for one in audited(OTHERS)[0].not_run} & {*OF_ANY_CLASS}
    asked = read_settings([name], 1, None, allow_shift=False)
    [missing, *_] = audited(OTHERS, asked)[0].not_run
    assert (missing.attack, missing.reason) == (name, "the records are not of several classes")


@pytest.mark.nightly
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


@pytest.mark.nightly
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


@pytest.mark.nightly
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


@pytest.mark.nightly
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


def ranked(**scores):
    """Attacks by the scores of members and of the holdout, and what is said of them."""
    from policy_engine.audits.generative.auditing import _figures
    from policy_engine.audits.generative.scoring import Scored
    from policy_engine.audits.generative.wording import strongest_of, verdict

    material = Material(RecordSet("m", MEMBERS), RecordSet("h", HOLDOUT), columns=COLUMNS)
    scored = [Scored(name.replace("_", "-"), scores=one) for name, one in scores.items()]
    attacks = [_figures(one, material, SETTINGS) for one in scored]
    none = NotApplicable(reason="no")
    return strongest_of(attacks), verdict(attacks, none, [], strongest_of(attacks), none)[1]


NOISE = np.random.default_rng(3).random((2, 600))


def test_the_strongest_attack_is_one_that_is_shown():
    """Few members are found for sure; more pairs are ranked well by chance."""
    few, half = np.zeros(600), np.linspace(0, 1, 600) % 0.5
    few[:40] = 1
    half[:300] += 0.03
    strongest, told = ranked(exact_copies=few, rare_values=half)
    assert strongest == "exact-copies"
    assert told.startswith("Members are told from others. The strongest attack, exact-copies")


def test_an_attack_the_other_way_round_is_told_first_whatever_others_reach():
    near, far = NOISE + np.where(np.arange(600) < 300, [[0.8], [-0.1]], 0)
    strongest, told = ranked(nearest_sample=near, exact_copies=far)
    assert strongest == "nearest-sample"
    assert told.startswith("Members and holdout are told apart, the other way round. By the attack")
    assert "exact-copies" in told
    assert "But by the attack nearest-sample, a member ranks above" in told


@pytest.mark.nightly
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


# -- persons with several records -----------------------------------------------------------------


def by_persons(synthetic, holdout=None):
    """Audit records of whom each person has three."""
    persons = np.arange(300) // 3
    sets = {
        "members": RecordSet("members", MEMBERS, persons=persons),
        "holdout": RecordSet(
            "holdout", HOLDOUT, persons=300 + persons if holdout is None else holdout
        ),
        "synthetic": RecordSet("synthetic", synthetic),
    }
    material = Material(**sets, columns=COLUMNS, unit="who")
    return audit_generator(ReadMaterial(material, {}, ()), SETTINGS)


@pytest.mark.nightly
def test_a_person_is_found_by_any_record():
    audit, evidence = by_persons(MEMBERS[::3])
    assert audit.copies.members.value == 1
    assert audit.copies.holdout.value == 0
    assert (audit.members.records, audit.members.persons, audit.holdout.persons) == (300, 100, 100)
    assert len(evidence.scores.rows) == 600  # what is written for the owner is of records
    alone, _ = audited(MEMBERS[::3])
    assert alone.copies.members.value == pytest.approx(1 / 3)
    assert isinstance(alone.members.persons, NotApplicable)
    assert audit.attack("exact-copies").auc.value == 1


@pytest.mark.nightly
def test_intervals_are_of_persons():
    audit, _ = by_persons(OTHERS)
    alone, _ = audited(OTHERS)
    widths = [
        one.attack("nearest-sample").auc.high - one.attack("nearest-sample").auc.low
        for one in (audit, alone)
    ]
    assert widths[0] > 1.5 * widths[1]
    assert audit.attack("nearest-sample").set_evidence.records == 100
    assert audit.epsilon_lower.pairs < alone.epsilon_lower.pairs / 2
    assert "Only 100 persons on one side" in " ".join(audit.warnings)
    [sentence] = person_words(audit)
    assert "100 persons with 300 records are members, and 100 persons with 300" in sentence
    assert not [*person_words(alone)]


def test_persons_whose_records_go_together_are_no_shift():
    """Each person has one place, so that records of the others tell to which side it belongs."""
    places = np.repeat(np.random.default_rng(5).normal(size=(200, 3)), 10, axis=0)
    values = places + np.random.default_rng(6).normal(0, 0.01, places.shape)
    persons = np.arange(2000) // 10
    sides = [
        RecordSet(name, values[part], persons=persons[part])
        for name, part in (("members", slice(1000)), ("holdout", slice(1000, 2000)))
    ]
    material = Material(*sides, RecordSet("synthetic", OTHERS), columns=COLUMNS, unit="who")
    assert measured_shift(material).low < 0.5
    plain = [RecordSet(one.name, one.values) for one in sides]
    alone = Material(*plain, RecordSet("synthetic", OTHERS), columns=COLUMNS)
    assert measured_shift(alone).low > MOST_SHIFT


def test_nobody_is_on_both_sides():
    with pytest.raises(AuditError, match="50 persons of those who are of the holdout are") as error:
        by_persons(OTHERS, holdout=50 + np.arange(300) // 3)
    assert error.value.problems[0].code == "A030"


def test_a_person_counts_once_in_each_class():
    labels = np.arange(300) % 3 % 2  # two records of each person are of the first class
    sides = [
        RecordSet(name, values, labels, first + np.arange(300) // 3)
        for name, values, first in (("members", MEMBERS, 0), ("holdout", HOLDOUT, 100))
    ]
    made = RecordSet("synthetic", MEMBERS[::3], labels[::3])
    material = Material(*sides, made, columns=COLUMNS, classes=("a", "b"), unit="who")
    scores = np.arange(600.0)
    one = ClassScores.of(material, {"x": scores})
    assert [(name, members, others) for name, _, members, others in one.counts()] == [
        ("a", 100, 100),
        ("b", 100, 100),
    ]
    assert one.scores["x"][0] == 2  # the greater of the records 0 and 2
