"""Of what a refinement is asked, where a rule and a request name different things."""

import pytest
from ruling import (
    ANN,
    LAKE,
    NOON,
    ODRL,
    READ,
    STAFF,
    TABLE,
    USE,
    is_permitted,
    policy,
    rule,
    where,
)

from policy_engine.decision import World
from policy_engine.policy import Action, Asset, Hierarchy, Party, Rule

NAME, ZIP = f"{TABLE}/Name", f"{TABLE}/Zip"
DOCS, DOC = "http://e.org/docs", "http://x.org/doc/1"
ALL = Rule("permission", (), (Action(USE),), "urn:r:all")
SECRET = (where("sensitivity", "gt", 3, prefix="http://e.org/"),)
PLAIN = (where("sensitivity", "lteq", 3, prefix="http://e.org/"),)
GERMAN = (where("language", "eq", "de"),)


def barring(source, refinements):
    return policy(ALL, rule("prohibition", Asset(source, refinements)))


def giving(source, refinements, **edges):
    return policy(rule("permission", Asset(source, refinements)), **edges)


def levels(**of):
    known = {"T": TABLE, "Name": NAME, "Zip": ZIP, "lake": LAKE}
    return {known[name]: {"http://e.org/sensitivity": (level,)} for name, level in of.items()}


def languages(**of):
    known = {"docs": DOCS, "doc": DOC, "column": f"{DOC}/c"}
    return {known[name]: {"language": (text,)} for name, text in of.items()}


@pytest.mark.parametrize(
    ("target", "of", "permitted"),
    [
        (NAME, levels(T=1, Name=9), False),
        (TABLE, levels(T=1, Name=9), False),
        (TABLE, levels(T=1, Name=2), True),
        (TABLE, levels(T=1), False),  # nothing is known of the member that is meant
        (ZIP, levels(T=9, Name=9), True),
    ],
)
def test_prohibition_of_a_column_is_asked_of_the_column(target, of, permitted):
    assert is_permitted([barring(NAME, SECRET)], target, of=of) == permitted


@pytest.mark.parametrize(
    ("target", "of", "permitted"),
    [
        (TABLE, levels(T=1), True),
        (TABLE, levels(T=1, Name=9), False),
        (TABLE, levels(T=1, Zip=1), True),
        (TABLE, levels(Zip=1), False),  # other columns may be there
        (NAME, levels(T=1), False),
        (NAME, levels(T=1, Name=1), True),
        (NAME, levels(T=9, Name=1), True),  # the source is the collection, the column its member
        ((NAME, ZIP), levels(Name=1), False),
    ],
)
def test_prohibition_of_columns_is_asked_of_each_that_is_known(target, of, permitted):
    assert is_permitted([barring(TABLE, SECRET)], target, of=of) == permitted


@pytest.mark.parametrize(
    ("target", "of", "permitted"),
    [
        (TABLE, levels(T=1), True),
        (TABLE, levels(T=1, Name=9), False),
        (TABLE, levels(Name=1), False),
        (NAME, levels(T=1), False),
        (NAME, levels(Name=1), True),
    ],
)
def test_permission_of_columns_needs_each_that_is_known(target, of, permitted):
    assert is_permitted([giving(TABLE, PLAIN)], target, of=of) == permitted


def test_column_that_a_rule_names_is_known():
    named = rule("prohibition", NAME, action=f"{ODRL}print")
    one = policy(rule("permission", Asset(TABLE, PLAIN)), named)
    assert not is_permitted([one], of=levels(T=1))
    assert is_permitted([one], of=levels(T=1, Name=1))


@pytest.mark.parametrize(
    ("target", "of", "permitted"),
    [
        (DOC, languages(doc="de"), False),
        (DOC, languages(doc="en"), True),
        (DOC, {}, False),
        (f"{DOC}/c", languages(doc="de"), False),
        (f"{DOC}/c", languages(doc="de", column="en"), False),
        (f"{DOC}/c", languages(column="en"), False),
        (f"{DOC}/c", languages(doc="en", column="en"), True),
        (DOCS, languages(doc="en"), True),  # all of the members are known
        (DOCS, languages(doc="de"), False),
        (DOCS, languages(docs="en"), False),
        (DOCS, languages(docs="de", doc="en"), False),
    ],
)
def test_prohibition_of_documents_is_asked_of_each_document(target, of, permitted):
    known = Hierarchy(asset=((DOC, DOCS),))
    world = {"of": of, "values": {"language": ("en",)}}
    assert is_permitted([barring(DOCS, GERMAN)], target, given=known, **world) == permitted


