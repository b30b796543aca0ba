import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import InternalError
from policy_engine.kernels import diversity
from policy_engine.kernels.diversity import ValueHierarchy, histogram

MEASURES = (
    diversity.distinct,
    diversity.entropy,
    lambda h: diversity.recursive(h, 2),
    diversity.most_frequent,
    diversity.variational,
    diversity.ordered,
    diversity.beta,
    diversity.enhanced_beta,
    diversity.delta,
)


def of(class_of, codes, persons=None, count=None):
    count = max(class_of, default=-1) + 1 if count is None else count
    persons = None if persons is None else np.array(persons, dtype=np.int64)
    codes = np.array(codes, dtype=np.int32)
    return histogram(np.array(class_of, dtype=np.int64), count, codes, persons)


def one_class(*counts, rest=()):
    """Class 0 with so many rows of each value; class 1 with the rest of the table."""
    codes = [code for code, rows in enumerate(counts) for _ in range(rows)]
    others = [code for code, rows in enumerate(rest) for _ in range(rows)]
    return of([0] * len(codes) + [1] * len(others), codes + others)


# The histogram


def test_histogram_counts_each_value_of_each_class_in_order():
    found = of([1, 0, 1, 1, 0], [4, 2, 0, 4, 2])
    assert found.starts.tolist() == [0, 1, 3]
    assert found.values.tolist() == [2, 0, 4]
    assert found.counts.tolist() == [2, 1, 2]
    assert found.members.tolist() == [2, 3]
    assert found.overall.tolist() == [1, 0, 2, 0, 2]


def test_histogram_takes_a_missing_value_for_no_value():
    found = of([0, 0, 1, 2, 2], [1, -1, -1, -1, 0])
    assert found.starts.tolist() == [0, 1, 1, 2]
    assert found.members.tolist() == [1, 0, 1]
    assert found.overall.tolist() == [1, 1]


def test_histogram_has_the_types_it_promises():
    found = of([0, 1, 1], [0, 1, 0], [0, 1, 2])
    arrays = (found.starts, found.values, found.counts, found.members, found.overall)
    assert [array.dtype.name for array in arrays] == ["int64", "int32", "int64", "int64", "int64"]


def test_histogram_counts_a_person_once_for_each_value():
    found = of([0, 0, 0, 1, 1], [0, 0, 1, 0, 0], persons=[7, 7, 7, 7, 8])
    assert found.counts.tolist() == [1, 1, 2]
    assert found.members.tolist() == [1, 2]
    assert found.overall.tolist() == [2, 1]


def test_histogram_stays_exact_where_person_numbers_are_huge():
    huge = [2**62, 2**62, 2**62 - 1, 2**62]
    found = of([3, 3, 3, 0], [1, 1, 1, 0], huge)
    assert found.counts.tolist() == [1, 2]
    assert found.members.tolist() == [1, 0, 0, 2]


def test_histogram_counts_a_person_with_a_huge_number_in_each_class():
    found = of([0, 1], [0, 0], [2**62, 2**62])
    assert found.counts.tolist() == found.members.tolist() == [1, 1]
    assert found.overall.tolist() == [1]


def test_histogram_of_persons_with_one_row_each_is_that_of_the_rows():
    rows, persons = of([0, 1, 0, 1], [0, 1, 1, 1]), of([0, 1, 0, 1], [0, 1, 1, 1], [3, 1, 0, 2])
    for name in ("starts", "values", "counts", "members", "overall"):
        assert getattr(rows, name).tolist() == getattr(persons, name).tolist()


# The measures, by hand


@pytest.mark.parametrize(
    ("counts", "distinct", "entropy", "most_frequent"),
    [
        ((5,), 1, 1.0, 1.0),
        ((1, 1, 1), 3, 3.0, 1 / 3),
        ((7, 7, 7, 7, 7, 7, 7), 7, 7.0, 1 / 7),
        ((2, 1, 1), 3, 4 / math.sqrt(2), 0.5),
        ((4, 1, 1, 1, 1), 5, 4.0, 0.5),
    ],
)
def test_diversities_of_a_class(counts, distinct, entropy, most_frequent):
    found = one_class(*counts)
    assert diversity.distinct(found).tolist() == [distinct]
    assert diversity.entropy(found) == pytest.approx([entropy], rel=1e-14)
    assert diversity.most_frequent(found).tolist() == [most_frequent]


