import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine import terms


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("http://localhost:8000/ns/mosaicrown/k", f"{terms.MOSAICROWN}k"),
        (f"{terms.ODRL}neg", f"{terms.ODRL}neq"),
        ("http://x.org/neg", "http://x.org/neg"),
    ],
)
def test_canonical_mends_old_and_misprinted_names(old, new):
    assert terms.canonical(old) == new


@pytest.mark.parametrize(
    ("name", "one"),
    [
        *(("%41%6e%6E", "Ann"), ("a%2fb", "a%2Fb"), ("a%20b", "a%20b"), ("%2e%2E/x", "x")),
        *((f"N{form}e", "N%C3%A9e") for form in ("\u00e9", "e\u0301", "%c3%a9", "e%CC%81")),
        *(("N%65%CC%81e", "N%C3%A9e"), ("Ne%cc%81e", "N%C3%A9e"), ("%FF%C3", "%FF%C3")),
        # An accent joins no escape that stays, whose last letter it stands behind.
        *(("%3D%CC%8C", "%3D%CC%8C"), ("%2F\u0307", "%2F%CC%87")),
        *((f"{form}\u0338", "%E2%89%A0") for form in ("=", "%3D")),
        *(("<%CC%B8", "%E2%89%AE"), ("%3C%CC%B8", "%E2%89%AE")),
        *(("100%", "100%25"), ("%%341", "%2541"), ("\ud800", "%ED%A0%80")),
    ],
)
def test_canonical_takes_one_of_the_spellings_of_a_name(name, one):
    assert terms.canonical(f"http://x.org/{name}") == f"http://x.org/{one}"
    assert terms.canonical(f"http://x.org/{one}") == f"http://x.org/{one}"


@given(st.lists(st.sampled_from([*"%4C3=/?#< DKe.", "%3D", "%CC", "%B8", "\u0338", "\u0301"])))
def test_canonical_of_what_is_canonical_is_itself(parts):
    iri = terms.canonical("http://x.org/" + "".join(parts))
    assert terms.canonical(iri) == iri


def test_names_shorten_and_expand():
    assert terms.compact(f"{terms.ODRL}read") == "odrl:read"
    assert terms.expand("odrl:read") == f"{terms.ODRL}read"
    assert terms.expand("http://x.org/a") == terms.compact("http://x.org/a") == "http://x.org/a"


def test_in_full_knows_the_terms_of_the_contexts():
    assert terms.in_full("read") == f"{terms.ODRL}read"
    assert terms.in_full("marketing") == f"{terms.MOSAICROWN}marketing"
    assert terms.in_full("nonsense") == "nonsense"


@pytest.mark.parametrize(
    ("iri", "name"), [("http://x.org/a/b", "b"), ("http://x.org/a#b", "b"), ("odrl:read", "read")]
)
def test_local_name(iri, name):
    assert terms.local_name(iri) == name


def test_the_slips_of_the_published_context_are_mended():
    context = terms.bundled_contexts()["http://www.w3.org/ns/odrl.jsonld"]["@context"]
    assert context["neq"] == "odrl:neq"
    assert context["industry"] == "odrl:industry"
    assert context["dataType"]["@id"] == "odrl:dataType"


def test_actions_lead_to_use_or_transfer():
    read = terms.vocabulary()[f"{terms.ODRL}read"]
    assert read.iris("includedIn") == (f"{terms.ODRL}use",)
