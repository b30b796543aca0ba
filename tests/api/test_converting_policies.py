import pytest
from places import POLICIES

from policy_engine.api.converting import convert_policy
from policy_engine.errors import DataError, PolicyError
from policy_engine.policy import PolicyText, load_policy

CUSTOMER = POLICIES / "customer.jsonld"


@pytest.mark.parametrize("syntax", ["turtle", "n-triples", "rdf-xml", "json-ld"])
def test_a_policy_means_the_same_in_every_syntax(syntax):
    text = convert_policy(CUSTOMER, syntax)
    assert load_policy(PolicyText(text.encode())).digest == load_policy(CUSTOMER).digest
    assert convert_policy(CUSTOMER.read_text("utf-8"), syntax) == text


def test_a_file_that_is_not_there_and_a_text_of_no_syntax_are_refused(tmp_path):
    with pytest.raises(DataError, match="C002"):
        convert_policy(tmp_path / "none.ttl", "json-ld")
    with pytest.raises(PolicyError, match=r"mine:1:\d+: F001"):
        convert_policy(PolicyText(b"<http://e.x/p> a", "mine"), "json-ld")
