import pytest
from hypothesis import given
from hypothesis import strategies as st
from signing import MULTIKEY, key_of

from policy_engine.errors import TrustError
from policy_engine.trust.multikeys import PublicKey, base58, multibase, read_public_key

NAMES = (MULTIKEY, f"did:key:{MULTIKEY}", f"did:key:{MULTIKEY}#{MULTIKEY}")
PRIME = 2**255 - 19


@pytest.mark.parametrize("name", NAMES)
def test_a_key_has_three_names(name):
    key = read_public_key(name)
    assert (key.multikey, key.did, key.verification_method) == NAMES
    assert str(key) == NAMES[1]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "z",
        "did:key:",
        MULTIKEY[1:],
        f"z1{MULTIKEY[1:]}",
        f"{MULTIKEY} ",
        f"{MULTIKEY}#{MULTIKEY}",
        f"did:key:{MULTIKEY}#",
        f"did:key:{MULTIKEY}#{key_of(1).public.multikey}",
        f"did:web:{MULTIKEY}",
        f"u{MULTIKEY[1:]}",
        f"{MULTIKEY[:-1]}0",
        f"z{base58(bytes([0xE7, 1]) + bytes(32))}",
        f"z{base58(bytes([0xED, 1]) + bytes(range(31)))}",
        f"z{base58(bytes([0xED, 1]) + bytes(range(33)))}",
        "z" + "6" * 5000,
        "zé",
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(TrustError) as refused:
        read_public_key(name)
    assert refused.value.code == "Y003"


@pytest.mark.parametrize(
    "y",
    [
        0,
        1,
        PRIME - 1,
        PRIME,
        PRIME + 1,
        2**255 - 1,
        2707385501144840649318225287225658788936804267575313519463743609750303402022,
        55188659117513257062467267217118295137698188065244968500265048394206261417927,
    ],
)
@pytest.mark.parametrize("sign", [0, 1])
def test_points_of_small_order_and_second_encodings_are_refused(y, sign):
    """RFC 8032, section 5.1.3 and 8; anything could be signed under a key of small order."""
    with pytest.raises(TrustError):
        PublicKey((y | sign << 255).to_bytes(32, "little"))


@given(st.binary(max_size=80))
def test_bytes_have_one_text_and_it_has_those_bytes(content):
    text = f"z{base58(content)}"
    assert multibase(text) == (content or None)
    assert multibase(f"{text}=") is None


def test_base58_has_the_values_of_its_draft():
    """draft-msporny-base58-03, section 5."""
    assert base58(b"Hello World!") == "2NEpo7TZRRrLZSi2U"
    assert base58(bytes.fromhex("0000287fb4cd")) == "11233QC4"
