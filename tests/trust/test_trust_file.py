import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signing import NOW, key_of, trust_text

from policy_engine.errors import DataError, TrustError
from policy_engine.trust import verify_certificate
from policy_engine.trust.credentials import sign_credential
from policy_engine.trust.proofs import add_proof
from policy_engine.trust.rotations import KIND, read_rotation, sign_rotation
from policy_engine.trust.trust_file import load_trust, read_trust

OUTPUT, DATASET = "http://e.org/out", "http://e.org/data"
DID, OTHER = key_of(1).public.did, key_of(2).public.did
DAY = timedelta(days=1)


def refusal(trust, key=1, signed=NOW, output=OUTPUT, datasets=(DATASET,), now=NOW):
    problem = trust.certificate_refusal(key_of(key).public, signed, output, datasets, now)
    return problem and problem.code


def said(**parts):
    return read_trust(trust_text({"key": DID, **parts}))


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"outputs": [OUTPUT]}, None),
        ({"outputs": ["http://e.org/*"]}, None),
        ({"outputs": ["http://e.org/o"]}, "Y009"),
        ({"outputs": []}, "Y009"),
        ({"datasets": [DATASET]}, None),
        ({"datasets": ["*"]}, None),
        ({"datasets": ["http://e.org/dat"]}, "Y009"),
        ({"outputs": [OUTPUT], "datasets": ["http://f.org/*"]}, "Y009"),
        ({"policies": ["*"]}, "Y009"),
    ],
)
def test_a_key_signs_certificates_of_what_it_is_named_for(parts, code):
    assert refusal(said(**parts)) == code
    assert refusal(said(**parts), key=2) == "Y009"


def test_all_inputs_have_to_be_among_the_datasets():
    trust = said(datasets=[DATASET])
    assert refusal(trust, datasets=(DATASET, DATASET)) is None
    assert refusal(trust, datasets=(DATASET, "http://e.org/more")) == "Y009"
    assert refusal(trust, datasets=()) == "Y009"


def test_a_key_signs_policies_of_what_it_is_named_for():
    trust = said(policies=["http://e.org/policy"])
    assert trust.policy_refusal(key_of(1).public, NOW, "http://e.org/policy", NOW) is None
    assert trust.policy_refusal(key_of(1).public, NOW, "http://e.org/policy2", NOW).code == "Y009"
    assert not trust.accepts_unsigned("http://e.org/policy")


@pytest.mark.parametrize(("days", "code"), [(-2, "Y009"), (-1, None), (0, None), (1, "Y009")])
def test_a_key_counts_for_what_was_signed_in_its_time(days, code):
    """Not yet valid, and expired; what it signed in its time stays valid after it."""
    times = {"from": (NOW - DAY).isoformat(), "until": (NOW + DAY).isoformat()}
    trust = said(outputs=["*"], **times)
    assert refusal(trust, signed=NOW + days * DAY, now=NOW + 400 * DAY) == code


def test_a_revoked_key_counts_for_nothing_it_ever_signed():
    revoked = [{"key": DID, "since": NOW.isoformat(), "reason": "stolen"}]
    trust = read_trust(trust_text(revoked=revoked))
    assert refusal(trust, signed=NOW - 400 * DAY) == "Y010"
    assert trust.policy_refusal(key_of(1).public, NOW, "http://e.org/p", NOW).code == "Y010"
    assert refusal(trust, signed=NOW - 400 * DAY, now=NOW - DAY) == "Y010", "it is known by now"
    later = [{"key": DID, "since": "2999-01-01T00:00:00Z"}]
    assert refusal(read_trust(trust_text(revoked=later))) is None


def rotated(*pairs, **parts):
    statements = [sign_rotation(key_of(a), key_of(b).public, NOW) for a, b in pairs]
    return read_trust(trust_text({"key": DID, "outputs": ["*"], **parts}, rotations=statements))


def test_a_key_may_sign_what_the_one_before_it_may_from_then_on():
    trust = rotated((1, 2), (2, 3))
    assert [refusal(trust, key=key) for key in (1, 2, 3, 4)] == [None, None, None, "Y009"]
    assert refusal(trust, key=2, signed=NOW - DAY) == "Y009"
    assert refusal(trust, key=1, signed=NOW - DAY) is None, "old certificates stay valid"


def test_a_key_passes_on_what_it_may_sign_while_it_may():
    ended = rotated((1, 2), until=(NOW - DAY).isoformat())
    assert refusal(ended, key=2) == "Y009"
    ending = rotated((1, 2), until=(NOW + DAY).isoformat())
    assert refusal(ending, key=2, signed=NOW + 2 * DAY, now=NOW + 2 * DAY) is None


def test_a_revoked_key_vouches_for_none():
    statements = [sign_rotation(key_of(1), key_of(2).public, NOW)]
    revoked = [{"key": DID, "since": NOW.isoformat()}]
    assert refusal(read_trust(trust_text(rotations=statements, revoked=revoked)), key=2) == "Y009"


def test_keys_that_vouch_for_one_another_are_followed_once():
    assert refusal(rotated((1, 2), (2, 1)), key=2) is None


