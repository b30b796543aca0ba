"""What is measured on both tables of a release by buckets, however they came to be."""

import json

import pytest
from applying import applied, asking
from building import DATASET, OUTPUT, column

from policy_engine import apply_policy, certify_output, compare_release, explore_policy
from policy_engine.audits.reports.comparison import report_page
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import read_certificate
from policy_engine.cli.tables.comparisons import comparison_tables
from policy_engine.errors import CertificateError, PolicyEngineError

ASKED = {"method": "l-diversity", "k": 2, "l": 2, "sensitive": ["ill"], "quasi": ["age"]}
BUCKETS = {**ASKED, "algorithm": "bucketization", "buckets": "distinct-l"}
TABLE = {"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]}
QUASI, SENSITIVE = "quasi-identifiers.csv", "sensitive.csv"


@pytest.fixture
def made(tmp_path):
    """Return the folder of a release whose buckets are of the ages 1 and 2, and 3 and 4."""
    return applied(TABLE, tmp_path / "out", **BUCKETS).path


def problems(folder, **parts):
    (folder.parent / "certificate.jsonld").unlink(missing_ok=True)
    with pytest.raises(PolicyEngineError) as refusal:
        certify_output(folder, asking(**(parts or BUCKETS)))
    return [(one.code, one.message) for one in refusal.value.problems]


def test_the_files_are_as_they_are_expected(made):
    assert (made / QUASI).read_text() == "age,bucket\n1,0\n2,0\n3,1\n4,1\n"
    assert (made / SENSITIVE).read_text() == "bucket,ill,count\n0,a,1\n0,b,1\n1,a,1\n1,b,1\n"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("quasi", "sensitive", "code", "told"),
    [
        ("age,bucket\n1,0\n2,0\n3,1\n", "", "V002", "do not have the same buckets"),
        ("age,bucket\n1,0\n2,0\n3,1\n4,2\n", "", "V002", "do not have the same buckets"),
        ("age,bucket\n1,0\n2,0\n3,1\n4,x\n", "", "V002", "must hold whole numbers from 0"),
        ("age,bucket\n1,0\n2,0\n3,1\n4,\n", "", "V002", "must hold whole numbers from 0"),
        ("age,bucket\n1,0\n2,0\n3,1\n4,-1\n", "", "V002", "must hold whole numbers from 0"),
        ("age,bucket\n1,0\n2,0\n3,1\n4,01\n", "", "V002", "without leading zeros"),
        (
            "age,bucket\n1,0\n2,0\n3,7\n4,7\n",
            "bucket,ill,count\n0,a,1\n0,b,1\n7,a,1\n7,b,1\n",
            "V002",
            "do not have the numbers from 0 to 1",
        ),
        ("bucket\n0\n0\n1\n1\n", "", "V002", "lacks 'age'"),
        ("age,bucket,ill\n1,0,a\n2,0,b\n3,1,a\n4,1,b\n", "", "V002", "contains 'ill'"),
        ("age,bucket,pay\n1,0,5\n2,0,5\n3,1,5\n4,1,5\n", "", "V002", "contains 'pay'"),
        ("", "bucket,ill,count\n0,a,2\n1,a,1\n1,b,1\n", "V001", "bucket-l of 'ill'"),
        ("", "bucket,ill,count\n0,a,1\n0,b,1\n1,a,0\n1,b,2\n", "V002", "numbers from 1"),
        ("", "bucket,ill,count\n0,a,01\n0,b,1\n1,a,1\n1,b,1\n", "V002", "leading zeros"),
        ("", "bucket,ill,count\n0,a,1\n0,b,1\n1,a,1\n1,b,1\n1,b,1\n", "V002", "several rows"),
        ("", "bucket,ill,count\n1,a,1\n1,b,1\n0,a,1\n0,b,1\n", "V002", "not sorted by bucket"),
        ("", "bucket,ill,count,age\n0,a,1,1\n0,b,1,2\n1,a,1,3\n1,b,1,4\n", "V002", "'age'"),
        ("age,bucket\n1,0\n2,0\n3,0\n4,1\n", "bucket,ill,count\n0,a,1\n0,b,2\n1,a,1\n", "V001", ""),
    ],
)
def test_tables_that_are_not_those_of_the_policy_are_refused(made, quasi, sensitive, code, told):
    (made / QUASI).write_text(quasi or (made / QUASI).read_text())
    (made / SENSITIVE).write_text(sensitive or (made / SENSITIVE).read_text())
    found = problems(made)
    assert {one for one, _ in found} == {code}
    assert any(told in message for _, message in found)


