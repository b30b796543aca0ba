"""Columns whose tails are coded, with a threshold that is public or follows from the data."""

from decimal import Decimal

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused
from building import DATASET, column
from everyday import examples
from hypothesis import assume, given, settings

from policy_engine import certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError, DataError
from policy_engine.methods.masking import masking_class

ALONE = {"method": "masking", "insensitive": ["id"]}
PAY = [10, 20, 30, 30, 70, 90]


def table(pay=PAY):
    return {"id": list(range(len(pay))), "pay": pay}


def top(**settings):
    return {**ALONE, "masked": [column("pay", masking="top-coding", **settings)]}


def pay(made):
    return made.table.sort_by("id")["pay"].to_pylist()


@pytest.mark.parametrize(
    ("coding", "expected"),
    [
        ({"tail": 2}, [10, 20, 30, 30, 30, 30]),
        ({"tail": 3}, [10, 20, 20, 20, 20, 20]),
        ({"threshold": 50, "replacement": "mean"}, [10, 20, 30, 30, 80, 80]),
        ({"tail": 2, "replacement": "label"}, ["10", "20", "30", "30", ">30", ">30"]),
    ],
)
def test_the_tail_is_coded_and_measured(coding, expected):
    made = applied(table(), **top(**coding))
    [found] = made.certificate.maskings
    beyond = {2: 2, 3: 4}[coding.get("tail", 2)]
    assert pay(made) == expected
    assert found.figures["rowsCoded"] == beyond
    assert found.figures["extremeLeft"] == (20 if beyond == 4 else 30)
    assert measured(made)["top-coding", "pay"] == 0


def test_the_smallest_values_are_coded_by_bottom_coding():
    masked = [column("pay", masking="bottom-coding", tail=2, replacement="label")]
    made = applied(table(), masked=masked, **ALONE)
    assert pay(made) == ["<30", "<30", "30", "30", "70", "90"]


def test_a_mean_is_rounded_as_the_type_of_the_column_is():
    decimals = [Decimal("0.10"), Decimal("0.20"), Decimal("0.25")]
    cap = top(threshold=0.15, replacement="mean")
    declared = pa.table({"id": [0, 1, 2], "pay": pa.array(decimals, pa.decimal128(9, 2))})
    assert pay(applied(declared, **cap))[1:] == [Decimal("0.23")] * 2
    assert pay(applied(table([0.1, 0.2, 0.25]), **cap))[1:] == [0.225] * 2
    assert pay(applied(table([1, 4, 5]), **top(threshold=1, replacement="mean")))[1:] == [5, 5]


@pytest.mark.parametrize("replacement", ["threshold", "label", "mean"])
def test_a_column_of_nothing_but_missing_values_stays_one(replacement):
    missing = pa.array([None, None], pa.int64())
    made = applied(table(missing), **top(tail=2, replacement=replacement))
    assert pay(made) == [None, None]


@pytest.mark.parametrize(
    ("coding", "message"),
    [
        ({"threshold": 90}, "No value of the column 'pay' is above the threshold 90"),
        ({"tail": 6}, "No value of the column 'pay' has 6 rows or more above it. 6 rows have"),
        ({"tail": 600}, "No value of the column 'pay' has 600 rows or more above it"),
        ({"tail": 1, "replacement": "mean"}, "One value of the column 'pay' is above"),
        ({"threshold": 80, "replacement": "mean"}, "published as its own mean"),
        ({"threshold": 7.5}, "holds integers, and its threshold is 7.5"),
    ],
)
def test_a_code_that_hides_nothing_is_refused(tmp_path, coding, message):
    assert refused(table(), tmp_path, **top(**coding)) == ["R013"]
    with pytest.raises(DataError, match=message):
        applied(table(), **top(**coding))


def test_too_few_coded_rows_for_k_are_a_warning():
    models = {"method": ["k-anonymity", "masking"], "k": 3, "quasi": ["id"]}
    masked = [column("pay", masking="top-coding", tail=2)]
    [doubt] = applied(table(), masked=masked, **models).release.doubts
    assert doubt.startswith("top-coding codes 2 of the values of 'pay': fewer rows than k, 3,")
    masked = [column("pay", masking="top-coding", tail=3)]
    assert not applied(table(), masked=masked, **models).release.doubts


@pytest.mark.parametrize(("tail", "is_told"), [(1, True), (2, True), (3, False)])
def test_fewer_than_three_coded_rows_are_a_warning_where_no_k_is_asked_for(tail, is_told):
    doubts = applied(table(), **top(tail=tail)).release.doubts
    told = f"top-coding codes {tail} of the values of 'pay': fewer rows than 3 have a value above"
    assert [one.startswith(told) for one in doubts] == [True] * is_told


@pytest.mark.parametrize(
    ("values", "bound", "dominated"),
    [
        ([1, 2, 30, 900], {"tail": 2}, True),
        ([1, 2, 900, 900], {"tail": 2}, False),
        ([1, 2, 30, 30], {"threshold": 0}, False),
        # Sizes without signs: 8, 9, 1 beside a sum of 0; 90 beside 1 and 2.
        ([-50, -8, 9, -1], {"threshold": -20}, False),
        ([-200, -90, -1, -2], {"threshold": -100}, True),
    ],
)
def test_a_mean_that_one_value_dominates_by_its_size_is_a_warning(values, bound, dominated):
    doubts = applied(table(values), **top(**bound, replacement="mean")).release.doubts
    assert any("dominated" in one for one in doubts) == dominated
    upside_down = table([-value for value in values])
    bound = {name: -n if name == "threshold" else n for name, n in bound.items()}
    masked = [column("pay", masking="bottom-coding", **bound, replacement="mean")]
    doubts = applied(upside_down, masked=masked, **ALONE).release.doubts
    assert any("dominated" in one for one in doubts) == dominated


