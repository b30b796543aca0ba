"""Names of assets that a person takes for one another."""

import pytest

from policy_engine.policy.owners import are_overlapping

IRI = "http://example.com/Customer"


@pytest.mark.parametrize(
    "other",
    [
        IRI,
        f"{IRI}/",
        f"{IRI}/ZIP",
        f"{IRI}#ZIP",
        f"{IRI}?ZIP",
        "http://example.com",
        "https://example.com:443/customer",
        "HTTP://EXAMPLE.com:80/%43ustomer",
        "http://example.com/%2543ustomer",
        "http://example.com//Customer",
        "http://example.com/x/../Customer",
        "http://example.com/x/%2e%2e/Customer",
        "http://example.com/./Customer%2FZIP",
        "http://example.com/Ｃustomer",  # noqa: RUF001 (a letter that looks like another)
    ],
)
def test_names_that_are_taken_for_one_another_overlap(other):
    assert are_overlapping(IRI, other)
    assert are_overlapping(other, IRI)


@pytest.mark.parametrize(
    "other",
    [f"{IRI}s", "http://example.org/Customer", "urn:Customer", "http://example.com:81/Customer"],
)
def test_other_names_do_not(other):
    assert not are_overlapping(IRI, other)
