import warnings
from collections import Counter

import pytest
from places import ROOT

from policy_engine import apply_policy, certify_output, compare_release
from policy_engine.data.cells import read_cell
from policy_engine.engines import tables

DATA = ROOT.parent / "shared" / "data"


def real(name):
    path = DATA / name
    if not path.exists():
        warnings.warn(f"SKIPPED: the real data set {name} is not beside the project", stacklevel=2)
        pytest.skip(f"the real data set {name} is not in {DATA}: nothing is proved on it")
    return path


@pytest.fixture(scope="module")
def adult(tmp_path_factory):
    path = real("adult.csv.gz")
    folder = tmp_path_factory.mktemp("adult")
    return apply_policy(
        ROOT / "policies" / "adult.jsonld", {"http://example.com/Adult": path}, folder / "out"
    )


@pytest.mark.filterwarnings("default:SKIPPED")
def test_adult_is_5_anonymous(adult):
    [measured] = adult.certificate.measurements
    assert measured.achieved >= 5
    assert adult.certificate.rows_out == 48_842
    again = certify_output(adult.path, ROOT / "policies" / "adult.jsonld")
    assert again.output_digest == adult.certificate.output_digest


@pytest.mark.filterwarnings("default:SKIPPED")
def test_adult_loses_little(adult):
    assert adult.certificate.utility.global_certainty_penalty < 0.026


@pytest.mark.filterwarnings("default:SKIPPED")
def test_adult_keeps_its_incomes_and_generalises_its_ages(adult):
    before = tables.read_table(DATA / "adult.csv.gz", ("income",))["income"].to_pylist()
    assert Counter(adult.table["income"].to_pylist()) == Counter(before)
    ages = {read_cell(cell) for cell in adult.table["age"].unique().to_pylist()}
    assert all(17 <= int(cell.values[0]) <= int(cell.values[-1]) <= 90 for cell in ages)


@pytest.mark.nightly
@pytest.mark.filterwarnings("default:SKIPPED")
def test_diabetes_encounters_are_diverse_in_readmission_and_diagnosis(tmp_path):
    path = real("diabetes_130us.csv.gz")
    release = apply_policy(
        ROOT / "policies" / "diabetes.jsonld",
        {"http://example.com/Encounters": path},
        tmp_path / "out",
    )
    found = {(m.bound, m.column): m.achieved for m in release.certificate.measurements}
    assert found["k", ""] >= 10
    assert min(found["l", "readmitted"], found["l", "diag_1"]) >= 2
    assert not {"encounter_id", "patient_nbr", "weight"} & set(release.table.column_names)
    assert release.certificate.rows_out == 101_766


@pytest.fixture(scope="module")
def census(tmp_path_factory):
    path = real("census_casc.csv")
    folder = tmp_path_factory.mktemp("census")
    policy = ROOT / "policies" / "census-masked.jsonld"
    data = {"http://example.com/Census": path}
    return apply_policy(policy, data, folder / "out", key=b"\x07" * 32)


@pytest.mark.filterwarnings("default:SKIPPED")
def test_census_is_masked_and_certified_again(census):
    assert all(one.achieved == 0 for one in census.certificate.measurements)
    assert census.table.shape == (1_080, 13)
    policy = ROOT / "policies" / "census-masked.jsonld"
    data = {"http://example.com/Census": DATA / "census_casc.csv"}
    again = certify_output(census.path, policy, data=data, key=b"\x07" * 32)
    assert again.output_digest == census.certificate.output_digest
    losses = {one.column: one.figures.get("informationLoss") for one in again.maskings}
    assert (losses["AGI"], losses["PEARNVAL"]) == (2.026, 0.977)


@pytest.mark.filterwarnings("default:SKIPPED")
def test_incomes_that_are_masked_together_are_shared_by_five(census):
    taxes = ["AGI", "PTOTVAL", "TAXINC", "FEDTAX", "STATETAX"]
    for names in (taxes, ["PEARNVAL", "WSALVAL", "ERNVAL", "FICA"]):
        rows = zip(*(census.table[name].to_pylist() for name in names), strict=True)
        assert min(Counter(rows).values()) >= 5


@pytest.mark.filterwarnings("default:SKIPPED")
def test_census_keeps_its_means_and_most_of_its_correlations(census):
    found = compare_release(DATA / "census_casc.csv", census.path).masking
    columns = {one.name: one for one in found.columns}
    assert found.probabilistic.mean < 0.2
    swapped = [columns[name] for name in ("POTHVAL", "INTVAL", "EMCONTRB")]
    assert [(one.shared_values, one.probabilistic.total) for one in swapped] == [(1, 0)] * 3
    assert found.together.correlation_change < 0.05
    assert found.together.eigenvalues_before[0] == pytest.approx(7.631, abs=1e-3)
    assert sum(found.together.eigenvalues_after) == pytest.approx(13)


@pytest.mark.nightly
@pytest.mark.filterwarnings("default:SKIPPED")
def test_diabetes_encounters_have_ten_diagnoses_in_every_bucket(tmp_path):
    path = real("diabetes_130us.csv.gz")
    policy = ROOT / "policies" / "diabetes-buckets.jsonld"
    release = apply_policy(policy, {"http://example.com/Encounters": path}, tmp_path / "out")
    bounds = {one.bound: one.achieved for one in release.certificate.measurements}
    assert bounds == {"bucket-k": 10, "bucket-l": 10, "anatomy-l": 10}
    sensitive = release.tables["sensitive"]
    assert set(sensitive["count"].to_pylist()) == {1}
    before = tables.read_table(path, ("diag_1",))["diag_1"].to_pylist()
    assert Counter(sensitive["diag_1"].to_pylist()) == Counter(before)
    again = certify_output(tmp_path / "out", policy)
    assert again.output_digest == release.certificate.output_digest
