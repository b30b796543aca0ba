"""Files whose values are coded or scaled in another way are refused, or told."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.generative.reading import GivenRecords, read_material
from policy_engine.errors import AuditError


def table(numbers, classes):
    return pa.table({"wage": pa.array(numbers), "kind": pa.array(classes)})


WAGES = np.arange(1000.0, 1100.0)
KINDS = ["a", "b"] * 50


def read(synthetic, label="", **changes):
    sides = {"members": table(WAGES, KINDS), "holdout": table(WAGES + 0.5, KINDS), **changes}
    return read_material(GivenRecords(**sides, synthetic=synthetic, label=label))


def faults(*arguments, **changes):
    with pytest.raises(AuditError) as error:
        read(*arguments, **changes)
    assert not any(digits in str(error.value) for digits in ("1.7", "1050"))
    return [(one.code, one.with_values().message) for one in error.value.problems]


def test_numbers_on_another_scale_are_refused_or_told():
    standardised = (WAGES - WAGES.mean()) / WAGES.std()
    [(code, message)] = faults(table(standardised, KINDS))
    assert code == "A031"
    assert "No number of 'wage' in the synthetic records" in message
    assert "'-1.71482 to 1.71482'" in message
    hardly = table([*standardised[1:], 1050.0], KINDS)
    assert any("if they are on another scale" in one for one in read(hardly).warnings)
    assert not read(table(WAGES[::-1], KINDS)).warnings
    [(_, message)] = faults(table(WAGES, KINDS), reference=table(standardised, KINDS))
    assert "in the reference records" in message


def drawn(count, seed=0):
    generator = np.random.default_rng(seed)
    return {
        "weight": np.round(generator.normal(75, 25, count), 1),
        "celsius": np.round(generator.normal(20, 15, count), 1),
        "wage": np.round(generator.lognormal(8, 0.6, count)),
        "children": np.minimum(generator.poisson(0.4, count), 5),
    }


def on_scales(columns):
    return {
        **columns,
        "weight": columns["weight"] * 2.2046,
        "celsius": columns["celsius"] * 1.8 + 32,
    }


def scales_doubted(synthetic, size=500):
    sides = {side: pa.table(drawn(size, seed)) for seed, side in enumerate(["members", "holdout"])}
    records = GivenRecords(**sides, synthetic=pa.table(synthetic))
    told = " ".join(one for one in read_material(records).warnings if "another scale" in one)
    return [name for name in synthetic if f"{name!r}" in told]


@pytest.mark.parametrize("size", [100, 500, 3_000])
def test_numbers_on_another_scale_whose_range_overlaps_are_told(size):
    assert scales_doubted(on_scales(drawn(size, 0)), size) == ["weight", "celsius"]


@pytest.mark.one_in(20)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("size", [10, 100, 2_000])
def test_numbers_on_the_same_scale_are_not_doubted(size, seed):
    assert not scales_doubted(drawn(size, seed + 10), 500)
    generator = np.random.default_rng(seed)
    columns = {name: generator.choice(one, size) for name, one in drawn(500, 0).items()}
    noisy = {**columns, "wage": columns["wage"] * generator.uniform(0.9, 1.15, size)}
    assert not scales_doubted(noisy, 500)


def test_features_of_arrays_on_another_scale_are_told(tmp_path):
    own = [np.column_stack([*drawn(300, seed).values()]) for seed in range(3)]
    other = np.column_stack([*on_scales(drawn(300, 2)).values()])
    first, second, made = own
    sides = arrays(tmp_path, members=first, holdout=second, synthetic=other)
    [warning] = read_material(sides).warnings
    assert warning.startswith("2 of 4 features of the synthetic are distributed")
    sides = arrays(tmp_path, members=first, holdout=second, synthetic=made)
    assert not read_material(sides).warnings


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (["A", "B"] * 50, "No synthetic value of 'kind'"),
        (["a", "B"] * 50, "'B' and 'b'"),
        (["a", "b "] * 50, "'b ' and 'b'"),
        (["1", "2"] * 50, "'kind' has numbers in some files"),
    ],
)
@pytest.mark.parametrize("label", ["", "kind"])
def test_texts_in_another_code_are_refused_and_classes_too(kinds, told, label):
    found = faults(table(WAGES, kinds), label=label)
    assert {code for code, _ in found} == {"A031"}
    assert any(told in message for _, message in found)


def test_a_class_needs_a_synthetic_record():
    [(code, message)] = faults(table(WAGES, ["a"] * 100), label="kind")
    assert code == "A031"
    assert "1 class has no synthetic record, and 100 members" in message
    assert message.endswith(": 'b'.")


def test_classes_that_are_numbers_are_in_their_order():
    kinds = ["9", "10"] * 50
    sides = {side: table(WAGES, kinds) for side in ("members", "holdout")}
    assert read(table(WAGES, kinds), label="kind", **sides).material.classes == ("9", "10")
    padded = faults(table(WAGES, ["09", "10"] * 50), label="kind", **sides)
    assert padded[0][0] == "A031"


BYTES = np.arange(2 * 48, dtype=np.uint8).reshape(2, 6, 8) * 2
SHARES = (BYTES / 255).astype(np.float32)


def arrays(tmp_path, labels=None, **sides):
    files = {}
    for side, values in sides.items():
        files[side] = tmp_path / f"{side}.npz"
        given = {} if labels is None else {"y": labels[side]}
        np.savez(files[side], x=values, **given)
    return GivenRecords(**files)


@pytest.mark.parametrize(("own", "made"), [(BYTES, SHARES), (SHARES, BYTES), (BYTES, BYTES)])
def test_bytes_and_shares_are_the_same(tmp_path, own, made):
    sides = arrays(tmp_path, members=own, holdout=own, synthetic=made)
    material = read_material(sides).material
    assert np.array_equal(material.members.values, material.synthetic.values)


@pytest.mark.parametrize(
    ("own", "made"),
    [(BYTES.astype(int), SHARES), (SHARES, BYTES.astype(int)), (SHARES, SHARES + 2)],
)
def test_arrays_on_two_scales_are_refused(tmp_path, own, made):
    with pytest.raises(AuditError, match="A031") as error:
        read_material(arrays(tmp_path, members=own, holdout=own, synthetic=made))
    [problem] = error.value.problems
    assert "on another scale than those of the members" in problem.message
    assert not any(character.isdigit() for character in problem.message)
    assert f"{own.min():g} to " in problem.with_values().message


def test_an_outlier_is_no_scale(tmp_path):
    own = np.random.default_rng(0).normal(size=(400, 5))
    wild = own.copy()
    wild[0, 0] = 1e6
    sides = arrays(tmp_path, members=wild, holdout=own, synthetic=own)
    assert len(read_material(sides).material.members) == 400


def test_arrays_partly_outside_are_told(tmp_path):
    sides = arrays(tmp_path, members=SHARES, holdout=SHARES, synthetic=2 * SHARES - 1)
    assert any("are outside the range" in one for one in read_material(sides).warnings)


@pytest.mark.parametrize(
    ("labels", "code"),
    [([np.nan, 1.0], "A002"), (["a", "b"], "A031"), ([2.0, 3.0], "A031"), (["", "1"], "A002")],
)
def test_labels_of_arrays_are_checked(tmp_path, labels, code):
    fine = np.array([0, 1])
    named = {"members": fine, "holdout": fine, "synthetic": np.array(labels)}
    sides = arrays(tmp_path, named, members=SHARES, holdout=SHARES, synthetic=SHARES)
    with pytest.raises(AuditError, match=code):
        read_material(sides)


def test_whole_numbers_are_the_same_classes_as_floats(tmp_path):
    named = {"members": np.array([0, 10]), "holdout": np.array([10, 9])}
    named["synthetic"] = np.array([[0.0, 10.0, 9.0]]).ravel()
    made = np.concatenate([SHARES, SHARES[:1]])
    sides = arrays(tmp_path, named, members=SHARES, holdout=SHARES, synthetic=made)
    material = read_material(sides).material
    assert material.classes == ("0", "9", "10")
    assert material.holdout.labels.tolist() == [2, 1]


def both(tmp_path, own, made):
    sides = arrays(tmp_path, members=own, holdout=own[::-1], synthetic=made)
    material = read_material(sides).material
    return material.members.values, material.synthetic.values


def test_what_32_bits_would_round_has_64(tmp_path):
    stamps = 1.7e9 + np.random.default_rng(0).random((50, 2))
    own, made = both(tmp_path, stamps, stamps + 1e-6)
    assert own.dtype == made.dtype == np.float64
    assert (own != made).all()
    assert both(tmp_path, stamps.round(), stamps)[0].dtype == np.float64
    halves = np.arange(100.0).reshape(50, 2) / 2
    assert both(tmp_path, halves, halves)[0].dtype == np.float32


def test_records_that_one_side_rounds_are_rounded_on_all_or_refused(tmp_path):
    own = np.random.default_rng(0).random((50, 2))
    one, other = both(tmp_path, own, own.astype(np.float32))
    assert np.array_equal(one, other)
    with pytest.raises(AuditError, match="by which different records of the members are equal"):
        both(tmp_path, own + 1.7e9, (own + 1.7e9).astype(np.float32))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (np.arange(100).reshape(50, 2) + 10**18 + 1, "more digits than floats of 64 bits"),
        (np.arange(1.0, 101).reshape(50, 2) * 1e160, "are beyond 1e\\+150"),
    ],
)
def test_numbers_that_floats_do_not_hold_are_refused(tmp_path, values, told):
    with pytest.raises(AuditError, match=told) as refusal:
        both(tmp_path, values, values)
    assert refusal.value.code == "A031"
