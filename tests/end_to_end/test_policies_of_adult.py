"""The shipped policies whose classes are accuracy-guided, on Adult, by night."""

import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest
from places import POLICIES, SHARED_DATA

from policy_engine import apply_policy, certify_output

pytestmark = pytest.mark.nightly

ADULT = "http://example.com/Adult"
KEY = b"k" * 32


def source_of_adult():
    source = SHARED_DATA / "adult.csv.gz"
    if not source.exists():
        pytest.skip(f"THE POLICIES OF ADULT ARE NOT TESTED: {source} is not there")
    return source


@pytest.fixture(scope="module")
def adult(tmp_path_factory):
    """Return the place of a file with the first rows of Adult."""
    place = tmp_path_factory.mktemp("adult") / "adult.csv"
    pacsv.write_csv(pacsv.read_csv(source_of_adult()).slice(0, 4000), place)
    return place


def test_values_of_adult_are_permuted_in_diverse_classes(adult, tmp_path):
    output, policy = tmp_path / "out" / "permuted.csv", POLICIES / "permuted-adult.jsonld"
    output.parent.mkdir()
    made = apply_policy(policy, {ADULT: adult}, output, key=KEY)
    achieved = {one.bound: one.achieved for one in made.certificate.measurements}
    assert achieved["linkProbability"] <= 1 / 50
    assert achieved["l"] == 2
    before, after = pacsv.read_csv(adult), pacsv.read_csv(output)
    for name in ("age", "education", "native-country"):
        counts = [pc.value_counts(one[name]).to_pylist() for one in (before, after)]
        assert sorted(counts[0], key=repr) == sorted(counts[1], key=repr)
    assert pc.max(after["capital-gain"]).as_py() == 15000
    assert made.record.moves.unmoved < 200
    again = certify_output(output, policy, {ADULT: adult}, key=KEY)
    assert again.measurements == made.certificate.measurements


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    """Return what the policy makes of all of Adult, and its place."""
    source = source_of_adult()
    place = tmp_path_factory.mktemp("all") / "model"
    return apply_policy(POLICIES / "guided-adult.jsonld", {ADULT: source}, place, seed=1), place


def test_a_forest_of_all_of_adult_is_released(forest):
    made, place = forest
    certificate = made.certificate
    assert certificate.holds
    assert (certificate.rows_out, certificate.attempts) == (12_209, 1)
    achieved = {one.bound: one.achieved for one in certificate.measurements}
    assert achieved == {"k": 50, "l": 2}
    assert (certificate.files.smallest_leaf, certificate.files.rare_values) == (50, 0)
    # Guessing is right about three quarters.
    assert certificate.models[0].on_others.low > 0.8
    assert (place / "guidedIncomeModel" / "model.skops").exists()


def test_attacks_on_a_forest_of_guided_classes_reach_little_more_than_guessing(forest):
    attacks = forest[0].certificate.attacks
    assert {one.attack for one in attacks} == {"shokri", "loss", "lira-offline", "rmia"}
    areas = [one.reached for one in attacks if one.bound.measure == "auc"]
    assert len(areas) == 4
    assert all(0.47 < one.value < 0.54 for one in areas)


def test_a_forest_of_few_rows_of_adult_is_released_whose_rare_texts_are_those_of_other_columns(
    adult, tmp_path
):
    # Of few countries, "?" is one of fewer than 50 members; of many jobs, it is in the encoding.
    place = tmp_path / "out" / "model"
    made = apply_policy(POLICIES / "guided-adult.jsonld", {ADULT: adult}, place, seed=1)
    assert made.certificate.files.rare_values == 0
    assert made.certificate.holds