def test_surveys_of_parts_tell_whether_one_value_dominates_them_together():
    coding = masking_class("top-coding")(name="pay", threshold=-100, replacement="mean")
    parts = [coding.survey(2, counts) for counts in ([(-90, 1), (-200, 1)], [(-1, 1), (90, 1)])]
    dominated = [coding.tail_of(part).is_dominated for part in (*parts, coding.merge(*parts))]
    assert dominated == [True, True, False]


def test_a_threshold_that_every_value_exceeds_is_a_warning():
    made = applied(table(), **top(threshold=5))
    assert made.release.doubts == ("Every value of 'pay' is above its threshold, and coded.",)


@pytest.mark.parametrize("replacement", ["threshold", "label", "mean"])
def test_a_column_that_is_coded_as_a_whole_has_a_certificate(replacement):
    made = applied(table([7] * 6), **top(threshold=2, replacement=replacement))
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate
    assert made.certificate.maskings[0].figures["rowsCoded"] == 6


@pytest.mark.one_in(3)
@pytest.mark.parametrize("replacement", ["threshold", "label", "mean"])
@pytest.mark.parametrize("bound", [{"tail": 2}, {"threshold": 40}])
def test_an_output_is_certified_again_with_its_data(tmp_path, bound, replacement):
    data, asked = tmp_path / "in.csv", top(**bound, replacement=replacement)
    data.write_text("id,pay\n0,10.0\n1,20\n2,30\n3,30\n4,70.50\n5,90\n")
    made = applied(data, tmp_path / "out" / "a.csv", **asked)
    [before] = made.certificate.maskings
    [again] = certify_output(made.path, asking(**asked), data={DATASET: data}).maskings
    assert dict(again.figures) == dict(before.figures)
    if bound.get("threshold") and replacement != "mean":
        assert certify_output(made.path, asking(**asked)).maskings[0].figures == {
            "extremeLeft": 40 if replacement == "threshold" else 30
        }
    else:
        with pytest.raises(DataError, match=r"V006 .* masked by top-coding"):
            certify_output(made.path, asking(**asked))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("coding", "change"),
    [
        ({"tail": 2}, ("3,30", "3,31")),
        ({"tail": 2, "replacement": "label"}, ("4,>30", "4,30")),
        ({"tail": 2, "replacement": "label"}, ("4,>30", "4,>29")),
        ({"tail": 2, "replacement": "mean"}, ("4,80", "4,30")),
        ({"tail": 2, "replacement": "mean"}, ("3,30", "3,80")),
        ({"threshold": 40}, ("4,40", "4,30")),
    ],
)
def test_an_output_that_is_coded_otherwise_is_not_certified(tmp_path, coding, change):
    (tmp_path / "in.csv").write_text("id,pay\n0,10\n1,20\n2,30\n3,30\n4,70\n5,90\n")
    made = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", **top(**coding))
    made.path.write_text(made.path.read_text().replace(*change))
    with pytest.raises(CertificateError, match="V001"):
        certify_output(made.path, asking(**top(**coding)), data={DATASET: tmp_path / "in.csv"})


@settings(max_examples=examples(15))
@given(st.lists(st.integers(-9, 9) | st.none(), min_size=2, max_size=9), st.integers(1, 4))
def test_no_fewer_rows_than_asked_are_coded_and_no_order_of_rows_decides(values, tail):
    known = [value for value in values if value is not None]
    allowed = [t for t in known if sum(value > t for value in known) >= tail]
    assume(allowed)
    threshold = max(allowed)
    expected = [
        None if value is None else f">{threshold}" if value > threshold else str(value)
        for value in values
    ]
    asked = top(tail=tail, replacement="label")
    made = applied(table(pa.array(values, pa.int64())), **asked)
    turned = pa.table(table(pa.array(values, pa.int64()))).take(list(range(len(values)))[::-1])
    assert pay(made) == expected == pay(applied(turned, **asked))
    assert expected.count(f">{threshold}") == made.certificate.maskings[0].figures["rowsCoded"]


def test_a_tail_of_a_sample_is_certified_with_its_key(tmp_path):
    rows = "".join(f"{n},{n * n}\n" for n in range(40))
    (tmp_path / "in.csv").write_text(f"id,pay\n{rows}")
    asked, key = {**top(tail=3, replacement="mean"), "sampleSize": 20}, b"\x03" * 32
    made = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=key, **asked)
    again = {"data": {DATASET: tmp_path / "in.csv"}}
    found = certify_output(made.path, asking(**asked), key=key, **again)
    assert found.maskings == made.certificate.maskings
    with pytest.raises(DataError, match=r"V006 .* follows from the key"):
        certify_output(made.path, asking(**asked), **again)


@pytest.mark.parametrize("masking", ["top-coding", "bottom-coding"])
def test_the_largest_floats_are_coded_as_others_are(masking):
    values = [1e300, -1.7e308, 1e301, 1.7e308]
    asked = {**ALONE, "masked": [column("pay", masking=masking, tail=1)]}
    made = applied(table(values), **asked)
    [found] = made.certificate.maskings
    left = 1e301 if masking == "top-coding" else 1e300
    assert found.figures == {"unchanged": 0.75, "rowsCoded": 1, "extremeLeft": left}
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate
