import pyarrow as pa
import pytest
from applying import asking
from building import DATASET, PEOPLE, people_policy
from building import column as coded

from policy_engine import apply_policy, compare_release
from policy_engine.audits.utility.comparing import ComparisonSettings, Sampled, compare
from policy_engine.audits.utility.model import Comparison, QueryErrors
from policy_engine.certificate.beside import load_certificate
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy


def step(**parts):
    return make_plan(read_policy(people_policy(**parts))).anonymize


def table(text):
    header, *lines = text.strip().splitlines()
    columns = zip(*(line.split(",") for line in lines), strict=True)
    return pa.table(dict(zip(header.split(","), map(list, columns), strict=True)))


# Two classes of three: the cells that Mondrian forms of these six people.
RELEASE = """\
age;city;disease
[20 - 40];{Oslo, Rome};cold
[20 - 40];{Oslo, Rome};flu
[20 - 40];{Oslo, Rome};flu
[41 - 61];{Bern, Oslo};cold
[41 - 61];{Bern, Oslo};cold
[41 - 61];{Bern, Oslo};flu
"""


def by_hand():
    header, *rows = [line.split(";") for line in RELEASE.splitlines()]
    return pa.table(dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)))


def people():
    original = table(PEOPLE)
    ages = pa.array([int(age) for age in original["age"].to_pylist()])
    return original.set_column(1, "age", ages)


@pytest.fixture
def found():
    return compare(people(), by_hand(), step())


def column(found, name):
    [one] = [one for one in found.columns if one.name == name]
    return one


def test_losses_are_those_of_the_cells(found):
    assert column(found, "age").loss == pytest.approx(20 / 41)
    assert column(found, "city").loss == pytest.approx(2 / 3)
    assert found.certainty_penalty == pytest.approx((20 / 41 + 2 / 3) / 2)
    assert column(found, "disease").loss is None


def test_information_lost_is_what_the_cells_leave_open(found):
    # Each age is one of three equally likely ones; each city of two, of log2(3) bits in all.
    assert column(found, "age").entropy == pytest.approx((1.5849625) / (2.5849625))
    assert column(found, "city").entropy == pytest.approx((2 - 1) / 1.5849625)


def test_distributions_spread_a_cell_over_its_values(found):
    bins = {one.label: (one.before, one.after) for one in column(found, "city").bins}
    assert bins["Oslo"] == pytest.approx((2 / 6, 3 / 6))
    assert bins["Rome"] == bins["Bern"] == pytest.approx((2 / 6, 1.5 / 6))
    assert column(found, "city").total_variation == pytest.approx(1 / 6)
    assert column(found, "age").total_variation == pytest.approx(0)


def test_a_column_that_is_kept_has_not_changed(found):
    disease = column(found, "disease")
    assert (disease.kind, disease.hellinger, disease.total_variation) == ("kept", 0, 0)
    assert (disease.values_before, disease.values_after) == (2, 2)


def test_pairs_are_those_of_which_one_has_changed(found):
    pairs = {(one.first, one.second): one for one in found.pairs}
    assert set(pairs) == {("age", "city"), ("age", "disease"), ("city", "disease")}
    together = pairs["city", "disease"]
    # As it was, each city has each disease once; after, the classes differ a little.
    assert together.before == pytest.approx(0)
    assert together.change == together.after > 0


def test_classes_are_counted_by_their_size(found):
    assert (found.classes.classes, found.classes.smallest, found.classes.largest) == (2, 3, 3)
    assert [(one.low, one.high, one.classes) for one in found.classes.bins] == [(3, 3, 2)]
    assert (found.discernability, found.average_class_ratio) == (18, 1.5)


def test_bounds_are_measured_without_a_certificate(found):
    measured = {(one.bound, one.column): one.achieved for one in found.measurements}
    assert measured == {("k", ""): 3, ("l", "disease"): 2}
    assert found.is_certified_input is None


def test_a_comparison_comes_back_from_its_json(found):
    without_rows = found.model_copy(update={"row_pairs": ()})
    assert Comparison.model_validate_json(found.model_dump_json()) == without_rows


def test_rows_of_the_original_are_in_no_json_and_in_nothing_shared(found):
    assert found.row_pairs
    assert "row_pairs" not in found.model_dump(mode="json")
    assert compare(people(), by_hand(), step(), shareable=True).row_pairs == ()


