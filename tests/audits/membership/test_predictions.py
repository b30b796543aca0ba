import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.audits.membership.auditing import audit_predictions
from policy_engine.audits.membership.membership_labels import parse_truths
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, LABEL_ANSWERS
from policy_engine.audits.membership.predictions import read_predictions
from policy_engine.audits.membership.settings import Settings
from policy_engine.errors import AuditError, DataError

PROBABILITIES = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
LABELS, MEMBERS = [0, 1, 1, 0], [1, 1, 0, 0]
NAMED = {"label": LABELS, "member": MEMBERS}
BOTH = {"p0": PROBABILITIES[:, 0], "p1": PROBABILITIES[:, 1]}


def read(**columns):
    return read_predictions(pa.table({**NAMED, **columns}))


def softmax(logits):
    raised = np.exp(logits)
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "columns",
    [
        BOTH,
        {"p": PROBABILITIES[:, 1]},
        {"z0": np.log(PROBABILITIES[:, 0]), "z1": np.log(PROBABILITIES[:, 1]) + 0},
        {"0": PROBABILITIES[:, 0], "1": PROBABILITIES[:, 1]},
        {"p1": PROBABILITIES[:, 1], "p0": PROBABILITIES[:, 0]},
    ],
)
def test_probabilities_by_any_names_are_the_same(columns):
    found = read(**columns)
    assert softmax(found.logits) == pytest.approx(PROBABILITIES)
    assert found.labels.tolist() == LABELS
    assert found.is_member.tolist() == [True, True, False, False]
    assert found.gives == CONFIDENCE_ANSWERS


def test_columns_named_otherwise_than_the_labels_are_of_no_class():
    with pytest.raises(
        AuditError, match=r"A002 Labels are of 2 classes, named as their columns. 4 of 4 "
    ):
        read(yes=PROBABILITIES[:, 1], no=PROBABILITIES[:, 0])


@pytest.mark.parametrize(
    ("labels", "classes"),
    [([1, 2, 3], "123"), ([3, 3, 3], "123"), ([2.0, 3.0, 1.0], "123"), ([0, 1, 2], "012")],
)
def test_labels_of_an_array_may_begin_with_one(tmp_path, labels, classes):
    shares = np.full((3, 3), 1 / 3)
    np.savez(tmp_path / "said.npz", probabilities=shares, labels=labels, members=[1, 0, 1])
    found = read_predictions(tmp_path / "said.npz")
    assert found.classes == tuple(classes)
    assert [found.classes[one] for one in found.labels] == [str(int(one)) for one in labels]


def test_labels_that_are_no_classes_are_counted_by_their_kind_and_not_told(tmp_path):
    given = {"probabilities": np.full((4, 2), 0.5), "members": [1, 0, 1, 0]}
    np.savez(tmp_path / "said.npz", labels=["0", "3", "secret", "1.5"], **given)
    with pytest.raises(AuditError) as caught:
        read_predictions(tmp_path / "said.npz")
    assert caught.value.problems[0].message == (
        "Labels are of 2 classes, 0 to 1. 3 of 4 records have another value: 1 different whole "
        "number and 1 different number and 1 different text."
    )


def test_who_is_a_member_is_told_what_may_stand_there():
    with pytest.raises(AuditError) as caught:
        parse_truths(["1.0", " TRUE ", "2", "2", "perhaps", ""], "'trained'")
    assert caught.value.problems[0].message == (
        "'trained' is 1 or 0, true or false, in or out, yes or no, member or non-member, train or "
        "test, whatever the case. 4 of 6 records have another value: 1 different whole number and "
        "1 different text and empty cells."
    )
    assert parse_truths(["Yes", "test", "0.0"], "it").tolist() == [True, False, False]


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_files(tmp_path, kind):
    path = tmp_path / f"said.{kind}"
    if kind == "npz":
        np.savez(path, probabilities=PROBABILITIES, labels=LABELS, members=MEMBERS)
    elif kind == "parquet":
        pq.write_table(pa.table({**NAMED, **BOTH}), path)
    else:
        rows = zip(LABELS, ("in", "True", "out", "0"), PROBABILITIES.tolist(), strict=True)
        lines = [f"{label},{member},{p0},{p1}" for label, member, (p0, p1) in rows]
        path.write_text("\n".join(["label,member,p0,p1", *lines]))
    found = read_predictions(path)
    assert found.digest == read(**BOTH).digest
    assert found.name == path.name


