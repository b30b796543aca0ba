import pytest

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
