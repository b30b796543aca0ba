import numpy as np

from policy_engine.audits.outputs.key_lattices import KeyLattice
from policy_engine.audits.outputs.model import TOTAL
from policy_engine.audits.outputs.nested_keys import found_pairs

# Regions A and B, their districts a1, a2 and b1, and kinds: a1 and b1 are towns.
JOINT = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0]])
REGION, DISTRICT, KIND = range(3)


def lines_of(lattice):
    return sorted((int(line[-1]), line[:-1].tolist()) for line in lattice.dimension.lines)


def test_keys_that_lie_in_others_are_found():
    assert found_pairs(JOINT) == ((DISTRICT, REGION), (DISTRICT, KIND))
    assert found_pairs(JOINT[:2]) == tuple(
        (one, two)
        for one in range(3)
        for two in range(3)
        if one != two and REGION not in (one, two)
    )


def test_a_key_of_one_value_is_not_what_others_lie_in():
    assert found_pairs(np.array([[0, 0], [0, 1]])) == ()


def test_districts_in_regions_are_a_chain():
    joint = JOINT[:, :2]
    lattice = KeyLattice.of([0, 1], found_pairs(joint), joint)
    # Districts are 0 to 2, regions 3 and 4, and 5 is the total.
    assert lattice.dimension.codes == 6
    assert lines_of(lattice) == [(3, [0, 1]), (4, [2]), (5, [3, 4])]


def test_each_row_has_the_code_of_all_that_follows_from_it():
    joint = JOINT[:, :2]
    lattice = KeyLattice.of([0, 1], found_pairs(joint), joint)
    rows = [[0, 1], [TOTAL, 1], [1, TOTAL], [TOTAL, TOTAL], [1, 1], [TOTAL, 3]]
    assert lattice.places(np.array(rows)).tolist() == [1, 1, 4, 5, -1, -1]


def test_districts_of_regions_and_kinds_are_parts_of_both():
    lattice = KeyLattice.of([0, 1, 2], found_pairs(JOINT), JOINT)
    # Of a region and a kind there are three combinations, 3 to 5, each of one district; then come
    # regions, 6 and 7, kinds, 8 and 9, and the total.
    assert lattice.dimension.codes == 11
    expected = [(3, [0]), (4, [1]), (5, [2]), (6, [3, 4]), (7, [5]), (8, [3, 5]), (9, [4])]
    assert lines_of(lattice) == [*expected, (10, [6, 7]), (10, [8, 9])]