@pytest.mark.parametrize(
    ("of", "permitted"),
    [
        ({}, False),
        (languages(doc="de"), True),
        (languages(docs="de"), False),
        (languages(doc="de") | {DOCS: {"http://e.org/sensitivity": 1}}, False),
    ],
)
def test_permission_of_a_collection_needs_each_member(of, permitted):
    one = giving(DOCS, GERMAN, asset=((DOC, DOCS),))
    assert is_permitted([one], DOCS, of=of) == permitted


@pytest.mark.parametrize("target", [DOC, DOCS])
def test_value_of_the_world_is_no_members(target):
    one = giving(DOCS, GERMAN, asset=((DOC, DOCS),))
    assert not is_permitted([one], target, values={"language": ("de",)})


def test_group_is_asked_through_its_members():
    adult = (where("age", "gteq", 18),)
    one = policy(
        rule("permission", assignees=(Party(STAFF, adult),)),
        party=((ANN, "http://org/sales"), ("http://org/sales", STAFF)),
    )
    for age, permitted in ((20, True), (10, False)):
        of = {ANN: {f"{ODRL}age": (age,)}}
        assert is_permitted([one], of=of) == permitted
        assert is_permitted([one], assignee=STAFF, of=of) == permitted
    assert not is_permitted([one], values={f"{ODRL}age": (20,)})


def test_group_that_is_barred_by_name_bars_its_members():
    barred = (where("status", "eq", "barred"),)
    edges = {"party": ((ANN, "http://org/sales"), ("http://org/sales", STAFF))}
    one = policy(rule("prohibition", assignees=(Party(STAFF, barred),)), ALL, **edges)
    of = {ANN: {"status": ("free",)}}
    assert is_permitted([one], of=of)
    assert not is_permitted([one], of={**of, "http://org/sales": {"status": ("barred",)}})


def test_members_that_are_part_of_one_another_are_asked_all():
    circle = {"asset": ((DOCS, DOC), (DOC, DOCS))}
    both = languages(docs="de", doc="de")
    assert is_permitted([giving(DOCS, GERMAN, **circle)], DOC, of=both)
    assert not is_permitted([giving(DOCS, GERMAN, **circle)], DOC, of=languages(doc="de"))


@pytest.mark.parametrize(
    ("asked", "world", "permitted"),
    [
        ("print", {"values": {"resolution": (300,)}}, True),
        ("print", {"values": {"resolution": (900,)}}, False),
        ("use", {"values": {"resolution": (300,)}}, False),
        ("use", {"of": {f"{ODRL}print": {"resolution": (300,)}}}, True),
    ],
)
def test_refinement_of_an_action_is_asked_of_the_act_or_of_what_it_holds(asked, world, permitted):
    fine = Action(f"{ODRL}print", (where("resolution", "gt", 600),))
    barred = Rule("prohibition", (), (fine,), "urn:r:2")
    assert is_permitted([policy(ALL, barred)], action=f"{ODRL}{asked}", **world) == permitted


def test_assignee_named_like_the_action_has_no_values_of_the_request():
    adult = rule("permission", assignees=(Party(READ, (where("age", "gteq", 18),)),))
    assert not is_permitted([policy(adult)], assignee=READ, values={f"{ODRL}age": (20,)})


def test_nobody_has_a_time_or_a_purpose_of_his_own():
    for name in ("dateTime", "purpose"):
        with pytest.raises(ValueError, match="not among the values"):
            World(of={ANN: {name: ("x",)}})
    late = rule("permission", assignees=(Party(STAFF, (where("dateTime", "eq", NOON),)),))
    assert is_permitted([policy(late, party=((ANN, STAFF),))])
