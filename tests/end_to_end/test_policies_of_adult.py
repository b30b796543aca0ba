"""The shipped policies whose classes are accuracy-guided, on some rows of Adult, by night."""

import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest
from places import POLICIES, SHARED_DATA

from policy_engine import apply_policy, certify_output
from policy_engine.errors import CertificateError

pytestmark = pytest.mark.nightly

ADULT = "http://example.com/Adult"
KEY = b"k" * 32


@pytest.fixture(scope="module")
def adult(tmp_path_factory):
    """Return the place of a file with the first rows of Adult."""
    source = SHARED_DATA / "adult.csv.gz"
    if not source.exists():
        pytest.skip(f"THE POLICIES OF ADULT ARE NOT TESTED: {source} is not there")
    place = tmp_path_factory.mktemp("adult") / "adult.csv"
    pacsv.write_csv(pacsv.read_csv(source).slice(0, 4000), place)
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


def test_a_forest_of_few_rows_of_adult_is_refused_for_a_rare_value(adult, tmp_path):
    place = tmp_path / "out" / "model"
    with pytest.raises(CertificateError, match="V011 rareValues at most 0"):
        apply_policy(POLICIES / "guided-adult.jsonld", {ADULT: adult}, place, seed=1)
    assert not place.exists()
