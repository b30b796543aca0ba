import warnings

import pytest
from places import ROOT

from policy_engine import apply_policy
from policy_engine.audits.utility.comparing import ComparisonSettings, compare
from policy_engine.audits.utility.prediction import Task
from policy_engine.engines.local import LocalEngine

DATA = ROOT.parent / "shared" / "data" / "adult.csv.gz"


@pytest.fixture(scope="module")
def verified():
    if not DATA.exists():
        warnings.warn(f"SKIPPED: {DATA.name} is not beside the project", stacklevel=2)
        pytest.skip(f"{DATA} is missing: nothing is proved on it")
    return apply_policy(ROOT / "policies" / "adult.jsonld", {"http://example.com/Adult": DATA})


@pytest.mark.nightly
@pytest.mark.filterwarnings("default:SKIPPED")
def test_what_5_anonymous_adult_is_good_for(verified):
    plan = verified.plan
    task = Task(lambda part: LocalEngine().anonymize(part, plan.anonymize, plan.publish).table)
    certificate, settings = verified.certificate, ComparisonSettings(task=task)
    found = compare(
        DATA, verified.table, plan.anonymize, measured=certificate.measurements, settings=settings
    )
    assert found.certainty_penalty == certificate.utility.global_certainty_penalty
    assert found.discernability == certificate.utility.discernability
    assert found.queries.median < 0.05
    assert max(one.total_variation for one in found.columns) < 0.05
    learnt = found.classification
    assert learnt.target == "income"
    assert learnt.majority + 0.05 < learnt.anonymised < learnt.original + 3 * learnt.error