def test_logits_of_an_npz_file(tmp_path):
    path = tmp_path / "said.npz"
    np.savez(path, logits=np.log(PROBABILITIES) - 5, labels=LABELS, members=MEMBERS)
    assert softmax(read_predictions(path).logits) == pytest.approx(PROBABILITIES, rel=1e-5)


def test_labels_alone():
    found = read(predicted=["1", "1", "0", "0"])
    assert found.gives == LABEL_ANSWERS
    assert found.logits.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]


def test_labels_by_name_of_their_column():
    found = read(cat=PROBABILITIES[:, 0], dog=PROBABILITIES[:, 1], label=["cat", "dog"] * 2)
    assert found.classes == ("cat", "dog")
    assert found.labels.tolist() == [0, 1, 0, 1]


def test_other_columns_are_kept_for_slices():
    found = read(**BOTH, sex=["f", "m", "f", "m"])
    assert found.columns["sex"].tolist() == ["f", "m", "f", "m"]


@pytest.mark.parametrize(
    ("p0", "says"),
    [
        ([0.9, 0.2, 0.6, 0.4], "1 of 4 rows do not sum to 1; the first is row 3: 0.4, 0.5"),
        ([0.9, None, 0.6, 0.5], "1 of 4 rows hold a probability that is missing"),
        ([1.9, 0.2, 0.6, -0.5], "2 of 4 rows hold a probability below 0 or above 1"),
        (["high", "low", "low", "low"], "'p0' hold texts"),
    ],
)
def test_what_is_no_probability(p0, says):
    with pytest.raises(AuditError, match="A004") as error:
        read(p0=p0, p1=PROBABILITIES[:, 1])
    assert says in str(error.value)


def test_probabilities_rounded_to_few_digits_are_fine():
    thirds = np.full((4, 3), 0.33)
    found = read(**{f"p{n}": thirds[:, n] for n in range(3)})
    assert len(found.classes) == 3


def test_probabilities_of_many_digits_that_nearly_sum_to_one_are_not():
    off = np.full((4, 3), 0.3333333) + np.array([0, 0, 0.0021])
    with pytest.raises(AuditError, match="do not sum"):
        read(**{f"p{n}": off[:, n] for n in range(3)})


@pytest.mark.parametrize("logit", [np.nan, np.inf])
def test_logits_that_are_no_numbers(logit):
    with pytest.raises(AuditError, match=r"A004.*1 of 4 rows"):
        read(z0=[0, 0, logit, 0], z1=[0.0, 1, 2, 3])


@pytest.mark.parametrize("members", [[1] * 4, [0] * 4, ["maybe", "in", "out", "in"]])
def test_membership_of_no_use(members):
    with pytest.raises(AuditError, match="A011"):
        read(**{**BOTH, "member": members})


def test_labels_beyond_the_classes():
    with pytest.raises(AuditError, match=r"A002 Labels are of 2 classes, 0 to 1. 1 of 4 records"):
        read(**{**BOTH, "label": [0, 1, 2, 0]})


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"label": LABELS, **BOTH}, "no 'member'"),
        (NAMED, "neither probabilities"),
        (BOTH, "no 'label' and no 'member'"),
    ],
)
def test_a_table_that_lacks_a_column(columns, says):
    with pytest.raises(AuditError, match="A004") as error:
        read_predictions(pa.table(columns))
    assert says in str(error.value)


def test_logits_too_large_for_differences_are_refused_and_masks_are_none():
    with pytest.raises(AuditError, match=r"A004 2 of 4 rows hold a logit .* further than 1e.30"):
        read(z0=[1e39, 0.0, -1e39, 2.0], z1=[0.0, 1.0, -2e39, -1e39])
    found = read(z0=[0.0, 1.0, 2.0, 3.0], z1=[-1e39, -np.inf, -3.4e38, 1.0])
    assert np.isfinite(found.logits).all()


