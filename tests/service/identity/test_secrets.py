from policy_engine.service.identity.secrets import (
    csrf_token,
    digest_of,
    is_same,
    new_key,
    new_secret,
    prefix_of,
)


def test_secrets_are_long_and_never_the_same():
    assert len({new_secret() for _ in range(100)}) == 100
    assert len(new_secret()) >= 43  # 256 bits in base64


def test_a_key_is_found_by_its_prefix():
    prefix, key = new_key()
    assert prefix_of(key) == prefix
    assert prefix_of("sk_abc_def") == prefix_of("pe_abc") == prefix_of("") == ""


def test_a_token_is_of_its_cookie_alone():
    assert csrf_token("a") == csrf_token("a") != csrf_token("b")
    assert csrf_token("a") != digest_of("a")


def test_texts_are_compared_whole():
    assert is_same("ä", "ä")
    assert not is_same("a", "ab")
