"""Columns masked at random or by their ranks, from the policy to who may read the release."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused, rows_of
from building import DATASET, OUTPUT, column
from everyday import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow.csv import write_csv
from pyarrow.parquet import write_table

from policy_engine import certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError, DataError, PlanError

KEY = b"\x05" * 32
PLAIN = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["id"]}
NOISE = column("pay", masking="noise", sdShare=0.5)
SWAPPED = column("pay", masking="rank-swapping", p=0.2)
SHUFFLED = column("pay", masking="shuffling", given={"@id": f"{DATASET}/age"})
PRAM = column("job", masking="pram", keep=0.6)
AGGREGATED = column("pay", masking="microaggregation", groupSize=3)


def people(rows=40):
    random = np.random.default_rng(11)
    return {
        "id": np.arange(rows),
        "age": random.integers(20, 60, rows),
        "pay": random.integers(1000, 9000, rows),
        "job": random.choice(["a", "b", "c"], rows),
    }


def by_id(release):
    rows = pa.table(release.table).to_pylist()
    return {int(row["id"]): row for row in rows}


@pytest.mark.parametrize(
    "masked", [NOISE, SWAPPED, SHUFFLED, PRAM, AGGREGATED], ids=lambda m: m["pe:masking"]
)
def test_a_masked_column_is_measured_and_certified(masked, tmp_path):
    made = applied(people(), tmp_path / "out.csv", masked=[masked], key=KEY, **PLAIN)
    name = masked["@id"].rpartition("/")[2]
    assert measured(made)[masked["pe:masking"], name] == 0
    [told] = made.certificate.maskings
    assert (told.column, told.masking) == (name, masked["pe:masking"])
    assert 0 <= told.figures["unchanged"] < 1
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate


def test_columns_that_are_aggregated_together_are_shared_by_as_many_rows_as_asked():
    cap = np.append(np.random.default_rng(5).lognormal(3, 1, 39).round(2), 1e6)
    table = people() | {"cap": cap}
    both = [
        column(name, masking="microaggregation", groupSize=4, together="money")
        for name in ("pay", "cap")
    ]
    made = applied(table, masked=both, **PLAIN)
    sizes = pa.table(made.table).to_pandas().groupby(["pay", "cap"]).size()
    assert (len(sizes), min(sizes)) == (10, 4)
    pay, cap = (dict(one.figures) for one in made.certificate.maskings)
    assert pay["informationLoss"] == cap["informationLoss"]
    assert made.release.doubts[0].startswith("The column 'cap' has means that one value dominates")


def test_an_output_in_which_too_few_rows_share_a_mean_is_refused(tmp_path):
    pd.DataFrame(people()).to_csv(tmp_path / "in.csv", index=False)
    asked = PLAIN | {"masked": [AGGREGATED]}
    made = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **asked)
    [one, *_, other] = sorted({row["pay"] for row in by_id(made).values()})
    text = made.path.read_text()
    made.path.write_text(text.replace(f",{one}\n", f",{other}\n", 1))
    with pytest.raises(CertificateError, match=r"V00[14]"):
        certify_output(made.path, asking(**asked), data={DATASET: tmp_path / "in.csv"})


def test_the_order_of_the_input_leaves_no_trace():
    table, order = people(), np.random.default_rng(3).permutation(40)
    mixed = {name: values[order] for name, values in table.items()}
    numbers = AGGREGATED | {"@id": f"{DATASET}/id"}
    asked = {"masked": [NOISE, PRAM, numbers], "key": KEY, **PLAIN}
    asked.pop("insensitive")
    assert applied(table, **asked).table.equals(applied(mixed, **asked).table)


def test_without_a_key_each_release_is_drawn_anew_and_with_one_it_is_the_same():
    first, second = (applied(people(), masked=[NOISE], **PLAIN).table for _ in range(2))
    assert first["pay"].to_pylist() != second["pay"].to_pylist()
    one, other = (applied(people(), masked=[NOISE], key=KEY, **PLAIN).table for _ in range(2))
    assert one.equals(other)


def test_another_scale_is_another_draw():
    # The same draws at two scales would tell the value: their difference is known.
    low, high = (
        by_id(
            applied(people(), masked=[column("pay", masking="noise", sdShare=s)], key=KEY, **PLAIN)
        )
        for s in (0.5, 1.0)
    )
    true = people()["pay"]
    first, second = (
        np.array([made[i]["pay"] - true[i] for i in range(40)]) for made in (low, high)
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.6


def test_the_rows_of_a_table_that_grew_are_drawn_anew():
    table = people()
    grown = {name: np.append(values, values[:5]) for name, values in table.items()}
    grown["id"] = np.arange(45)
    first, second = (by_id(applied(t, masked=[NOISE], key=KEY, **PLAIN)) for t in (table, grown))
    noise = np.array(
        [[one[i]["pay"] - table["pay"][i] for i in range(40)] for one in (first, second)]
    )
    assert abs(np.corrcoef(noise)[0, 1]) < 0.6


@pytest.mark.parametrize(
    ("texts", "masked"),
    [
        (
            [f"0.{number:010}" for number in range(1, 13)],
            {"masking": "multiplicative-noise", "logSd": 0.1},
        ),
        (["1.5", "2500.5", "3.25"], {"masking": "random-rounding", "base": 10}),
        (["10:00", "11:30", "09:15"], {"masking": "rank-swapping", "p": 0.5}),
    ],
)
def test_columns_of_a_file_are_published_as_what_they_mean(texts, masked, tmp_path):
    rows = "".join(f"1,{number},{text}\n" for number, text in enumerate(texts))
    (tmp_path / "in.csv").write_text(f"age,id,pay\n{rows}")
    made = applied(
        tmp_path / "in.csv",
        tmp_path / "out.csv",
        masked=[column("pay", **masked)],
        key=KEY,
        **PLAIN,
    )
    published = made.path.read_text().split()[1:]
    assert len(published) == len(texts)
    if masked["masking"] == "multiplicative-noise":
        numbers = {int(row.split(",")[1]): float(row.split(",")[2]) for row in published}
        assert all(0.5 < numbers[i] / float(texts[i]) < 2 for i in numbers)


def test_rows_that_are_equal_are_masked_differently():
    table = {name: np.repeat(values[:1], 30) for name, values in people().items()}
    table["pay"] = np.arange(30) // 15 * 1000
    made = applied(table, masked=[NOISE], key=KEY, **PLAIN)
    assert len(set(made.table["pay"].to_pylist())) > 20


def test_no_key_and_no_draw_is_written_anywhere(tmp_path):
    made = applied(people(), tmp_path / "out" / "a.csv", masked=[NOISE, PRAM], key=KEY, **PLAIN)
    texts = [path.read_text() for path in (tmp_path / "out").iterdir() if path.is_file()]
    texts += [made.record.model_dump_json(), repr(made), made.plan.model_dump_json()]
    assert len(texts) > 4
    assert not any(KEY.hex() in text or repr(KEY) in text for text in texts)
    assert (made.record.seed, made.record.salt) == (None, None)


def test_the_matrix_of_a_post_randomisation_estimates_the_counts():
    table = people(4000)
    made = applied(table, masked=[PRAM], key=KEY, **PLAIN)
    [told] = made.certificate.maskings
    assert told.categories == ("a", "b", "c")
    published = pd.Series(made.table["job"].to_pylist()).value_counts().reindex(told.categories)
    estimate = np.linalg.solve(np.array(told.matrix).T, published.to_numpy())
    true = pd.Series(table["job"]).value_counts().reindex(told.categories)
    assert np.abs(estimate - true.to_numpy()).max() < 250


@pytest.mark.parametrize("masked", [NOISE, SWAPPED], ids=lambda m: m["pe:masking"])
def test_a_column_without_any_value_stays_one(masked):
    table = {**people(), "pay": pa.nulls(40, pa.int64())}
    assert applied(table, masked=[masked], **PLAIN).table["pay"].null_count == 40


# -- an output that is certified again ------------------------------------------------------------


@pytest.fixture
def made(tmp_path):
    pd.DataFrame(people()).to_csv(tmp_path / "in.csv", index=False)
    masked = [NOISE, SWAPPED | {"@id": f"{DATASET}/id"}]
    asked = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "masked": masked}
    release = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **asked)
    return release, tmp_path / "in.csv", asking(**asked)


def test_an_output_is_certified_again_from_the_data_and_the_key(made):
    release, data, policy = made
    again = certify_output(release.path, policy, data={DATASET: data}, key=KEY)
    assert again.maskings == release.certificate.maskings


def test_without_the_key_what_the_columns_tell_is_measured(made):
    release, data, policy = made
    again = certify_output(release.path, policy, data={DATASET: data})
    noise, swapped = again.maskings
    assert (swapped.column, dict(swapped.figures)) == ("id", {})
    expected = release.certificate.maskings[0].figures["varianceRatio"]
    assert dict(noise.figures) == {"varianceRatio": expected}


def test_the_output_alone_does_not_tell(made):
    release, _, policy = made
    with pytest.raises(
        DataError,
        match="V006 The output alone does not show whether columns were masked by 'noise'",
    ):
        certify_output(release.path, policy)


@pytest.mark.parametrize("key", [None, KEY])
def test_a_swapped_column_with_another_value_is_refused(made, key):
    release, data, policy = made
    text = release.path.read_text()
    assert "\n39," in text
    release.path.write_text(text.replace("\n39,", "\n38,"))
    with pytest.raises(CertificateError, match=r"V00[14]"):
        certify_output(release.path, policy, data={DATASET: data}, key=key)


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("masked", "code"),
    [
        (column("pay", masking="noise"), "M002"),
        (column("pay", masking="noise", sdShare=0), "M003"),
        (column("pay", masking="noise", sdShare=-0.1), "M003"),
        (column("pay", masking="noise", sdShare=0.1, varianceShare=0.1), "M003"),
        (column("pay", masking="noise", sdShare=0.1, distribution="cauchy"), "M003"),
        (column("pay", masking="noise", sdShare=0.1, p=0.1), "M004"),
        (column("pay", masking="rank-swapping", p=5), "M003"),
        (column("pay", masking="rank-swapping", p=0.1, variant="kim"), "M003"),
        (column("pay", masking="shuffling"), "M002"),
        (column("pay", masking="shuffling", given={"@id": f"{DATASET}/unknown"}), "M006"),
        (column("pay", masking="shuffling", given={"@id": f"{DATASET}/pay"}), "M003"),
        (column("pay", masking="noise", sdShare=1e-300), "R013"),
        (column("pay", masking="noise", sdShare=1e-9), "R013"),
        (column("pay", masking="multiplicative-noise", logSd=1e-9), "R013"),
        (column("pay", masking="rank-swapping", p=0.01), "R013"),
        (column("pay", masking="rank-swapping", p=0.01, variant="distribution"), "R013"),
        (column("job", masking="pram", keep=1), "M003"),
        (column("pay", masking="microaggregation"), "M002"),
        (column("pay", masking="microaggregation", groupSize=1), "M003"),
        (column("pay", masking="microaggregation", groupSize=2.5), "M003"),
        (column("pay", masking="microaggregation", groupSize=3, p=0.1), "M004"),
        (column("pay", masking="microaggregation", groupSize=41), "R013"),
        (column("job", masking="microaggregation", groupSize=3), "R013"),
        (column("job", masking="noise", sdShare=0.1), "R013"),
        (column("job", masking="rank-swapping", p=0.1), "R013"),
        (column("job", masking="random-rounding", base=10), "R013"),
        (column("one", masking="noise", sdShare=0.1), "R013"),
    ],
    ids=lambda one: json.dumps(one)[20:] if isinstance(one, dict) else one,
)
def test_what_cannot_be_masked_is_refused_and_nothing_is_written(masked, code, tmp_path):
    table = {**people(), "one": np.ones(40, np.int64)}
    assert refused(table, tmp_path, masked=[masked], **PLAIN)[0] == code


@pytest.mark.parametrize("role", ["identifier", "pseudonymize", "redact"])
def test_nothing_is_shuffled_given_what_identifies_persons(role, tmp_path):
    shuffled = column("pay", masking="shuffling", given={"@id": f"{DATASET}/name"})
    table = {**people(), "name": [f"p{number}" for number in range(40)]}
    parts = {**PLAIN, role: ["name"], "masked": [shuffled], "key": KEY}
    assert refused(table, tmp_path, **parts) == ["M003"]


def test_a_masking_that_changes_nothing_is_refused_unless_there_is_one_value(tmp_path):
    shuffled = column("pay", masking="shuffling", given={"@id": f"{DATASET}/id"})
    table = {**people(), "pay": np.arange(40) * 10}
    assert refused(table, tmp_path, masked=[shuffled], **PLAIN) == ["R013"]
    with pytest.raises(DataError, match="No value of the column 'pay' is changed by rank-swapping"):
        applied(table, masked=[column("pay", masking="rank-swapping", p=0.02)], **PLAIN)
    for one in (shuffled, SWAPPED):
        made = applied({**table, "pay": [7] * 40}, masked=[one], **PLAIN)
        expected = f"{one['pe:masking']} left every value of 'pay' as it was."
        assert made.release.doubts == (expected,)


@pytest.mark.parametrize("key", [b"", b" \n", b"x", b"x" * 31])
def test_a_short_key_draws_nothing(key, tmp_path):
    (tmp_path / "key").write_bytes(key)
    for one in (key, tmp_path / "key"):
        assert refused(people(), tmp_path, masked=[NOISE], key=one, **PLAIN) == ["C013"]
        assert refused(people(), tmp_path, sampleSize=20, key=one, **PLAIN) == ["C013"]


def test_a_setting_that_is_missing_from_a_masking_is_told_with_those_it_has():
    with pytest.raises(PlanError) as told:
        applied(people(), masked=[column("pay", masking="noise", sdShare=0.1, p=0.1)], **PLAIN)
    assert "It has 'masking', 'sdShare', 'varianceShare' and 'distribution'" in str(told.value)


def test_rows_with_some_of_the_columns_that_are_masked_together_are_refused(tmp_path):
    table = {**people(), "cap": pa.array([None] + [5, 6] * 19 + [7])}
    both = [column(name, masking="correlated-noise", sdShare=0.1) for name in ("pay", "cap")]
    assert refused(table, tmp_path, masked=both, **PLAIN) == ["R013"]


# -- whatever the table ---------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.lists(st.none() | st.integers(-100, 100), min_size=4, max_size=30),
    st.lists(st.none() | st.floats(-1e6, 1e6, width=32), min_size=4, max_size=30),
    st.lists(st.none() | st.dates(), min_size=4, max_size=30),
)
MASKINGS = st.sampled_from(
    [
        {"masking": "noise", "sdShare": 0.3},
        {"masking": "correlated-noise", "varianceShare": 0.1, "variant": "kim"},
        {"masking": "multiplicative-noise", "logSd": 0.3},
        {"masking": "rank-swapping", "p": 0.4},
        {"masking": "rank-swapping", "p": 0.9, "variant": "distribution"},
        {"masking": "random-rounding", "base": 7},
        {"masking": "microaggregation", "groupSize": 2},
        {"masking": "shuffling", "given": {"@id": f"{DATASET}/age"}},
    ]
)
KEEPS_VALUES = ("rank-swapping", "shuffling")


def written(value):
    """Return a value as a release has it: a zero is written without a sign."""
    return str(value + 0.0) if isinstance(value, float) else str(value)


@settings(max_examples=examples(24, times=34))
@given(NUMBERS, MASKINGS)
def test_what_is_missing_stays_so_and_types_and_guarantees_are_kept(values, masking):
    column_given = pa.array(values)
    table = pa.table({"age": [1] * len(values), "id": range(len(values)), "pay": column_given})
    try:
        made = applied(table, masked=[column("pay", **masking)], key=KEY, **PLAIN)
    except DataError as error:
        is_refused = {problem.code for problem in error.problems} == {"R013"}
        assume(not is_refused)
        raise
    by_row = by_id(made)
    assert [by_row[i]["pay"] is None for i in range(len(values))] == [v is None for v in values]
    kind = made.table.schema.field("pay").type
    assert kind == column_given.type
    assert len(by_row) == len(values)
    numbers = [row["pay"] for row in by_row.values() if isinstance(row["pay"], float)]
    assert np.isfinite(numbers).all()
    assert made.table.column_names == ["age", "id", "pay"]
    if masking["masking"] in KEEPS_VALUES:
        assert sorted(map(written, values)) == sorted(str(row["pay"]) for row in by_row.values())
    assert all(one.holds for one in made.certificate.measurements)
    assert made.certificate.plan.publish.asset == OUTPUT
    assert rows_of(made)


WORDS = st.lists(st.none() | st.sampled_from(["a", "b", "c", "", "ü"]), min_size=4, max_size=30)
NUMBERED = st.lists(st.none() | st.integers(0, 3), min_size=4, max_size=30)


@settings(max_examples=examples(24, times=34))
@given(WORDS | NUMBERED, st.floats(0.05, 0.95), st.sampled_from(["plain", "invariant"]))
def test_drawn_categories_are_those_of_the_column_and_missing_ones_stay_so(values, keep, variant):
    assume(any(value is not None for value in values))
    table = pa.table({"age": [1] * len(values), "id": range(len(values)), "job": pa.array(values)})
    masked = column("job", masking="pram", keep=keep, variant=variant)
    made = applied(table, masked=[masked], key=KEY, **PLAIN)
    by_row = by_id(made)
    assert made.table.schema.field("job").type == table.schema.field("job").type
    assert [by_row[i]["job"] is None for i in range(len(values))] == [v is None for v in values]
    assert {row["job"] for row in by_row.values()} <= {*values}
    assert np.allclose(np.sum(made.certificate.maskings[0].matrix, axis=1), 1)


@settings(max_examples=examples(24, times=34))
@given(NUMBERS, st.sampled_from([{"sampleShare": 0.5}, {"sampleSize": 3}]), st.randoms())
def test_a_sample_is_of_whole_rows_and_the_order_of_the_input_leaves_no_trace(
    values, amount, random
):
    table = pa.table({"id": range(len(values)), "pay": pa.array(values)})
    asked = {"method": "masking", "insensitive": ["id", "pay"], "key": KEY, **amount}
    order = random.sample(range(len(values)), len(values))
    try:
        made = applied(table, **asked)
    except DataError as error:
        # Now and then, no row is in a small Bernoulli sample.
        is_empty = "sampleShare" in amount and error.problems[0].code == "R014"
        assume(not is_empty)
        raise
    published = {(row["id"], written(row["pay"])) for row in by_id(made).values()}
    assert published <= set(zip(range(len(values)), map(written, values), strict=True))
    assert len(published) == made.table.num_rows == made.certificate.sample.sampled
    assert amount.get("sampleSize", made.table.num_rows) == made.table.num_rows
    assert made.table.schema.field("pay").type == table.schema.field("pay").type
    assert rows_of(applied(table.take(order), **asked)) == rows_of(made)


IMAGES = st.lists(
    st.none() | st.lists(st.integers(0, 255), min_size=15, max_size=15), min_size=1, max_size=6
)


@settings(max_examples=examples(24, times=34))
@given(IMAGES, st.sampled_from([2, 3]), st.integers(0, 255))
def test_pixelated_images_keep_their_shape_and_type_and_missing_ones_stay_so(images, size, fill):
    assume(any(image is not None for image in images))
    kind = pa.list_(pa.uint8(), 15)
    table = pa.table({"id": range(len(images)), "face": pa.array(images, kind)})
    shape = {"height": 3, "width": 5, "blockSize": size, "padding": fill}
    masked = [column("face", masking="pixelation", **shape)]
    made = applied(table, method="masking", insensitive=["id"], masked=masked)
    by_row = by_id(made)
    assert made.table.schema.field("face").type == kind
    for number, image in enumerate(images):
        found = by_row[number]["face"]
        assert (found is None) == (image is None)
        if image is not None:
            padded = np.full((6, 6), fill)
            padded[:3, :5] = np.reshape(image, (3, 5))
            mean = padded[:size, :size].sum() / size**2
            block = np.reshape(found, (3, 5))[:size, :size]
            assert np.ptp(block) == 0
            assert block[0, 0] == int(mean + 0.5)


@pytest.mark.nightly
@settings(max_examples=examples(24, times=34))
@given(st.data(), st.randoms())
def test_no_masking_shows_the_order_of_the_input(data, random):
    rows = data.draw(st.integers(4, 12))
    pay = data.draw(st.lists(st.integers(-5, 5), min_size=rows, max_size=rows))
    job = data.draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    table = pa.table({"age": [1] * rows, "pay": pa.array(pay, pa.int64()), "job": job})
    masked = [column("pay", **data.draw(MASKINGS)), PRAM]
    asked = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "masked": masked, "key": KEY}
    try:
        made = applied(table, **asked)
    except DataError as error:
        is_refused = {problem.code for problem in error.problems} == {"R013"}
        assume(not is_refused)
        raise
    order = random.sample(range(rows), rows)
    assert applied(table.take(order), **asked).table.equals(made.table)


def test_a_scale_of_noise_that_may_be_a_percentage_is_a_warning():
    made = applied(people(), masked=[column("pay", masking="noise", sdShare=10)], key=KEY, **PLAIN)
    expected = "The noise of 'pay' has 10 times the standard deviation of its column."
    assert f"{expected} sdShare is a share: 10% is 0.1." in made.release.doubts


def test_partners_of_a_swap_have_each_other_s_values():
    # docs/random-masking.md: so who knows an own unique value learns the value of another row.
    table = people() | {"pay": np.arange(40) * 7}
    shown = {
        i: row["pay"] // 7 for i, row in by_id(applied(table, masked=[SWAPPED], **PLAIN)).items()
    }
    assert all(shown[shown[row]] == row for row in shown)


def test_one_key_draws_anew_where_other_columns_are_read():
    # docs/random-masking.md: so releases of one table can be averaged in spite of their key.
    asked = {"masked": [NOISE], "key": KEY, "method": "masking"}
    first, second = (
        by_id(applied(people(), insensitive=names, **asked)) for names in (["id"], ["id", "job"])
    )
    noise = np.array(
        [[made[i]["pay"] - people()["pay"][i] for i in range(40)] for made in (first, second)]
    )
    assert abs(np.corrcoef(noise)[0, 1]) < 0.6


def test_samples_of_one_key_are_nested_where_the_same_columns_are_read():
    asked = {"method": "masking", "key": KEY}
    small, large, other = (
        {*by_id(applied(people(400), insensitive=names, sampleShare=share, **asked))}
        for names, share in ((["id", "age"], 0.2), (["id", "age"], 0.5), (["id", "job"], 0.2))
    )
    assert small < large
    assert len(small - other) > 20


def test_texts_are_ranked_as_they_are_written(tmp_path):
    """Blanks are a part of texts, so of those beside dates that are written in several ways."""
    texts = ["2020-01-02", "2020-1-2", " 2020-01-03", "2020-01-04"] * 10
    rows = "".join(f"{place},{text}\n" for place, text in enumerate(texts))
    (tmp_path / "in.csv").write_text(f"id,day\n{rows}")
    swapping = column("day", masking="rank-swapping", p=0.2, order="lexicographic")
    made = applied(tmp_path / "in.csv", method="masking", insensitive=["id"], masked=[swapping])
    assert sorted(made.table["day"].to_pylist()) == sorted(texts)


LONG = ["33.34523945203274", "-48.141778882865831", "93.4"] * 5
TENTHS = column("pay", masking="random-rounding", base=0.1)


@pytest.mark.parametrize("kind", [pa.string(), pa.decimal128(30, 18)], ids=str)
def test_multiples_are_written_as_such_whatever_the_decimals_of_the_column(kind, tmp_path):
    suffix = "csv" if kind == pa.string() else "parquet"
    given, output = tmp_path / f"in.{suffix}", tmp_path / "out.csv"
    table = pa.table({"pay": pa.array(LONG).cast(kind)})
    (write_csv if suffix == "csv" else write_table)(table, given)
    made = applied(given, output, masked=[TENTHS], method="masking")
    assert measured(made)["random-rounding", "pay"] == 0
    multiples = {Decimal(text) for text in ("33.3", "33.4", "-48.1", "-48.2", "93.4")}
    assert {Decimal(text.strip('"')) for text in output.read_text().split()[1:]} <= multiples