def test_entropy_of_equally_frequent_values_is_their_number_exactly():
    for values in range(1, 60):
        assert diversity.entropy(one_class(*[3] * values)).tolist() == [values]


def test_distinct_is_not_deceived_by_one_person_with_many_values():
    # All three have value 0; one of them also has 1, 2, 3 and 4.
    found = of([0] * 7, [0, 0, 0, 1, 2, 3, 4], persons=[0, 1, 2, 0, 0, 0, 0])
    assert diversity.distinct(found).tolist() == [1]
    assert diversity.most_frequent(found).tolist() == [1.0]


def test_distinct_counts_values_where_persons_share_none_of_them():
    found = of([0] * 4, [0, 1, 2, 2], persons=[0, 0, 1, 2])
    assert diversity.distinct(found).tolist() == [2]


@pytest.mark.parametrize(
    ("l", "ratio"), [(1, 4 / 10), (2, 4 / 6), (3, 4 / 3), (4, 4 / 1), (5, math.inf)]
)
def test_recursive_divides_the_greatest_count_by_the_tail(l, ratio):  # noqa: E741
    assert diversity.recursive(one_class(1, 3, 4, 2), l).tolist() == [ratio]


# Of 30,162 people of UCI Adult 7,508 earn more than 50K. In a class of nothing else the figures are
# those of a 5-anonymous release of it, measured by pycanon 1.3.5: t .7511 and beta 3.0173.
@pytest.mark.parametrize(
    ("measure", "figure"),
    [
        (diversity.distinct, 1),
        (diversity.entropy, 1.0),
        (diversity.variational, 0.7511),
        (diversity.ordered, 0.7511),
        (diversity.beta, 3.0173),
        (diversity.enhanced_beta, math.inf),
        (diversity.delta, math.log(30_162 / 7_508)),
    ],
)
def test_measures_of_a_class_of_high_incomes(measure, figure):
    found = one_class(0, 8, rest=(22_654, 7_500))
    assert measure(found)[0] == pytest.approx(figure, abs=5e-5)


def test_enhanced_beta_is_the_basic_one_while_no_gain_exceeds_minus_ln_q():
    # q = (1/4, 3/4); p = (1/2, 1/2) gains 1 < ln 4; all of value 1 gains 1/3 > ln 4/3 = .288
    found = of([0, 0, 1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1, 1, 0])
    assert diversity.enhanced_beta(found)[0] == diversity.beta(found)[0] == 1.0
    found = of([0, 0, 1, 1], [1, 1, 1, 0])
    assert diversity.beta(found)[0] == pytest.approx(1 / 3)
    assert diversity.enhanced_beta(found).tolist() == [math.inf, 1.0]


def test_delta_looks_at_values_that_became_rarer_too():
    found = one_class(1, 5, rest=(5, 1))
    assert diversity.delta(found) == pytest.approx([math.log(3), math.log(3)])


def test_delta_leaves_out_values_that_the_class_lacks():
    assert diversity.delta(of([0, 0, 1, 1], [0, 0, 1, 1])) == pytest.approx([math.log(2)] * 2)


def test_ordered_does_not_count_codes_that_do_not_occur():
    near, far = of([0, 1, 1], [0, 1, 2]), of([0, 1, 1], [0, 4, 9])
    assert diversity.ordered(near).tolist() == diversity.ordered(far).tolist()


def test_measures_find_nothing_in_a_class_like_the_whole_table():
    found = of([0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 0, 1])
    for measure in (diversity.variational, diversity.beta, diversity.enhanced_beta):
        assert measure(found).tolist() == [0.0, 0.0]
    assert diversity.ordered(found) == pytest.approx([0.0, 0.0], abs=1e-15)
    assert diversity.delta(found).tolist() == [0.0, 0.0]