def test_records_are_at_risk_by_the_size_of_their_class(found):
    figures = {one.measure: one.value for one in found.risks.risks}
    # Two classes of three rows, into each of which the age and city of three people fit.
    assert figures["prosecutor-largest"] == figures["prosecutor-mean"] == pytest.approx(1 / 3)
    assert figures["prosecutor-above"] == figures["journalist-above"] == 1
    assert figures["marketer"] == figures["journalist-largest"] == pytest.approx(1 / 3)


def test_a_share_is_suppressed_where_a_cell_stands_for_all_values(found):
    assert column(found, "age").suppressed == column(found, "city").suppressed == 0
    assert column(found, "disease").suppressed is None
    hidden = by_hand().set_column(1, "city", pa.array(["{Bern, Oslo, Rome}"] * 3 + ["Bern"] * 3))
    everywhere = people().set_column(2, "city", pa.array(["Rome"] * 2 + ["Oslo"] + ["Bern"] * 3))
    assert column(compare(everywhere, hidden, step()), "city").suppressed == 0.5


def test_a_release_as_the_original_was_has_lost_nothing():
    original = people().select(["age", "city", "disease"])
    same = compare(
        original, original.cast(pa.schema([(n, "string") for n in original.column_names])), step()
    )
    assert same.certainty_penalty == same.entropy == 0
    assert isinstance(same.queries, QueryErrors)
    assert same.queries.percentiles[-1] == 0
    assert all(one.total_variation == 0 for one in (*same.columns, *same.pairs))


def test_rows_left_out_are_suppressed_and_have_lost_everything():
    fewer = compare(people(), by_hand().slice(0, 3), step())
    assert fewer.suppressed == 3
    # What is left is one class, whose own range is all there is to price it by.
    assert column(fewer, "city").entropy == pytest.approx(
        (3 * 2 + 3 * 2.5849625 - 6) / (6 * 1.5849625)
    )


def sampled_half(weights, **sampled):
    release = by_hand().take([0, 1, 3]).append_column("weight", pa.array(weights))
    return compare(people(), release, step(), sampled=Sampled(3, **sampled))


def test_rows_of_a_sample_count_by_their_weight():
    found = sampled_half(["4", "1", "1.0"], weight_column="weight")
    assert (found.sampled, found.suppressed, found.entropy) == (3, 0, None)
    diseases = {one.label: one.after for one in column(found, "disease").bins}
    assert diseases == pytest.approx({"cold": 5 / 6, "flu": 1 / 6})


def test_rows_of_a_sample_without_weights_count_alike():
    diseases = {one.label: one.after for one in column(sampled_half([9] * 3), "disease").bins}
    assert diseases == pytest.approx({"cold": 2 / 3, "flu": 1 / 3})


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "much", None])
def test_weights_that_are_not_positive_numbers_are_refused(weight):
    with pytest.raises(CertificateError, match="V001 The column 'weight' has weights"):
        sampled_half(["1", weight, "1"], weight_column="weight")


def test_counts_of_a_sample_stand_for_all_rows():
    original = people().select(["age", "city", "disease"])
    kept = original.cast(pa.schema([(n, "string") for n in original.column_names]))
    twice = pa.concat_tables([original, original])
    found = compare(twice, kept, step(), sampled=Sampled(6))
    assert found.queries.percentiles[-1] == 0
    assert all(one.total_variation == 0 for one in (*found.columns, *found.pairs))
    assert all(one.change in (None, pytest.approx(0)) for one in found.pairs)


