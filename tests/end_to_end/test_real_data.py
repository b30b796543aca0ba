import warnings
from collections import Counter

import pytest
from places import ROOT

from policy_engine import apply_policy, certify_output
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