def test_measures_of_a_column_with_one_value():
    found = of([0, 0, 1], [0, 0, 0])
    assert diversity.ordered(found).tolist() == [0.0, 0.0]
    assert diversity.enhanced_beta(found).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("codes", [[0, 1, -1], [-1, -1, -1]])
def test_measures_are_at_their_worst_where_no_value_is_present(codes):
    found = of([0, 0, 2], codes, count=4)
    tree = ValueHierarchy(np.array([2, 2, -1]), np.array([0, 1]))
    worst = [0, 0, math.inf, 1, 1, 1, math.inf, math.inf, math.inf]
    assert [measure(found)[-1] for measure in MEASURES] == worst
    assert diversity.hierarchical(found, tree).tolist()[1:] == [1.0, 1.0, 1.0]


def test_measures_of_a_table_without_rows():
    found = of([], [], count=0)
    assert [measure(found).tolist() for measure in MEASURES] == [[]] * len(MEASURES)


# The hierarchy

TREE = ValueHierarchy(np.array([5, 5, 6, 6, 7, 7, 7, -1]), np.array([0, 1, 2, 3, 4]))
"""Values 0 and 1 below one node, 2 and 3 below another, 4 right below the root."""


def test_hierarchy_knows_depths_heights_and_paths():
    assert TREE.depths().tolist() == [2, 2, 2, 2, 1, 1, 1, 0]
    assert TREE.heights().tolist() == [0, 0, 0, 0, 0, 1, 1, 2]
    assert TREE.paths().tolist() == [[7] * 5, [5, 5, 6, 6, 4], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("parents", "depths", "heights"),
    [([2, 0, -1], [1, 2, 0], [1, 0, 2]), ([-1, 0, 1], [0, 1, 2], [2, 1, 0])],
)
def test_hierarchy_may_have_its_root_anywhere(parents, depths, heights):
    tree = ValueHierarchy(np.array(parents), np.arange(3))
    assert tree.depths().tolist() == depths
    assert tree.heights().tolist() == heights


@pytest.mark.parametrize("parents", [[-1, -1], [1, 0], [-1, 2, 1], [0]])
def test_hierarchy_is_refused_where_it_is_not_a_tree(parents):
    with pytest.raises(InternalError, match=r"X001 .* are not a tree"):
        ValueHierarchy(np.array(parents), np.array([0]))


@pytest.mark.parametrize(("other", "distance"), [(1, 0.5), (2, 1.0), (4, 1.0)])
def test_hierarchical_moves_mass_to_the_common_ancestor(other, distance):
    found = diversity.hierarchical(of([0, 1], [0, other]), TREE)
    assert found == pytest.approx([distance / 2, distance / 2])


def test_hierarchical_finds_the_values_of_a_node_wherever_their_codes_are():
    # 0 and 3, 1 and 4, 2 and 5 belong together. To become like the table, where all are equally
    # frequent, class 0 moves 1/3 from the first pair to the second, and 1/6 half as far, 2 to 5.
    tree = ValueHierarchy(np.array([6, 7, 8, 6, 7, 8, 9, 9, 9, -1]), np.arange(6))
    found = diversity.hierarchical(of([0, 0, 0, 1, 1, 1], [0, 2, 3, 1, 4, 5]), tree)
    assert found == pytest.approx([1 / 3 + 1 / 12, 1 / 3 + 1 / 12])


def test_hierarchical_hangs_a_value_of_an_inner_node_below_it():
    tree = ValueHierarchy(np.array([2, 2, -1]), np.array([0, 2]))
    assert diversity.hierarchical(of([0, 1], [0, 1]), tree) == pytest.approx([0.5, 0.5])


def test_hierarchical_needs_no_move_between_values_of_one_node():
    tree = ValueHierarchy(np.array([1, -1]), np.array([0, 0]))
    assert diversity.hierarchical(of([0, 1], [0, 1]), tree).tolist() == [0.0, 0.0]


# Against dense brute force


def shares(rows, codes):
    return [Fraction(sum(code == value for value in rows), len(rows)) for code in codes]