def test_a_difference_in_labels_beside_answers_is_warned_of():
    members = np.repeat([1, 0], 100)
    labels = np.where(np.arange(200) % 10 == 0, 1 - members, members)
    source = pa.table({"label": labels, "member": members, "p": np.linspace(0.3, 0.6, 200)})
    report = audit_predictions(read_predictions(source), Settings())
    assert any("differ in their labels (at 5%)" in one for one in report.warnings)


def test_ties_and_a_mixture_are_warned_of():
    found = read(p0=[1.0, 0, 1, 0.5], p1=[0.0, 1, 0, 0.5], member=[1, 0, 0, 0])
    assert "1 member and 3 non-members" in found.warnings[0]
    assert "75% of the records" in found.warnings[1]


def confident(seed=0, members=200, others=200):
    random = np.random.default_rng(seed)
    sure = random.normal(np.repeat([2.0, 0.5], [members, others]), 1)
    labels = random.integers(0, 2, members + others)
    logits = np.where(np.arange(2) == labels[:, None], sure[:, None], 0)
    probabilities = softmax(logits)
    return pa.table(
        {
            "label": labels,
            "member": np.repeat([1, 0], [members, others]),
            "p0": probabilities[:, 0],
            "p1": probabilities[:, 1],
            "city": random.choice(["Rome", "Bonn"], members + others),
        }
    )


ALONE = ("loss", "entropy", "modified-entropy", "label-only")


def test_an_audit_of_predictions_alone():
    found = audit_predictions(
        read_predictions(confident()), Settings(attacks=ALONE, slices=("city",))
    )
    assert [one.attack for one in found.attacks] == list(ALONE)
    # two Gaussians 1.5 apart: the best threshold is right in Phi(.75) = .773 of cases
    loss = found.attack("loss").figures.accuracy
    assert loss.low < 0.773 < loss.high
    assert found.target_train.accuracy > found.target_test.accuracy
    names = {one.name for one in found.attack("loss").slices if one.kind == "column"}
    assert names == {"city = Bonn", "city = Rome"}
    assert (found.features, found.shadow_models, found.records) == (0, 0, 400)
    assert found.verdict[0].startswith("Given a model's answer")


def test_an_audit_of_predictions_gives_the_same_figures_again():
    predictions = read_predictions(confident())
    one, other = (audit_predictions(predictions, Settings(ALONE, seed=3)) for _ in range(2))
    assert one == other


def test_an_audit_of_labels_runs_the_baseline_alone():
    table = confident().select(["label", "member"]).append_column("predicted", [[0, 1] * 200])
    found = audit_predictions(read_predictions(table), Settings(attacks=("label-only",)))
    assert [one.attack for one in found.attacks] == ["label-only"]
    with pytest.raises(AuditError, match=r"A005.*'loss'"):
        audit_predictions(read_predictions(table), Settings(attacks=("loss",)))


def test_attacks_with_shadows_cannot_be_run_on_predictions():
    with pytest.raises(AuditError, match=r"A007.*'rmia'"):
        audit_predictions(read_predictions(confident()), Settings(attacks=("loss", "rmia")))


def test_a_slice_by_an_unknown_column():
    with pytest.raises(DataError, match=r"C005.*Did you mean 'city'"):
        audit_predictions(read_predictions(confident()), Settings(ALONE, slices=("cty",)))


def test_classes_left_out_are_refused():
    table = pa.table({"label": [0, 1] * 4, "member": [0, 1] * 4, "p0": [0.5] * 8, "p2": [0.5] * 8})
    with pytest.raises(AuditError, match=r"A004 .* do not count the classes from 0 on"):
        read_predictions(table)


def test_logits_are_taken_before_probabilities():
    scores = {"p0": [0.5] * 8, "p1": [0.5] * 8, "z0": [0.0] * 8, "z1": [3.0] * 8}
    table = pa.table({"label": [0, 1] * 4, "member": [0, 1] * 4, **scores})
    assert np.ptp(read_predictions(table).logits, axis=1).tolist() == [3.0] * 8


def test_numbers_of_many_digits_in_a_file_are_numbers(tmp_path):
    lines = [f"{n % 2},{n % 2},{1 - 0.1 * 2.441!r},{0.1 * 2.441!r}" for n in range(8)]
    path = tmp_path / "said.csv"
    path.write_text("label,member,p0,p1\n" + "\n".join(lines) + "\n")
    assert read_predictions(path).gives == CONFIDENCE_ANSWERS
