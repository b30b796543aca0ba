import json
from time import process_time

import pytest
from policy_texts import CONTEXT, COUNT, RULE, ex, text

from policy_engine.errors import PolicyError
from policy_engine.policy import Limits, load_policy, read_drafts, read_policies, read_policy
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, limits_with
from policy_engine.policy.syntax.rdf import convert_text


def refused(whole, read=read_policies, **limits):
    with pytest.raises(PolicyError) as error:
        read(whole, limits=limits_with(limits))
    return [(found.code, found.place.pointer) for found in error.value.problems]


def nested(depth, operator="and"):
    found = COUNT
    for _ in range(depth):
        found = {operator: [COUNT, found]}
    return found


@pytest.mark.parametrize("read", [read_policies, read_policy, read_drafts, load_policy])
def test_text_that_is_too_large_is_refused_unread(read):
    whole = text(permission=RULE)
    assert refused(whole, read, bytes=len(whole) - 1) == [("J003", "")]
    assert read(whole, limits=Limits(bytes=len(whole)))


def test_text_that_is_nested_too_deeply_is_refused():
    whole = text(permission=RULE)
    assert refused(whole, depth=2)[0][0] == "J003"
    assert read_policy(whole, limits=Limits(depth=4))


def test_text_with_too_many_values_is_refused():
    assert refused(text(permission=[RULE] * 10), values=20)[0][0] == "J003"


def test_text_with_keys_that_are_too_long_is_refused():
    assert refused(text(**{f"ex:{'x' * 100}": 1}), key_characters=80)[0][0] == "J003"


def test_name_that_is_too_long_is_refused_in_every_syntax(tmp_path):
    whole = text(permission={**RULE, "target": f"http://example.com/{'x' * 90}"})
    assert read_policies(whole, limits=Limits(name_characters=109))
    assert refused(whole, name_characters=108) == [("J003", "/@graph/0/permission/target")]
    for syntax, ending in (("turtle", "ttl"), ("n-triples", "nt"), ("rdf-xml", "rdf")):
        path = tmp_path / f"p.{ending}"
        path.write_text(convert_text(whole, "json-ld", syntax))
        assert load_policy(path, limits=Limits(name_characters=109))
        with pytest.raises(PolicyError, match=r"J003 The name .* is too long"):
            load_policy(path, limits=Limits(name_characters=108))


@pytest.mark.parametrize("mark", ["\u0301", "%CC%81"])
def test_name_with_too_many_marks_in_a_row_is_refused(mark):
    assert read_policies(text(permission={**RULE, "target": f"ex:T{30 * mark}"}))
    whole = text(permission={**RULE, "target": f"ex:T{31 * mark}"})
    assert refused(whole) == [("J003", "/@graph/0/permission/target")]


def test_text_with_too_many_contexts_is_refused():
    inline = [{f"p{n}": f"http://p{n}/"} for n in range(DEFAULT_LIMITS.contexts)]
    whole = json.dumps({"@context": [*CONTEXT, *inline], "uid": ex("p")})
    assert refused(whole) == [("J003", f"/@context/{DEFAULT_LIMITS.contexts}")]


def test_constraints_may_be_nested_as_deep_as_is_allowed():
    deepest = nested(DEFAULT_LIMITS.condition_depth)
    assert read_policy(text(permission={**RULE, "constraint": deepest}))
    deeper = text(permission={**RULE, "constraint": nested(DEFAULT_LIMITS.condition_depth + 1)})
    found = refused(deeper)
    assert {code for code, _ in found} == {"J003"}
    assert {pointer.count("/and") for _, pointer in found} == {DEFAULT_LIMITS.condition_depth + 1}


def test_constraints_are_as_many_as_is_allowed_wherever_they_stand():
    refined = {"rdf:value": {"@id": "odrl:print"}, "refinement": COUNT}
    rule = {"target": "ex:T", "action": refined, "constraint": {"and": [COUNT, COUNT]}}
    assert read_policy(text(permission=rule), limits=Limits(constraints=4))
    assert [code for code, _ in refused(text(permission=rule), constraints=3)] == ["J003"]


def test_constraints_that_are_referenced_count_each_time():
    nodes = [{"uid": f"ex:c{n}", "andSequence": [f"ex:c{n + 1}"] * 2} for n in range(12)]
    whole = text(*nodes, {"uid": "ex:c12", **COUNT}, permission={**RULE, "constraint": "ex:c0"})
    assert [code for code, _ in refused(whole, constraints=1000)] == ["J003"]
    [found] = read_policy(whole).permissions[0].constraints
    assert sum(1 for _ in found.constraints()) == 2**12


def test_what_policies_share_with_their_rules_is_limited():
    shared = [f"ex:T{n}" for n in range(20)]
    whole = text(target=shared, permission=[{"action": "read"}] * 20)
    assert [code for code, _ in refused(whole, values=399)] == ["J003"]
    assert read_policy(whole, limits=Limits(values=400))


def test_problems_of_many_policies_are_told_up_to_a_limit():
    bad = {"@context": CONTEXT, "@type": "Set", "uid": "ex:p", "permisson": RULE}
    assert len(refused(json.dumps([bad] * 300))) == 100


def test_limits_that_are_set_leave_the_others():
    assert limits_with({"contexts": 3}) == Limits(contexts=3)
    assert limits_with({}) == DEFAULT_LIMITS


def test_many_properties_of_one_node_are_each_read_once():
    many = {f"http://purl.org/dc/terms/{n}": "x" for n in range(20_000)}
    start = process_time()
    assert read_policy(text(permission={**RULE, **many})).permissions
    assert process_time() - start < 5


def test_an_asset_of_too_many_levels_is_refused():
    deep = "http://e.org" + "/a" * 260
    assert refused(text(permission={**RULE, "target": deep}))[0][0] == "P007"
    assert refused(text(conflict="invalid", permission={**RULE, "target": deep}))[0][0] == "P007"
    assert read_policy(text(permission={**RULE, "target": deep[:500]}))


def objects_within_objects(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def circular():
    value = {}
    value["a"] = value
    return value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"a": {1}}, "J001"),
        (circular(), "J001"),
        ({(1,): 1}, "J001"),
        (objects_within_objects(5000), "J003"),
    ],
    ids=["set", "circle", "key", "depth"],
)
def test_what_python_has_and_json_has_not_is_refused(value, code):
    for given in ({"source": value}, {"source": text(), "vocabularies": [value]}):
        with pytest.raises(PolicyError) as error:
            load_policy(**given)
        assert [one.code for one in error.value.problems] == [code]