def moved(p, q, distances):
    """The least work that turns p into q, by its dual: the best potential with slope at most 1.

    For whole distances there is a best potential of whole numbers.
    """
    distances = np.array(distances)
    values = len(distances)
    potentials = np.indices([distances.max() + 1] * values).reshape(values, -1).T
    slopes = np.abs(potentials[:, :, None] - potentials[:, None, :]) - distances
    return max(potentials[slopes.max(axis=(1, 2)) <= 0] @ (np.array(p, float) - np.array(q, float)))


def brute_force(rows, table):
    """All measures of the rows of a class, by their definitions."""
    codes = sorted(set(table))
    p, q = shares(rows, codes), shares(table, codes)
    counts = sorted((rows.count(code) for code in set(rows)), reverse=True)
    gains = [(a - b) / b for a, b in zip(p, q, strict=True)]
    enhanced = all(gain <= -math.log(b) for gain, b in zip(gains, q, strict=True) if gain > 0)
    line = [[abs(i - j) for j in range(len(codes))] for i in range(len(codes))]
    return [
        len(counts),
        math.exp(-sum(a * math.log(a) for a in p if a)),
        counts[0] / sum(counts[1:]) if len(counts) > 1 else math.inf,
        max(p),
        sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2,
        moved(p, q, line) / max(len(codes) - 1, 1),
        max(0, *gains),
        max(0, *gains) if enhanced else math.inf,
        max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True) if a),
    ]


TABLES = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 4)), min_size=1, max_size=25)


@given(TABLES)
def test_measures_are_those_of_their_definitions(table):
    found = of([place for place, _ in table], [code for _, code in table], count=4)
    measured = np.array([measure(found) for measure in MEASURES]).T
    values = [code for _, code in table if code >= 0]
    for place, figures in enumerate(measured):
        rows = [code for where, code in table if where == place and code >= 0]
        if rows:
            expected = [float(figure) for figure in brute_force(rows, values)]
            assert figures.tolist() == pytest.approx(expected, abs=1e-12)


def common_height(tree, i, j):
    ancestors = []
    for node in (tree.node_of[i], tree.node_of[j]):
        way = [int(node)]
        while tree.parents[way[-1]] >= 0:
            way.append(int(tree.parents[way[-1]]))
        ancestors.append(way)
    return 0 if i == j else int(tree.heights()[next(n for n in ancestors[0] if n in ancestors[1])])


TREES = st.builds(
    lambda *above: ValueHierarchy(np.array([-1, 0, *above]), np.arange(4, 9)),
    st.integers(0, 1),
    st.integers(0, 2),
    *[st.integers(0, 3)] * 5,
)
"""Four inner nodes, each below one before it, and the nodes of five values below them."""


@given(TABLES, TREES)
def test_hierarchical_is_the_least_work_under_the_distance_of_the_tree(table, tree):
    found = of([place for place, _ in table], [code for _, code in table], count=4)
    measured = diversity.hierarchical(found, tree)
    distances = [[common_height(tree, i, j) for j in range(5)] for i in range(5)]
    values = [code for _, code in table if code >= 0]
    for place, figure in enumerate(measured):
        rows = [code for where, code in table if where == place and code >= 0]
        if rows:
            work = moved(shares(rows, range(5)), shares(values, range(5)), distances)
            assert figure == pytest.approx(work / tree.heights().max(), abs=1e-12)


PEOPLE = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-1, 3), st.integers(0, 4)), min_size=1, max_size=25
)


@given(PEOPLE)
def test_histogram_counts_distinct_persons(rows):
    found = of(*zip(*rows, strict=True), count=3)
    with_value = {row for row in rows if row[1] >= 0}
    for place in range(3):
        pairs = slice(found.starts[place], found.starts[place + 1])
        counted = dict(zip(found.values[pairs].tolist(), found.counts[pairs].tolist(), strict=True))
        here = [row for row in with_value if row[0] == place]
        assert counted == {code: sum(row[1] == code for row in here) for _, code, _ in here}
        assert found.members[place] == len({row[2] for row in here})
    for code, count in enumerate(found.overall):
        assert count == len({row[2] for row in with_value if row[1] == code})