def test_distinct_l_is_not_anatomy(made):
    (made / QUASI).write_text("age,bucket\n1,0\n2,0\n3,0\n")
    (made / SENSITIVE).write_text("bucket,ill,count\n0,a,2\n0,b,1\n")
    [(code, message)] = problems(made, **{**BUCKETS, "buckets": "anatomy"})
    assert (code, "anatomy-l of 'ill' must be at least 2, but is 1" in message) == ("V001", True)


def test_two_tables_are_not_one_nor_one_two(made, tmp_path):
    [(code, message)] = problems(made, **ASKED)
    assert (code, "is two tables" in message) == ("V002", True)
    one = applied(TABLE, tmp_path / "one.csv", **ASKED).path
    [(code, message)] = problems(one)
    assert (code, "is one table" in message) == ("V002", True)


def test_another_file_in_the_folder_is_not_certified(made):
    (made / "more.csv").write_text("age,ill\n1,a\n")
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(made.parent)
    assert problems(made)[0][0] == "C014"


@pytest.mark.parametrize("name", [QUASI, SENSITIVE])
def test_a_changed_file_is_not_the_certified_one(made, name):
    (made / name).write_text((made / name).read_text().replace("\n1", "\n7", 1))
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(made.parent)


def test_digests_that_are_not_those_of_the_output_contradict_it(made):
    text = (made.parent / "certificate.jsonld").read_text()
    assert read_certificate(text).tables.keys() == {QUASI, SENSITIVE}
    for change in ({}, {QUASI: "0" * 64, SENSITIVE: "1" * 64}):
        facts = json.loads(text)
        facts["pe:certificate"]["tables"] = change
        with pytest.raises(CertificateError, match="V005"):
            read_certificate(json.dumps(facts))


def test_a_certificate_is_renewed(made):
    renewed = certify_output(made.parent, asking(**BUCKETS), write=True)
    assert load_certificate(made.parent) == renewed
    assert renewed.tells_making


def test_the_release_is_not_compared_nor_explored(made, tmp_path):
    original = tmp_path / "people.csv"
    original.write_text("age,ill\n1,a\n2,b\n3,a\n4,b\n")
    with pytest.raises(PolicyEngineError, match="M004 The release is by buckets"):
        compare_release(original, made.parent)
    with pytest.raises(PolicyEngineError, match="M004 A release by buckets"):
        explore_policy(asking(**BUCKETS), {DATASET: original}, {"k": [2, 3]})


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shareable", [False, True])
def test_masked_columns_beside_buckets_are_compared(tmp_path, shareable):
    original = tmp_path / "people.csv"
    original.write_text("age,pay,ill\n1,10,a\n2,24,b\n3,31,a\n4,49,b\n")
    asked = {**BUCKETS, "method": ["l-diversity", "masking"]}
    asked["masked"] = [column("pay", masking="rounding", base=10)]
    made = applied(original, tmp_path / "out" / "people.csv", **asked)
    found = compare_release(original, made.path, shareable=shareable)
    assert (found.apart, found.left_out) == (("ill",), ())
    assert [(one.name, one.kind) for one in found.columns] == [("age", "kept"), ("pay", "masked")]
    if not shareable:
        [pay] = found.masking.columns
        assert pay.shared_values == 0.25
    shown = [*next(comparison_tables(found)).columns[0].cells]
    assert "by bucket, not compared" in shown
    assert "in a table apart, and not compared: ill" in report_page(found)


def test_the_release_is_not_read_as_one_table(made):
    with pytest.raises(PolicyEngineError, match=r"C014 .* is a release by buckets"):
        apply_policy(asking(**ASKED), {DATASET: made})


