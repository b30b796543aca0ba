import hashlib
import hmac
import json

from policy_engine.data.commitment import Commitment, new_nonce

FACTS = {"digest": "ab" * 32, "rows": 3, "é": [1.5, None, True]}


def test_a_commitment_is_the_hmac_that_its_scheme_says():
    text = '{"digest":"' + "ab" * 32 + '","rows":3,"\\u00e9":[1.5,null,true]}'
    expected = hmac.digest(bytes(32), b"policy-engine record 1\n" + text.encode(), "sha256").hex()
    assert Commitment.make(FACTS, "00" * 32).value == expected


def test_a_commitment_opens_for_its_facts_and_its_nonce_alone():
    nonce = new_nonce()
    made = Commitment.make(FACTS, nonce)
    assert made.matches(json.loads(json.dumps(FACTS)), nonce)
    assert not made.matches({**FACTS, "rows": 4}, nonce)
    assert not made.matches(FACTS, new_nonce())


def test_two_commitments_to_one_thing_have_nothing_in_common():
    first, second = (Commitment.make(FACTS, new_nonce()).value for _ in range(2))
    assert first != second
    assert hashlib.sha256(json.dumps(FACTS).encode()).hexdigest() not in (first, second)
