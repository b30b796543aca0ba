import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.audits.membership.splits import ModelCounts, make_splits
from policy_engine.errors import AuditError

LABELS = np.array([0, 1, 1] * 8)


def split(labels=LABELS, disjoint=0, online=0, seed=0, **given_rows):
    classes = tuple(map(str, range(int(labels.max()) + 1)))
    return make_splits(labels, classes, ModelCounts(disjoint, online, seed), **given_rows)


@st.composite
def labelled(draw):
    sizes = draw(st.lists(st.integers(4, 17), min_size=2, max_size=4))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(draw(st.integers(0, 99))).permutation(labels)


@given(labelled(), st.integers(2, 5), st.integers(2, 5), st.integers(0, 9))
@settings(max_examples=examples(40), deadline=None)
def test_sides_are_disjoint_balanced_and_of_one_size(labels, disjoint, online, seed):
    found = split(labels, disjoint, online, seed)
    quotas = np.bincount(labels) // 4
    sides = (found.target_train, found.target_test, *found.shadow_train, *found.shadow_test)
    for rows in (*sides, *found.online_train):
        assert np.bincount(labels[rows], minlength=len(quotas)).tolist() == quotas.tolist()
        assert len(np.unique(rows)) == len(rows)
    judged = set(found.audited.tolist())
    assert len(judged) == 2 * len(found.target_train)
    for train, test in zip(found.shadow_train, found.shadow_test, strict=True):
        assert not set(train.tolist()) & set(test.tolist())
        assert not judged & {*train.tolist(), *test.tolist()}
    assert len(found.shadow_train) == disjoint


@given(labelled(), st.integers(2, 7), st.integers(0, 9))
@settings(max_examples=examples(20), deadline=None)
def test_every_judged_record_is_in_half_of_the_online_shadows(labels, online, seed):
    found = split(labels, 0, online, seed)
    models = online + online % 2
    assert len(found.online_train) == models
    times = np.bincount(np.concatenate(found.online_train), minlength=len(labels))
    assert set(times[found.audited].tolist()) == {models // 2}
    assert times.sum() == models * len(found.target_train)


def test_members_come_first_among_the_judged():
    found = split()
    assert found.is_member.tolist() == [True] * 6 + [False] * 6
    assert found.audited[found.is_member].tolist() == found.target_train.tolist()


def test_one_seed_one_digest():
    assert split(disjoint=3, seed=5).digest == split(disjoint=3, seed=5).digest
    assert split(disjoint=3, seed=5).digest != split(disjoint=3, seed=6).digest


def test_more_shadows_leave_the_first_as_they_were():
    few, many = split(disjoint=2, online=2), split(disjoint=4, online=4)
    assert few.target_train.tolist() == many.target_train.tolist()
    for name in ("shadow_train", "shadow_test", "online_train"):
        for one, other in zip(getattr(few, name), getattr(many, name), strict=False):
            assert one.tolist() == other.tolist()


def test_pools_of_shadows_may_overlap_and_differ():
    first, second = split(np.array([0, 1] * 40), disjoint=2).shadow_train
    assert set(first.tolist()) & set(second.tolist())
    assert first.tolist() != second.tolist()


def test_every_class_too_small_is_named_at_once():
    with pytest.raises(AuditError) as error:
        split(np.array([0] * 3 + [1] * 9 + [2] * 2))
    assert [one.code for one in error.value.problems] == ["A001", "A001"]
    assert "The class '0' has 3 records. It needs 4." in str(error.value)
    assert "The class '2' has 2 records. It needs 4." in str(error.value)


@pytest.mark.parametrize("kind", ["disjoint", "online"])
def test_one_shadow_is_too_few(kind):
    with pytest.raises(AuditError, match="A007"):
        split(**{kind: 1})


def test_given_members_are_the_target_s_and_shadows_have_the_rest():
    members = np.array([0, 1, 2])
    found = split(disjoint=2, members=members)
    assert found.target_train.tolist() == [0, 1, 2]
    for rows in (found.target_test, *found.shadow_train, *found.shadow_test):
        assert np.bincount(LABELS[rows]).tolist() == [1, 2]
        assert not set(rows.tolist()) & {0, 1, 2}
    assert not set(found.target_test.tolist()) & set(np.concatenate(found.shadow_train).tolist())


def test_given_non_members_alone_are_used():
    found = split(members=np.array([0, 1, 2]), non_members=np.array([3, 4, 5]))
    assert found.target_test.tolist() == [3, 4, 5]


def test_too_few_non_members_are_told_class_by_class():
    members, others = np.arange(12), np.arange(12, 24)
    split(members=members, non_members=others)
    with pytest.raises(AuditError) as error:
        split(disjoint=2, members=members, non_members=others)
    assert "The class '0' has 4 records that are not members. It needs 12." in str(error.value)
    assert len(error.value.problems) == 2


@pytest.mark.parametrize(
    ("members", "others", "says"),
    [
        ([], [1], "no members"),
        ([0], [], "nothing to distinguish"),
        ([0, 1], [1, 2], "1 records are given as members"),
        ([0, 99], [1], "0 to 23"),
    ],
)
def test_members_of_no_use(members, others, says):
    with pytest.raises(AuditError, match="A011") as error:
        split(members=np.array(members, int), non_members=np.array(others, int))
    assert says in str(error.value)


@st.composite
def repeated(draw):
    """Draw labels and groups, some of them of several rows, and whole groups as members."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=80, max_size=99))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(draw(st.integers(0, 99))).permutation(len(groups))
    groups = groups[order]
    return groups % 2, groups, np.flatnonzero(groups % 16 < 2)


@given(repeated(), st.integers(0, 9))
@settings(max_examples=examples(30), deadline=None)
def test_a_record_that_repeats_stands_on_one_side_of_every_model(case, seed):
    labels, groups, members = case
    found = split(labels, 2, 2, seed, members=members, groups=groups)
    sides = [
        (found.target_train, found.target_test),
        (found.audited, np.concatenate([*found.shadow_train, *found.shadow_test])),
        *zip(found.shadow_train, found.shadow_test, strict=True),
        found.online_train,
    ]
    for one, other in sides:
        assert not set(groups[one]) & set(groups[other])
    for one, other in [sides[0], *sides[2:-1]]:
        assert np.bincount(labels[one]).tolist() == np.bincount(labels[other]).tolist()
    assert sorted(np.concatenate(found.online_train)) == sorted(found.audited)


def test_records_that_do_not_repeat_are_drawn_as_without_groups():
    rows = np.arange(len(LABELS))
    assert split(disjoint=2, online=2, groups=rows).digest == split(disjoint=2, online=2).digest


def test_shadows_without_enough_different_records_are_an_error():
    labels, groups = np.zeros(100, dtype=int), np.r_[np.arange(50), np.full(50, 50)]
    with pytest.raises(AuditError, match=r"A001 .* has so few distinct records"):
        split(labels, 2, members=np.arange(25), groups=groups)
