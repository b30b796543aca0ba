"""Owners as a catalog of datasets says them."""

import pytest

from policy_engine.errors import RequestError
from policy_engine.policy.owners import Standing, read_owners

H, B, R = "http://h.org/Hospital", "http://b.org/Broker", "http://r.org/Regulator"
CONTEXT = [
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    {
        "dct": "http://purl.org/dc/terms/",
        "dc": "http://purl.org/dc/elements/1.1/",
        "dcat": "http://www.w3.org/ns/dcat#",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "h": "http://h.org/",
    },
]


def catalog(*nodes):
    return {"@context": CONTEXT, "@graph": list(nodes)}


def dataset(**said):
    return {"@id": "h:Visits", "@type": "dcat:Dataset", **said}


def named(**said):
    return {key.replace("_", ":"): {"@id": value} for key, value in said.items()}


def test_the_publisher_of_a_dataset_owns_it_and_all_else_is_left_aside():
    found = read_owners(
        catalog(
            {
                "@id": "h:catalog",
                "@type": "dcat:Catalog",
                "dct:title": "Data",
                "dct:publisher": {"@id": B, "foaf:name": "Broker"},
                "dcat:dataset": dataset(
                    **named(dct_publisher=H, pe_regulator=R, pe_delegates=B),
                    **{"dcat:distribution": {"dcat:mediaType": "text/csv"}},
                ),
            }
        )
    )
    speakers = Standing(found).of("http://h.org/Visits/Name")
    assert (speakers.owners, speakers.delegates, speakers.regulators) == ((H,), {B}, {R})
    assert Standing(found).of("http://h.org/catalog/other").owners == ()


@pytest.mark.parametrize(
    "said",
    [
        {"partOf": {"@id": "h:Archive"}},
        named(dct_isPartOf="http://h.org/Archive"),
        named(dcat_inSeries="http://h.org/Archive"),
    ],
)
def test_a_dataset_is_a_part_of_what_the_catalog_says(said):
    archive = {"@id": "h:Archive", **named(dct_publisher=H)}
    found = read_owners(catalog(dataset(**said), archive))
    assert Standing(found).of("http://h.org/Visits").owners == (H,)


def test_a_dataset_is_a_part_of_what_has_it_as_a_part():
    archive = named(dct_publisher=H, dct_hasPart="http://x.org/Visits")
    found = read_owners(catalog({"@id": "h:Archive", **archive}))
    assert Standing(found).of("http://x.org/Visits/Name").owners == (H,)


def test_the_policy_of_a_dataset_is_asked_where_it_has_no_publisher():
    [one] = read_owners(catalog(dataset(hasPolicy={"@id": "urn:p"}))).statements
    assert (one.owners, one.policy, one.is_of_owner) == ((), "urn:p", True)
    both = dataset(hasPolicy={"@id": "urn:p"}, **named(dct_publisher=H))
    assert read_owners(catalog(both)).statements[0].policy == ""


def test_a_catalog_is_read_in_turtle():
    text = """
@prefix dct: <http://purl.org/dc/terms/> .
@prefix pe: <https://w3id.org/policy-engine/ns#> .
<http://h.org/Visits> dct:publisher <http://h.org/Hospital> ; pe:regulator <http://r.org/R> .
"""
    found = read_owners(text, "catalog.ttl")
    assert Standing(found).of("http://h.org/Visits").owners == (H,)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (dataset(**{"dct:publisher": [{"@id": H}, {"@id": B}]}), "several publishers"),
        (dataset(hasPolicy=[{"@id": "urn:p"}, {"@id": "urn:q"}]), "several policies"),
        (dataset(**{"dct:publisher": "the hospital"}), "takes an IRI"),
        (dataset(**{"dct:publisher": {"foaf:name": "H"}}), "takes an IRI"),
        (dataset(**named(dct_publiser=H)), "not a term of DCMI.*Did you mean 'publisher'"),
        (dataset(**named(pe_regulatr=R)), "Did you mean 'pe:regulator'"),
        (dataset(**{"dc:publisher": "the hospital"}), "named by dct:publisher"),
        (dataset(**{"dct:title": "Visits"}), "does not say who owns"),
        ({"@type": "dcat:Dataset", **named(dct_publisher=H)}, "blank node"),
        ({"@id": "h:c", "@type": "dcat:Catalog", **named(pe_regulator=R)}, "describes an asset"),
    ],
)
def test_a_catalog_that_cannot_be_relied_on_is_refused(said, told):
    with pytest.raises(RequestError, match=told) as error:
        read_owners(catalog(said))
    assert {one.code for one in error.value.problems} == {"D004"}


def test_two_statements_of_one_dataset_are_refused():
    with pytest.raises(RequestError, match="described twice; the first is in line"):
        read_owners(catalog(dataset(**named(dct_publisher=H)), dataset(**named(dct_publisher=B))))
