"""Of how many persons it is told that they have something, by how many they are and their rows."""

from itertools import combinations

import numpy as np
import pytest

from policy_engine.kernels.output_checks.person_choices import PersonChoices, may_have_all


def told_by_ends(sizes, chosen, rows, *, is_whole):
    """Return whether a person is in all choices whose rows may be so many, or in none, by how many
    these are at least and at most."""
    ends = [
        ({*some}, sum(sizes[one] if is_whole else 1 for one in some), sum(sizes[[*some]]))
        for some in combinations(range(len(sizes)), chosen)
    ]

    def is_possible(person, *, is_in):
        own = [(least, most) for some, least, most in ends if (person in some) is is_in]
        return min(least for least, _ in own) <= rows <= max(most for _, most in own)

    both = [(person, is_in) for person in range(len(sizes)) for is_in in (True, False)]
    return not all(is_possible(person, is_in=is_in) for person, is_in in both)


@pytest.mark.parametrize(("rows", "is_told"), [(27, True), (24, True), (23, False), (11, False)])
def test_eleven_persons_in_27_rows_are_those_with_most(rows, is_told):
    """Four of 23 have five rows each, and all others have one: 11 have 27 rows at most, and 23
    without one of the four."""
    assert PersonChoices(np.array([5] * 4 + [1] * 19), 11, rows).tell_of(3) is is_told


@pytest.mark.parametrize(("rows", "is_told"), [(11, True), (14, True), (15, False), (23, False)])
def test_who_has_all_rows_or_none_is_none_of_those_with_few(rows, is_told):
    """With one of those who have five rows, eleven persons have 15 at least."""
    sizes = np.array([5] * 4 + [1] * 19)
    assert PersonChoices(sizes, 11, rows, is_whole=True).tell_of(1) is is_told
    assert not PersonChoices(sizes, 11, rows).tell_of(1)


@pytest.mark.parametrize(("least", "is_told"), [(1, False), (2, False), (3, True)])
def test_as_many_others_as_are_enough_may_be_in_the_place_of_those_with_most(least, is_told):
    """Eight persons have 24 rows at most, 22 or 20 where one or two others are of them, not 18."""
    sizes = np.array([3] * 8 + [1] * 20)
    assert PersonChoices(sizes, 8, 20, is_whole=False).tell_of(least) is is_told


@pytest.mark.parametrize("chosen", [0, 5])
def test_that_all_or_nobody_has_it_says_no_more_with_the_rows(chosen):
    assert not PersonChoices(np.array([4, 3, 2, 1, 1]), chosen, 11).tell_of(3)


@pytest.mark.parametrize("seed", range(40))
def test_whoever_is_in_all_choices_or_in_none_is_told_of(seed):
    draws = np.random.default_rng(seed)
    sizes = draws.integers(1, draws.choice([3, 6]), draws.integers(4, 10))
    chosen = int(draws.integers(1, len(sizes)))
    own = draws.permutation(sizes)[:chosen]
    for is_whole in (False, True):
        rows = int(own.sum() if is_whole else draws.integers(chosen, own.sum() + 1))
        choices = PersonChoices(sizes, chosen, rows, is_whole=is_whole)
        assert choices.tell_of(1) is told_by_ends(sizes, chosen, rows, is_whole=is_whole)


@pytest.mark.parametrize(("rows", "others", "may"), [(9, 0, True), (8, 0, False), (9, 1, False)])
def test_the_two_with_most_may_have_all_of_theirs_and_others_one_each(rows, others, may):
    assert may_have_all(np.array([1, 5, 4, 2]), rows, others) is may