def test_questions_are_asked_from_the_seed_given():
    first, again, other = (
        compare(
            people(), by_hand(), step(), settings=ComparisonSettings(queries=20, seed=seed)
        ).queries
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_without_questions_there_is_a_reason():
    found = compare(people(), by_hand(), step(), settings=ComparisonSettings(queries=0))
    assert isinstance(found.queries, NotApplicable)


def test_a_release_of_another_table_is_refused():
    younger = people().set_column(1, "age", pa.array([1, 2, 3, 4, 5, 6]))
    with pytest.raises(CertificateError, match=r"V002 .*matches no value of the original"):
        compare(younger, by_hand(), step())


def test_a_release_with_more_rows_than_its_original_is_refused():
    with pytest.raises(CertificateError, match="V003 The release has 6 rows, the original 2"):
        compare(people().slice(0, 2), by_hand(), step())


def test_every_column_that_a_table_lacks_is_named():
    with pytest.raises(DataError, match=r"C005 .*'city'") as error:
        compare(people().drop_columns(["city", "disease"]), by_hand(), step())
    assert len(error.value.problems) == 2


def test_an_empty_table_is_refused():
    with pytest.raises(DataError, match="R001"):
        compare(people().slice(0, 0), by_hand(), step())


def test_files_are_compared_with_what_their_certificate_says(released):
    certificate = load_certificate(released / "release")
    original = released / "people.csv"
    release = released / "release" / certificate.file
    found = compare(
        original, release, certificate.plan.anonymize, measured=certificate.measurements
    )
    assert found.is_certified_input is None
    assert found.certainty_penalty == certificate.utility.global_certainty_penalty
    assert found.discernability == certificate.utility.discernability
    assert (found.release.name, found.left_out) == (certificate.file, ("name", "phone"))
    assert found.methods == ("l-diversity (k 2, l 2)",)


def test_whether_an_original_is_the_certified_input_is_told_by_the_record(people):
    data, record = {DATASET: people / "people.csv"}, people / "record.json"
    apply_policy(people / "policy.jsonld", data, people / "release", record=record)
    (people / "other.csv").write_text(PEOPLE.replace("Ann", "Amy"))
    for name, is_it in (("people.csv", True), ("other.csv", False)):
        found = compare_release(people / name, people / "release", record=record, queries=1)
        assert found.is_certified_input is is_it


def test_a_value_far_off_leaves_no_column_in_one_bar():
    incomes = [*range(100), 999_999]
    original = pa.table({"age": incomes, "city": ["Rome"] * 101, "disease": ["flu"] * 101})
    cells = pa.table({"age": ["[0 - 999999]"] * 101, "city": ["Rome"] * 101})
    found = compare(original, cells.append_column("disease", original["disease"]), step())
    bins = column(found, "age").bins
    assert len(bins) > 10
    assert max(one.before for one in bins) < 0.1


def test_what_is_shareable_does_not_tell_which_row_of_a_class_is_which(tmp_path):
    asked = asking(quasi=["age"], sensitive=["income"], k=2, method="k-anonymity")
    found = []
    for outlier in (90, 99):
        last = [(age, 1_000_000 if age == outlier else 50) for age in (90, 99)]
        rows = [("age", "income"), *enumerate([10, 10, 20, 20, 30, 30]), *last]
        found.append(shared(tmp_path / str(outlier), asked, rows))
    assert found[0] == found[1]
    assert found[0] == {**found[0], "pairs": [], "entropy": None, "original": None}
    [age, income] = found[0]["columns"]
    assert (age["values_after"], income["values_after"]) == (4, 5)
    assert income["hellinger"] is income["total_variation"] is income["values_before"] is None


def test_what_is_shareable_is_the_same_with_a_row_that_was_suppressed(tmp_path):
    city = coded("city", generalization="prefix")
    parts = {"algorithm": "full-domain", "maxSuppression": 0.2, "sensitive": ["disease"]}
    asked = asking(quasi=[city], k=2, method="k-anonymity", **parts)
    rows = [("city", "disease"), *[("201", "flu")] * 5, *[("202", "cold")] * 5]
    found = []
    for number, one in enumerate(([], [("999", "rare")])):
        found.append(shared(tmp_path / str(number), asked, [*rows, *one]))
    assert found[0] == found[1]
    assert found[0]["discernability"] == 5 * 5 + 5 * 5


def shared(folder, asked, rows):
    """Return what may be shared of a release of rows."""
    folder.mkdir()
    (folder / "a.csv").write_text("".join(f"{one},{other}\n" for one, other in rows))
    apply_policy(asked, {DATASET: folder / "a.csv"}, folder / "release")
    found = compare_release(folder / "a.csv", folder / "release", shareable=True)
    assert found.is_shareable
    assert Comparison.model_validate_json(found.model_dump_json()) == found
    return found.model_dump(mode="json")


def test_no_classifier_learns_where_none_is_asked_for(released):
    found = compare_release(released / "people.csv", released / "release", classifier=False)
    assert found.classification == NotApplicable(reason="no classifier was asked for")


def test_a_taxonomy_that_is_not_given_is_asked_for(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "t.csv").write_text("Rome;Italy;*\nOslo;Norway;*\nBern;Swiss;*\n")
    city = coded("city", generalization="taxonomy", taxonomy={"@id": "http://x.org/t"})
    text = asking(method="k-anonymity", k=2, quasi=[city])
    known = {"http://x.org/t": tmp_path / "t.csv"}
    original, release = tmp_path / "people.csv", tmp_path / "release"
    apply_policy(text, {DATASET: original}, release, taxonomies=known)
    with pytest.raises(DataError, match=r"C012 .*Give taxonomies=\{NAME: FILE\}, or policy="):
        compare_release(original, release)
    assert compare_release(original, release, taxonomies=known).certainty_penalty is not None