def test_a_rotation_that_is_valid_from_before_it_was_signed_counts_since_it_was():
    """The holder of a key that may not sign any more dates the beginning, and not the proof."""
    subject = {"id": key_of(2).public.did, "pe:succeeds": DID}
    context = {"pe": "https://w3id.org/policy-engine/ns#"}
    statement = sign_credential(KIND, [subject], key_of(1), context=context, time=NOW)
    early = {**statement, "validFrom": "2020-01-01T00:00:00Z"}
    backdated = add_proof(early, key_of(1), NOW)
    ended = {"key": DID, "outputs": ["*"], "until": (NOW - DAY).isoformat()}
    assert refusal(read_trust(trust_text(ended, rotations=[backdated])), key=2) == "Y009"
    assert read_rotation(backdated, now=NOW).since == NOW
    assert not script_covers(trust_text(ended, rotations=[backdated]))
    running = trust_text({"key": DID, "outputs": ["*"]}, rotations=[backdated])
    assert refusal(read_trust(running), key=2) is None
    assert script_covers(running)


def script_covers(text, key=2, signed=NOW):
    """Tell whether the script lets a key sign at a time."""
    facts = {"publish": OUTPUT, "reads": [DATASET]}
    trust = verify_certificate.read_trust(text.encode(), NOW)
    return verify_certificate.covered(key_of(key).public.multikey, signed, facts, trust)


# The statements, each of an old key, a new one and a day; the days within which the first key may
# sign; who signs on which day, and whether it may.
PASSED_ON = [
    ([(1, 2, -9), (2, 3, -8)], (-50, -1), 3, -8, True),
    ([(1, 2, -9), (2, 3, -8)], (-50, -1), 3, -9, False),
    ([(2, 3, -8), (1, 2, -9)], (-50, -1), 3, 0, True),
    ([(2, 3, -9), (1, 2, -9)], (-50, -1), 3, 0, True),
    # The second key had nothing yet.
    ([(1, 2, -8), (2, 3, -9)], (-50, -1), 3, 0, False),
    ([(2, 3, -9), (1, 2, -8)], (-50, -1), 3, 0, False),
    ([(1, 2, -8), (2, 3, -9)], (-50, -1), 2, 0, True),
    ([(1, 2, -8), (2, 3, -9), (2, 3, -7)], (-50, -1), 3, -7, True),
    ([(1, 2, -8), (2, 3, -9), (2, 3, -7)], (-50, -1), 3, -8, False),
    ([(3, 4, -7), (2, 3, -9), (1, 2, -8)], (-50, -1), 4, 0, False),
    # Two statements of one pair.
    ([(1, 2, -5), (1, 2, -9)], (-50, -1), 2, -7, True),
    ([(1, 2, -9), (1, 2, -5)], (-50, -1), 2, -7, True),
    ([(1, 2, -5), (1, 2, -9)], (-50, -1), 2, -10, False),
    ([(1, 2, -5), (1, 2, -9)], (-7, -1), 2, -6, False),
    ([(1, 2, -9), (1, 2, -5)], (-7, -1), 2, -5, True),
    ([(1, 2, -5), (1, 2, -9)], (-50, -6), 2, 0, True),
    ([(1, 2, -5), (2, 3, -7), (1, 2, -9)], (-50, -1), 3, 0, True),
    # Keys in a circle renew nothing.
    ([(1, 2, -9), (2, 1, -8)], (-50, -1), 1, 0, False),
    ([(1, 2, -9), (2, 1, -8)], (-50, -1), 3, 0, False),
]


@pytest.mark.parametrize(("statements", "within", "key", "day", "is_covered"), PASSED_ON)
def test_a_key_passes_on_only_what_it_has_in_both(statements, within, key, day, is_covered):
    since, until = ((NOW + one * DAY).isoformat() for one in within)
    text = trust_text(
        {"key": DID, "outputs": ["*"], "from": since, "until": until},
        rotations=[
            sign_rotation(key_of(old), key_of(new).public, NOW + when * DAY)
            for old, new, when in statements
        ],
    )
    signed = NOW + day * DAY
    assert refusal(read_trust(text), key=key, signed=signed) == (None if is_covered else "Y009")
    assert script_covers(text, key, signed) == is_covered


def test_a_rotation_has_no_end():
    subject = {"id": key_of(2).public.did, "pe:succeeds": DID}
    context = {"pe": "https://w3id.org/policy-engine/ns#"}
    ending = sign_credential(
        KIND, [subject], key_of(1), context=context, time=NOW, valid_until=NOW + DAY
    )
    with pytest.raises(TrustError, match="/rotations/0"):
        read_trust(trust_text(rotations=[ending]))
    with pytest.raises(verify_certificate.RefusedError):
        verify_certificate.read_trust(trust_text(rotations=[ending]).encode(), NOW)


