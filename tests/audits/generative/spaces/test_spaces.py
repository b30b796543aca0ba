"""Spaces: what they are, and that they are fitted on public records alone."""

from dataclasses import replace

import numpy as np
import pytest

from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.spaces.choosing import spaces_of
from policy_engine.audits.generative.spaces.encoded_rows import EncodedRows

TABLE = (
    AuditedColumn("age", is_number=True),
    AuditedColumn("sex", is_number=False, texts=("f", "m")),
)


def table(values, **sides):
    named = {side: RecordSet(side, np.array(rows, float)) for side, rows in sides.items()}
    public = RecordSet("reference", np.array(values, float))
    empty = RecordSet("none", np.zeros((1, 2)))
    return Material(
        **{"members": empty, "holdout": empty, "reference": public, **named}, columns=TABLE
    )


def images(shape, seed=0, count=60):
    random = np.random.default_rng(seed)
    width = int(np.prod(shape))
    sides = [RecordSet(name, random.random((count, width), np.float32)) for name in "mhsr"]
    return Material(*sides, shape=shape)


def distance(space, one, other):
    return float(np.linalg.norm(np.subtract(*space.apply(np.array([one, other], float)))))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([20, 0], [20, 0], 0.0),
        ([20, 0], [20, 1], 1.0),
        ([20, 0], [20, -1], 1.0),
        ([20, -1], [20, -1], 0.0),
        ([20, 0], [40, 0], 1.0),
        ([20, 0], [25, 0], 0.25),
        ([np.nan, 0], [30, 0], 1.0),
        ([np.nan, 0], [np.nan, 0], 0.0),
        ([1e9, 0], [2e9, 0], 0.0),
    ],
)
def test_two_categories_are_1_apart_and_so_are_two_deviations(one, other, expected):
    space = EncodedRows.fit(table([[20, 0], [40, 0]]))
    assert np.isclose(distance(space, one, other), expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wild", [1e15, 1e300, -1.7e308])
def test_an_outlier_does_not_decide_the_scale(wild):
    ages = np.random.default_rng(0).integers(18, 90, (200, 1))
    calm = np.column_stack([ages, ages % 2])
    spaces = [EncodedRows.fit(table(rows)) for rows in (calm, [*calm, [wild, 0], [-wild, 0]])]
    apart = [distance(space, [20, 0], [60, 0]) for space in spaces]
    assert np.isclose(*apart, rtol=0.2)
    assert np.isfinite(spaces[1].apply(np.array([[wild, 0.0]]))).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e304])
def test_no_scale_is_too_large_or_too_small(scale):
    ages = np.random.default_rng(0).integers(18, 90, (200, 1))
    rows = np.column_stack([ages, ages % 2]).astype(float)
    space = EncodedRows.fit(table(rows * [scale, 1]))
    one, other = ([age * scale, 0] for age in (20, 60))
    assert np.isclose(
        distance(space, one, other), distance(EncodedRows.fit(table(rows)), [20, 0], [60, 0])
    )


def test_a_number_far_out_is_another_than_one_farther_out():
    space = EncodedRows.fit(table([[20, 0], [40, 0]]))
    near, far, farther = space.apply(np.array([[25.0, 0], [2_000, 0], [20_000, 0]]))[:, 0]
    assert near < far < farther < 51 / 2


def test_a_column_of_hardly_more_than_one_number_has_a_scale():
    space = EncodedRows.fit(table([[0, 0]] * 20 + [[10, 0], [12, 0]]))
    assert distance(space, [0, 0], [10, 0]) > 1


def test_many_categories_share_the_features_of_rare_ones():
    texts = tuple(f"{one:04}" for one in range(1000))
    public = RecordSet(
        "reference", np.repeat(np.arange(1000.0), 1 + np.arange(1000) // 900)[:, None]
    )
    column = AuditedColumn("code", is_number=False, texts=texts)
    space = EncodedRows.fit(Material(public, public, reference=public, columns=(column,)))
    points = space.apply(np.arange(-1, 1000.0)[:, None])
    assert space.ranks == 1
    assert sorted(points[:, -1]) == [*range(1001)]
    points = points[:, :-1]
    assert points.shape == (1001, 128)
    assert np.isclose(points.sum(axis=1), np.sqrt(0.5)).all()
    # The commonest have a feature each.
    assert len({*points[901:965].argmax(axis=1).tolist()}) == 64
    assert np.bincount(points.argmax(axis=1)).min() == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("shape", "notations"),
    [
        ((18, 20), ["pca-40", "hog", "pixels"]),
        ((9, 11, 3), ["pca-40", "hog", "colour-histogram", "pixels"]),
        ((8, 8, 1), ["pca-40", "hog", "pixels"]),
        ((5,), ["pixels"]),
        ((60,), ["pca-40", "pixels"]),
    ],
)
def test_the_spaces_are_those_that_the_records_allow(shape, notations):
    material = images(shape)
    spaces = spaces_of(material)
    assert [one.notation for one in spaces] == notations
    for space in spaces:
        points = space.apply(material.members.values)
        assert points.dtype == np.float32
        assert len(points) == 60
        assert np.isfinite(points).all()
        # A record is where it is, whatever the others are.
        assert np.allclose(space.apply(material.members.values[7:9]), points[7:9], atol=1e-5)
    dimensions = {one.notation: one.apply(material.members.values).shape[1] for one in spaces}
    assert dimensions.get("pca-40", 40) == 40
    assert dimensions.get("colour-histogram", 48) == 48


def test_rows_of_tables_have_one_space():
    assert [one.notation for one in spaces_of(table([[1, 0], [2, 1]]))] == ["encoded-rows"]


def test_spaces_are_not_fitted_on_audited_records():
    for material in (images((9, 9)), table([[20, 0], [40, 1], [60, 1]], members=[[3, 0]])):
        shifted = [
            replace(one, values=one.values * 50) for one in (material.members, material.holdout)
        ]
        other = replace(material, members=shifted[0], holdout=shifted[1])
        for one, two in zip(spaces_of(material), spaces_of(other), strict=True):
            values = material.public.values
            assert np.array_equal(one.apply(values), two.apply(values))


def test_spaces_are_fitted_on_the_reference_or_else_on_the_samples():
    material = images((9, 9))
    other = replace(
        material, synthetic=replace(material.members, values=material.members.values * 3)
    )
    point = material.members.values[:1]
    assert np.array_equal(*(spaces_of(one)[0].apply(point) for one in (material, other)))
    alone = replace(material, reference=None), replace(other, reference=None)
    assert not np.allclose(*(spaces_of(one)[0].apply(point) for one in alone))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("factor", "shift"), [(1, 0), (1e-6, 1.7e9), (1e30, 0), (1e-30, 0), (1, 1e7)]
)
@pytest.mark.parametrize("width", [3, 60])
def test_distances_of_arrays_are_the_same_on_any_scale(factor, shift, width):
    random = np.random.default_rng(0)
    plain = [random.integers(0, 1000, (50, width)).astype(float) for _ in "mhs"]
    distances = []
    for sides in (plain, [one * factor + shift for one in plain]):
        material = Material(*(RecordSet("s", one) for one in sides), shape=(width,))
        points = spaces_of(material)[0].apply(sides[0])
        away = np.linalg.norm(points[:, None] - points, axis=2)
        distances.append(away / away.max())
    assert np.allclose(*distances, atol=1e-3)