def test_an_output_of_one_table_is_not_a_folder_of_two(tmp_path):
    with pytest.raises(PolicyEngineError, match="C004"):
        applied(TABLE, tmp_path / "out.txt", **BUCKETS)
    with pytest.raises(PolicyEngineError, match="O002"):
        applied(TABLE, "table:people", **BUCKETS)
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_replaced_as_a_whole(made):
    before = load_certificate(made.parent)
    apply_policy(
        asking(**{**BUCKETS, "k": 4}), {DATASET: TABLE}, made.parent, overwrite=True, asset=OUTPUT
    )
    after = load_certificate(made.parent)
    assert before.output_digest != after.output_digest
    assert sorted(one.name for one in made.iterdir()) == [QUASI, SENSITIVE]


def test_buckets_beside_noise_are_made_again_by_the_key(tmp_path):
    pay = column("pay", masking="noise", sdShare=0.5)
    asked = {**BUCKETS, "buckets": "anatomy", "method": ["l-diversity", "masking"], "masked": [pay]}
    original, key = tmp_path / "people.csv", b"0123456789abcdef0123456789abcdef"
    original.write_text("age,ill,pay\n1,a,5.0\n2,b,7.5\n3,a,1.0\n4,b,3.5\n")
    made = applied(original, tmp_path / "out", key=key, **asked)
    again = certify_output(made.path, asking(**asked), {DATASET: original}, key=key)
    assert again.output_digest == made.certificate.output_digest
    with pytest.raises(CertificateError, match="V004"):
        certify_output(made.path, asking(**asked), {DATASET: original}, key=key[::-1])


def test_buckets_beside_noise_are_compared_with_the_data_without_a_key(tmp_path):
    asked = {**BUCKETS, "method": ["l-diversity", "masking"]}
    asked["masked"] = [column("pay", masking="noise", sdShare=0.5)]
    original = tmp_path / "people.csv"
    original.write_text("age,ill,pay\n1,a,5.0\n2,b,7.5\n3,a,1.0\n4,b,3.5\n")
    made = applied(original, tmp_path / "out", **asked)
    assert certify_output(made.path, asking(**asked), {DATASET: original}).holds


ANATOMY = {**BUCKETS, "buckets": "anatomy"}
KEY = b"\x07" * 32


@pytest.fixture
def anatomised(tmp_path):
    """Return the folder of a release by Anatomy, and how it is certified with its data."""
    data = tmp_path / "in.csv"
    data.write_text("age,ill\n1,a\n2,b\n3,c\n4,d\n")
    folder = applied(data, tmp_path / "out" / "a.csv", key=KEY, **ANATOMY).path
    return folder, lambda **more: certify_output(folder, asking(**ANATOMY), {DATASET: data}, **more)


def test_buckets_are_made_again_with_the_key(anatomised):
    folder, certify = anatomised
    assert certify(key=KEY).holds
    table = (folder / QUASI).read_text().translate(str.maketrans("01", "10"))
    (folder / QUASI).write_text(table.replace("0,", "1,", 1))
    with pytest.raises(CertificateError, match="V004"):
        certify(key=KEY)


@pytest.mark.parametrize(("file", "one", "other"), [(QUASI, "\n4,", "\n5,"), (SENSITIVE, "d", "e")])
def test_values_that_the_data_do_not_have_are_refused(anatomised, file, one, other):
    folder, certify = anatomised
    assert certify().holds
    (folder.parent / "certificate.jsonld").unlink()
    (folder / file).write_text((folder / file).read_text().replace(one, other))
    with pytest.raises(CertificateError, match=r"V002 1 row of the output .* the data do not have"):
        certify()


def test_buckets_without_a_key_are_made_again_with_the_data(tmp_path):
    data = tmp_path / "in.csv"
    data.write_text("age,ill\n1,a\n2,b\n3,a\n4,b\n")
    folder = applied(data, tmp_path / "out" / "a.csv", **BUCKETS).path
    given = {DATASET: data}
    assert certify_output(folder, asking(**BUCKETS), given).holds
    (folder / QUASI).write_text("age,bucket\n1,1\n2,1\n3,0\n4,0\n")
    with pytest.raises(CertificateError, match="V004"):
        certify_output(folder, asking(**BUCKETS), given)
