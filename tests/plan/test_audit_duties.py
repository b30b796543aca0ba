from building import permission, policy

from policy_engine.plan.audit_duties import audit_duties, certified_duties
from policy_engine.policy import read_policy

TABLE, MODEL = "http://x.org/anonPeople", "http://x.org/model"


def asking(*duties):
    """Return a policy whose first permission, on a model, has duties."""
    used = permission(uid="http://x.org/use", target=MODEL, action="use", duty=[*duties])
    return read_policy(policy([used, permission(target=TABLE, action="read")]))


def test_a_certificate_fulfils_the_audits_of_its_output_and_no_other_duty():
    audit = {"uid": "http://x.org/audit", "action": "pe:membershipInference"}
    asked = asking(audit, {"uid": "http://x.org/tell", "action": "inform"})
    assert [duty.uid for duty in certified_duties(asked, MODEL)] == ["http://x.org/audit"]
    assert list(certified_duties(asked, TABLE)) == []


def test_both_ways_to_ask_for_an_audit_are_duties_of_the_permission_they_stand_in():
    one = {"uid": "http://x.org/one", "action": "pe:audit"}
    other = {"uid": "http://x.org/other", "action": "pe:membershipInference"}
    [(rule, first), (again, second)] = audit_duties(asking(one, other))
    assert rule is again
    assert rule.uid == "http://x.org/use"
    assert (first.uid, second.uid) == ("http://x.org/one", "http://x.org/other")
