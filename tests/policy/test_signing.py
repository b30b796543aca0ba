import json

import pytest
from building import people_policy
from signing import NOW, copied, key_of, trust_text

from policy_engine.errors import SignatureError
from policy_engine.policy import load_policy
from policy_engine.policy.signing import KIND, read_signature, sign_policies, untrusted
from policy_engine.trust.credentials import sign_credential
from policy_engine.trust.trust_file import read_trust

POLICY = load_policy(people_policy())
TRUST = read_trust(trust_text())


def codes(policy, text, trust=TRUST, now=NOW):
    return [one.code for one in untrusted([policy], trust, [read_signature(text, now=now)], now)]


def test_a_policy_that_was_signed_counts():
    signature = read_signature(sign_policies([POLICY], key_of(1), time=NOW), now=NOW)
    assert signature.digests == {POLICY.uid: POLICY.digest}
    assert codes(POLICY, sign_policies([POLICY], key_of(1), time=NOW)) == []
    assert [one.code for one in untrusted([POLICY], TRUST, [], NOW)] == ["Y009"]


def test_what_it_means_is_signed_and_not_its_letters():
    signed = sign_policies([POLICY], key_of(1), time=NOW)
    spaced = load_policy(people_policy().replace("\n", "\n\n"))
    assert codes(spaced, signed) == []
    changed = load_policy(people_policy().replace('"rightOperand": 2', '"rightOperand": 3'))
    assert codes(changed, signed) == ([] if changed.digest == POLICY.digest else ["Y011"])
    other = load_policy(people_policy(uid="http://x.org/other"))
    assert codes(other, signed) == ["Y009"]


def test_a_signature_counts_for_a_time_and_by_a_key():
    signed = sign_policies([POLICY], key_of(1), time=NOW, valid_until=NOW.replace(year=2027))
    assert codes(POLICY, signed) == []
    assert codes(POLICY, signed, now=NOW.replace(year=2028)) == ["Y007"]
    assert codes(POLICY, sign_policies([POLICY], key_of(2), time=NOW)) == ["Y009"]
    strange = sign_policies([POLICY], key_of(2), time=NOW, valid_until=NOW.replace(year=2027))
    assert codes(POLICY, strange, now=NOW.replace(year=2028)) == ["Y009"], "who signed it is first"


STATED = {"id": POLICY.uid, "pe:policyDigest": "x", "pe:inForceDigest": "x"}


@pytest.mark.parametrize(
    "subjects",
    [
        [{"id": POLICY.uid}],
        [STATED | {"pe:policyDigest": 5}],
        [STATED | {"pe:inForceDigest": 5}],
        [{"id": POLICY.uid, "pe:policyDigest": "x"}],
        [STATED | {"more": 1}],
        [STATED, STATED | {"pe:policyDigest": "y"}],
    ],
)
def test_other_statements_are_not_signatures_of_policies(subjects):
    text = json.dumps(sign_credential(KIND, subjects, key_of(1), time=NOW))
    with pytest.raises(SignatureError) as refused:
        read_signature(text, now=NOW)
    assert refused.value.code == "Y005"


def test_a_changed_signature_is_refused():
    document = copied(json.loads(sign_policies([POLICY], key_of(1), time=NOW)))
    document["credentialSubject"]["pe:policyDigest"] = "0" * 64
    with pytest.raises(SignatureError) as refused:
        read_signature(json.dumps(document), now=NOW)
    assert refused.value.code == "Y006"
