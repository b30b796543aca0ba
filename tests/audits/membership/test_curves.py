import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.membership.curves import curve, falling_order, histogram

RECORDS = st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=25)


def of(records):
    scores = np.array([score for score, _ in records], float)
    is_member = np.array([member for _, member in records], bool)
    order = falling_order(scores)
    return curve(scores[order], is_member[order])


BY_HAND = [(9, True), (8, False), (7, True), (7, False), (1, False)]


def test_a_curve_by_hand():
    found = of(BY_HAND)
    assert found.true_positives.tolist() == [0, 1, 1, 2, 2]
    assert found.false_positives.tolist() == [0, 0, 1, 2, 3]
    assert found.area() == 4.5 / 6


def test_between_two_thresholds_a_coin_decides():
    """Of the three others: none, half of the first, the first, half of the second, all."""
    found = [of(BY_HAND).true_positives_at(fpr) for fpr in (0, 1 / 6, 1 / 3, 1 / 2, 2 / 3, 1)]
    assert found == pytest.approx([1, 1, 1, 1.5, 2, 2])


def test_who_gives_all_one_score_finds_as_many_as_he_accuses():
    """4 members and 4 non-members, all tied: a coin that accuses a share finds that share."""
    tied = of([(0, True)] * 4 + [(0, False)] * 4)
    assert [tied.true_positives_at(fpr) / 4 for fpr in (0, 0.001, 0.01, 0.5, 1)] == [
        0,
        0.001,
        0.01,
        0.5,
        1,
    ]


def test_a_rate_that_is_a_whole_number_of_records_is_kept():
    records = [(100 - n, False) for n in range(100)] + [(71.5, True)]
    assert of(records).true_positives_at(0.29) == 1
    assert of(records).true_positives_at(0.28) == 0


def test_equal_scores_are_put_in_an_order_by_draw():
    """Of 2 members and 2 non-members of one score: how many members come before the first other?

    Of the 6 orders 3 begin with an other, 2 with one member before it, 1 with two.
    """
    tied = of([(9, True), (1, True), (1, True), (1, False), (1, False)])
    assert tied.members_before(1).above == 1
    assert tied.members_before(1).shares == pytest.approx([3 / 6, 5 / 6, 1])
    assert tied.members_before(2).shares == pytest.approx([1 / 6, 3 / 6, 1])
    assert tied.members_before(3).most(0.1) == 3
    assert (tied.members_before(1).fewest(0.51), tied.members_before(1).fewest(0.49)) == (2, 1)
    assert (tied.members_before(2).most(0.51), tied.members_before(2).most(0.49)) == (2, 3)


@given(RECORDS, st.integers(1, 25))
def test_without_equal_scores_there_is_one_order(records, others):
    apart = [(score * 100 + place, member) for place, (score, member) in enumerate(records)]
    ranked = of(apart).members_before(others)
    falling = sorted(apart, reverse=True)
    alarms = [place for place, (_, member) in enumerate(falling) if not member]
    end = alarms[others - 1] if others <= len(alarms) else len(falling)
    assert ranked.fewest(0.1) == ranked.most(0.1) == sum(member for _, member in falling[:end])


@pytest.mark.parametrize(
    ("members", "others", "needed"),
    [([1] * 40, [1] * 30 + [0] * 10, True), ([2] * 40, [1] * 30 + [0] * 10, False)],
)
def test_a_rate_that_a_coin_alone_reaches_is_told(members, others, needed):
    """30 of 40 others tie at the top; where all members lie above them no coin is needed."""
    records = [(score, True) for score in members] + [(score, False) for score in others]
    assert of(records).needs_coin(0.01, 3) is needed
    assert not of(records).needs_coin(0.01, 30)
    assert not of([(score, score % 2) for score in range(80)]).needs_coin(0.01, 1)


def test_a_side_without_records_has_an_area_of_a_half():
    assert of([(1, True), (2, True)]).area() == 0.5


@given(RECORDS)
def test_the_area_is_the_share_of_pairs(records):
    inside = [score for score, member in records if member]
    outside = [score for score, member in records if not member]
    pairs = [(a > b) + (a == b) / 2 for a in inside for b in outside]
    assert of(records).area() == pytest.approx(np.mean(pairs) if pairs else 0.5)


@given(RECORDS)
def test_swapping_members_mirrors_the_area(records):
    swapped = [(score, not member) for score, member in records]
    assert of(records).area() == pytest.approx(1 - of(swapped).area())


@given(RECORDS)
def test_a_rising_transform_changes_nothing(records):
    moved = [(np.expm1(score / 3) * 100, member) for score, member in records]
    assert of(records).true_positives.tolist() == of(moved).true_positives.tolist()


@given(RECORDS, st.floats(0, 1))
def test_a_rate_lies_between_the_thresholds_about_it(records, fpr):
    scores, is_member = np.array(records).T
    others = (is_member == 0).sum()
    points = [
        (((scores > bound) & (is_member == 0)).sum(), ((scores > bound) & (is_member == 1)).sum())
        for bound in np.arange(-4.5, 5.5)
    ]
    least = max(hits for alarms, hits in points if alarms <= fpr * others * (1 + 1e-12))
    most = min((hits for alarms, hits in points if alarms > fpr * others), default=least)
    assert least <= of(records).true_positives_at(fpr) <= max(most, least)


def test_a_thinned_curve_is_fine_at_low_rates():
    draw = np.random.default_rng(0)
    is_member = np.arange(40_000) < 20_000
    scores = draw.normal(size=40_000) + 2 * is_member
    order = falling_order(scores)
    whole = curve(scores[order], is_member[order])
    roc = whole.thin()
    fpr, tpr = np.array(roc.fpr), np.array(roc.tpr)
    assert len(fpr) <= 282
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert ((fpr > 0) & (fpr < 0.01)).sum() > 50
    assert np.trapezoid(tpr, fpr) == pytest.approx(whole.area(), abs=2e-3)
    for rate in (0.001, 0.01):
        assert tpr[fpr <= rate].max() <= whole.true_positives_at(rate) / 20_000 + 1e-12


def test_a_short_curve_is_not_thinned():
    roc = of(BY_HAND).thin()
    assert roc.fpr == pytest.approx((0, 0, 1 / 3, 2 / 3, 1))
    assert roc.tpr == (0, 0.5, 0.5, 1, 1)


@pytest.mark.parametrize("scores", [[0, 1] * 300, [3] * 600, [1e30] * 600, [0] * 599 + [1e9]])
def test_a_histogram_has_every_record(scores):
    is_member = np.arange(600) % 3 == 0
    found = histogram(np.array(scores, float), is_member)
    assert len(found.edges) == 41
    assert (np.diff(found.edges) > 0).all()
    assert (sum(found.members), sum(found.non_members)) == (200, 400)


def test_outliers_do_not_flatten_a_histogram():
    scores = np.append(np.random.default_rng(0).normal(size=999), 1e6)
    found = histogram(scores, np.arange(1000) < 500)
    assert found.edges[-1] < 10
    assert found.non_members[-1] >= 1