@given(PEOPLE)
def test_distinct_with_persons_never_exceeds_the_number_of_values(rows):
    persons = of(*zip(*rows, strict=True), count=3)
    assert (diversity.distinct(persons) <= np.diff(persons.starts)).all()
    alone = of([row[0] for row in rows], [row[1] for row in rows], range(len(rows)), count=3)
    assert diversity.distinct(alone).tolist() == np.diff(alone.starts).tolist()


# Against pycanon 1.3.5


@pytest.fixture(scope="module")
def pycanon():
    try:
        from pycanon import anonymity
    except ImportError:
        warnings.warn("SKIPPED: pycanon is not installed", stacklevel=2)
        pytest.skip("pycanon is not installed: the measures are not compared with its figures")
    return anonymity


@pytest.fixture(scope="module")
def frame():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    salary = random.integers(0, 6, 400) ** 2
    columns = {"age": random.integers(0, 20, 400), "salary": salary}
    return pandas.DataFrame({**columns, "disease": [f"no. {code:02}" for code in salary]})


@pytest.fixture(scope="module")
def measured(frame):
    return of(frame["age"], np.unique(frame["salary"], return_inverse=True)[1])


@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize(
    ("theirs", "column", "ours"),
    [
        ("l_diversity", "disease", lambda h: diversity.distinct(h).min()),
        ("entropy_l_diversity", "disease", lambda h: math.floor(diversity.entropy(h).min())),
        ("t_closeness", "disease", lambda h: diversity.variational(h).max()),
        ("t_closeness", "salary", lambda h: diversity.ordered(h).max()),
        ("basic_beta_likeness", "disease", lambda h: diversity.beta(h).max()),
        ("delta_disclosure", "disease", lambda h: diversity.delta(h).max()),
    ],
)
def test_measures_agree_with_pycanon(pycanon, frame, measured, theirs, column, ours):
    assert getattr(pycanon, theirs)(frame, ["age"], [column]) == pytest.approx(ours(measured))


@pytest.mark.filterwarnings("default:SKIPPED")
def test_most_frequent_and_sizes_agree_with_pycanon(pycanon, frame, measured):
    alpha, k = pycanon.alpha_k_anonymity(frame, ["age"], ["disease"])
    assert diversity.most_frequent(measured).max() == alpha
    assert measured.members.min() == k


@pytest.mark.filterwarnings("default:SKIPPED")
def test_enhanced_beta_is_stricter_than_that_of_pycanon(pycanon, frame, measured):
    # pycanon takes the least bound over all values, min(beta, -ln of the least q), and so calls a
    # table enhanced beta-like although a frequent value gains more than its own -ln q.
    bound = -math.log(measured.overall.min() / measured.overall.sum())
    found = pycanon.enhanced_beta_likeness(frame, ["age"], ["disease"])
    assert found == pytest.approx(min(diversity.beta(measured).max(), bound))
    assert diversity.enhanced_beta(measured).max() >= found


def test_ordered_distances_are_the_same_whether_places_are_looked_up_or_searched_for(monkeypatch):
    random = np.random.default_rng(7)
    class_of, codes = random.integers(0, 40, 400), random.integers(0, 30, 400).astype(np.int32)
    counted = diversity.histogram(class_of, 40, codes)
    looked_up = diversity.ordered(counted)
    monkeypatch.setattr(diversity, "_TABLE", 0)
    assert diversity.ordered(counted).tolist() == looked_up.tolist()


@given(st.lists(st.integers(-1, 6)), st.integers(1, 4))
def test_the_histogram_of_all_rows_is_that_of_one_class(codes, part):
    column = np.array(codes, np.int32)
    before, diversity._PART = diversity._PART, part
    try:
        found = diversity.whole_histogram(column)
    finally:
        diversity._PART = before
    expected = histogram(np.zeros(len(codes), np.int64), 1, column)
    for name, figures in vars(expected).items():
        assert getattr(found, name).tolist() == figures.tolist()
        assert getattr(found, name).dtype == figures.dtype
