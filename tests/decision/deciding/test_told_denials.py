"""Denials that say what was not given: a purpose, a decision log."""

from owning import ANN, CLAIMS, HOSPITAL, INSURER, OWNED, VISITS, decided, lets, makes, policy, rule

from policy_engine import terms
from policy_engine.policy import Constraint, Value
from policy_engine.policy.model import READ_SO_FAR

STUDY, SALE = "http://e.org/study", "http://e.org/sale"
ONCE = Constraint(f"{terms.ODRL}count", f"{terms.ODRL}lteq", (Value(1),))
MADE = "http://e.org/Made"


def test_a_prohibition_for_a_purpose_is_told_where_the_request_names_none():
    keeps = policy(HOSPITAL, rule("prohibition", VISITS, purposes=(SALE,)))
    reason = decided([keeps]).reason
    assert reason.endswith(f"It is for the purpose {SALE}, and the request names none.")
    assert "names none" not in decided([keeps], purpose=SALE).reason
    both = policy(HOSPITAL, rule("prohibition", VISITS, purposes=(SALE, STUDY)))
    told = f" It is for the purpose {SALE} or {STUDY}, and the request names none."
    assert decided([both]).reason == f"urn:prohibition prohibits it.{told}"


def test_a_count_that_is_not_known_is_told_to_be_in_a_decision_log():
    reads = policy(HOSPITAL, rule("permission", VISITS, constraints=(ONCE,)))
    assert "count is not known without a decision log" in decided([reads]).reason
    keeps = policy(HOSPITAL, rule("prohibition", VISITS, constraints=(ONCE,)))
    assert decided([keeps]).reason == (
        "urn:prohibition prohibits it. What was counted so far is not known without a decision log."
    )
    read = Constraint(READ_SO_FAR, f"{terms.ODRL}isAnyOf", (Value(CLAIMS),))
    apart = policy(HOSPITAL, rule("prohibition", VISITS, constraints=(read,)))
    assert decided([apart]).reason == (
        "urn:prohibition prohibits it. What was read so far is not known without a decision log."
    )


def test_a_rule_is_a_near_miss_once():
    lab = makes(MADE, VISITS, HOSPITAL, purpose=STUDY)
    near = decided([lab], VISITS, assignee=ANN).near_misses
    assert len(near) == 1


def test_what_is_made_by_a_leave_for_a_purpose_lacks_the_purpose_alone():
    lab = makes(MADE, VISITS, INSURER, purpose=STUDY, assignee=INSURER)
    given = lets(HOSPITAL, VISITS, INSURER, purposes=(STUDY,))
    asks = {"assignee": INSURER, "action": "anonymize", "owners": OWNED}
    near = decided([given, lab], VISITS, **asks).near_misses[0]
    assert near.missing == (f"it is for the purpose {STUDY}, and the request names none",)
    assert decided([given, lab], VISITS, purpose=STUDY, **asks).permitted
