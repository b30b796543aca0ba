import pytest
from signing import NOW, key_of

from policy_engine.errors import SignatureError
from policy_engine.trust.credentials import sign_credential
from policy_engine.trust.rotations import KIND, read_rotation, sign_rotation

OLD, NEW = key_of(1), key_of(2)
CONTEXT = {"pe": "https://w3id.org/policy-engine/ns#"}


def test_the_old_key_says_which_one_is_next():
    rotation = read_rotation(sign_rotation(OLD, NEW.public, NOW), now=NOW)
    assert (rotation.old, rotation.new, rotation.since) == (OLD.public, NEW.public, NOW)


@pytest.mark.parametrize(
    "subjects",
    [
        [{"id": NEW.public.did}],
        [{"id": NEW.public.did, "pe:succeeds": NEW.public.did}],
        [{"id": NEW.public.multikey, "pe:succeeds": OLD.public.did}],
        [{"id": "did:key:x", "pe:succeeds": OLD.public.did}],
        [{"id": OLD.public.did, "pe:succeeds": OLD.public.did}],
        [{"id": 5, "pe:succeeds": OLD.public.did}],
        [{"id": NEW.public.did, "pe:succeeds": OLD.public.did, "more": 1}],
        [{"id": NEW.public.did, "pe:succeeds": OLD.public.did}] * 2,
    ],
)
def test_nobody_vouches_for_keys_otherwise(subjects):
    statement = sign_credential(KIND, subjects, OLD, context=CONTEXT, time=NOW)
    with pytest.raises(SignatureError):
        read_rotation(statement, now=NOW)


def test_a_key_does_not_make_itself_the_next_of_another():
    statement = sign_rotation(NEW, OLD.public, NOW)
    statement["credentialSubject"] = {"id": NEW.public.did, "pe:succeeds": OLD.public.did}
    with pytest.raises(SignatureError):
        read_rotation(statement, now=NOW)