def test_of_two_keys_that_succeed_one_nobody_knows_which_was_stolen():
    with pytest.raises(TrustError, match="vouches for 2 next keys"):
        rotated((1, 2), (1, 3))
    statements = [sign_rotation(key_of(1), key_of(one).public, NOW) for one in (2, 3)]
    with pytest.raises(verify_certificate.RefusedError, match="two successors"):
        verify_certificate.read_trust(trust_text(rotations=statements).encode(), NOW)
    revoked = [{"key": DID, "since": NOW.isoformat()}]
    void = trust_text(rotations=statements, revoked=revoked)
    assert refusal(read_trust(void), key=2) == refusal(read_trust(void), key=3) == "Y009"
    assert not script_covers(void)
    rotated((1, 2), (1, 2))


WRONG = [
    "",
    "{",
    "[]",
    "{}",
    '{"trust": 1}',
    '{"keys": []}',
    '{"trust": 2, "keys": []}',
    '{"trust": true, "keys": []}',
    '{"trust": 1.0, "keys": []}',
    '{"trust": 1e0, "keys": []}',
    '\ufeff{"trust": 1, "keys": []}',
    '{"trust": 1, "keys": {}}',
    '{"trust": 1, "keys": [1]}',
    '{"trust": 1, "keys": [{}]}',
    '{"trust": 1, "keys": [], "keys": []}',
    '{"trust": 1, "keys": [], "key": []}',
    '{"trust": 1, "keys": [], "revoked": [{}]}',
    '{"trust": 1, "keys": [], "revoked": {}}',
    '{"trust": 1, "keys": [], "rotations": [{}]}',
    '{"trust": 1, "keys": [], "rotations": ["rotation.json"]}',
    '{"trust": 1, "keys": [], "unsigned-policies": "*"}',
    '{"trust": 1, "keys": [], "unsigned-policies": ["a*b"]}',
    trust_text({"key": DID}),
    trust_text({"key": DID, "outputs": "*"}),
    trust_text({"key": DID, "outputs": [1]}),
    trust_text({"key": DID, "outputs": [""]}),
    trust_text({"key": DID, "outputs": ["*"], "untill": "2027-01-01T00:00:00Z"}),
    trust_text({"key": DID, "outputs": ["*"], "until": "2027-01-01"}),
    trust_text({"key": DID, "outputs": ["*"], "until": None}),
    trust_text({"key": DID, "outputs": ["*"], "name": 1}),
    trust_text({"key": DID[:-1], "outputs": ["*"]}),
    trust_text({"key": None, "outputs": ["*"]}),
    trust_text({"outputs": ["*"]}),
    trust_text(
        {"key": DID, "outputs": ["*"], "from": NOW.isoformat(), "until": NOW.isoformat()},
    ),
    trust_text(revoked=[{"key": DID}]),
    trust_text(revoked=[{"key": DID, "since": "now"}]),
    trust_text(revoked=[{"key": DID, "since": NOW.isoformat(), "why": ""}]),
    trust_text(rotations=[{**sign_rotation(key_of(1), key_of(2).public, NOW), "issuer": OTHER}]),
]


@pytest.mark.parametrize("text", WRONG)
def test_a_trust_file_that_is_not_understood_trusts_nobody(text):
    with pytest.raises(TrustError) as refused:
        read_trust(text)
    assert {problem.code for problem in refused.value.problems} == {"Y008"}
    with pytest.raises(verify_certificate.RefusedError, match="Y008"):
        verify_certificate.read_trust(text.encode(), NOW)


def test_every_problem_is_told_at_once_with_its_place():
    entries = [{"key": "x", "outputs": ["*"]}, {"key": DID, "output": ["*"]}]
    with pytest.raises(TrustError) as refused:
        read_trust(trust_text(*entries, revoked=[{"key": DID}]), "trust.json")
    places = [problem.place.pointer for problem in refused.value.problems]
    assert {"/keys/0/key", "/keys/1", "/revoked/0"} <= {*places}
    assert "Did you mean 'outputs'?" in str(refused.value)


def test_a_trust_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError) as refused:
        load_trust(tmp_path / "absent.json")
    assert refused.value.code == "C003"


WHOLE = json.loads(
    trust_text(
        {"key": DID, "name": "Office", "outputs": ["*"], "from": NOW.isoformat()},
        revoked=[{"key": OTHER, "since": NOW.isoformat()}],
        rotations=[sign_rotation(key_of(1), key_of(3).public, NOW)],
    )
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("aé*", max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ae", max_size=2), inner),
    max_leaves=4,
)


def paths(value, before=()):
    yield before
    held = value if isinstance(value, dict | list) else ()
    for name, part in held.items() if isinstance(held, dict) else enumerate(held):
        yield from paths(part, (*before, name))


@given(st.sampled_from([*paths(WHOLE)]), JSON)
def test_a_part_of_another_kind_never_gives_more_trust(path, value):
    """Whatever a part is changed to: an error of the one kind, or no key that was not there."""
    document = json.loads(json.dumps(WHOLE))
    if path:
        inner = document
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
    else:
        document = value
    try:
        trust = read_trust(json.dumps(document))
    except TrustError as error:
        codes = {problem.code for problem in error.problems}
    else:
        codes = {refusal(trust, key=2), refusal(trust, key=4)}
    assert codes <= {"Y008", "Y009", "Y010"}
