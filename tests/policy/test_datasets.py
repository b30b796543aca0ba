import json

import pytest
from policy_texts import CONTEXT

from policy_engine.decision import read_request
from policy_engine.errors import RequestError
from policy_engine.policy import read_policy
from policy_engine.policy.datasets import named_data


def policy(*targets, prefix="http://e.org/", **rule):
    rules = [{"target": target, "action": "read", **rule} for target in targets]
    context = [*CONTEXT[:2], {"ex": prefix}]
    return read_policy(
        json.dumps(
            {"@context": context, "@type": "Set", "uid": "http://e.org/p", "permission": rules}
        )
    )


ONE = policy("http://e.org/T")


def test_a_request_knows_the_prefixes_and_what_is_near_a_misspelt_name():
    request = read_request("ex:Ann", "read", ["ex:T"], "", [ONE])
    assert (request.assignee, request.targets) == ("http://e.org/Ann", ("http://e.org/T",))
    for part, given, near in (
        ("purpose", ("ex:Ann", "read", ["ex:T"], "marketting"), "marketing"),
        ("action", ("ex:Ann", "raed", ["ex:T"], ""), "read"),
    ):
        with pytest.raises(RequestError, match=f"The {part} .* Did you mean '{near}'"):
            read_request(*given, [ONE])


@pytest.mark.parametrize(
    "targets",
    [("http://e.org/T",), ("http://e.org/x/T", "http://e.org/x/T/Name"), ("ex:T", "ex:T/a/b")],
)
def test_data_without_a_name_is_the_only_dataset(targets):
    [iri] = named_data({"": "t.csv"}, [policy(*targets)])
    assert iri in ("http://e.org/T", "http://e.org/x/T")


@pytest.mark.parametrize(
    "targets",
    [
        ("http://e.org/T", "http://e.org/U"),
        # Perhaps a column: who may read it would be shown the whole table.
        ("http://e.org/T/Name",),
        ("http://e.org/T/Name", "http://e.org/T/ZIP"),
    ],
)
def test_data_without_a_name_is_refused_where_the_dataset_is_not_certain(targets):
    with pytest.raises(RequestError, match=r"D001 .* Give it as IRI=PATH"):
        named_data({"": "t.csv"}, [policy(*targets)])


def test_a_dataset_that_is_named_by_its_columns_alone_is_shown_as_what_to_give():
    columns = policy("http://e.org/T/Name", "http://e.org/T/ZIP")
    with pytest.raises(RequestError, match=r"such as http://e\.org/T=PATH where"):
        named_data({"": "t.csv"}, [columns])
    for unsure in (policy("http://e.org/T", "http://e.org/U"), policy("http://e.org/T/Name")):
        with pytest.raises(RequestError, match=r"Give it as IRI=PATH\.$"):
            named_data({"": "t.csv"}, [unsure])


def test_data_that_is_given_twice_is_refused():
    with pytest.raises(RequestError, match="twice"):
        named_data({"": "t.csv", "ex:T": "u.csv"}, [ONE])
    assert named_data({"ex:T": "t.csv"}, [ONE]) == {"http://e.org/T": "t.csv"}
