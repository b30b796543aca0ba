import json

import pytest

from policy_engine import terms
from policy_engine.policy.syntax.contexts import Context, Definition, read_contexts
from policy_engine.policy.syntax.json_text import read_json

ODRL_URL = "http://www.w3.org/ns/odrl.jsonld"
MOSAICROWN_URL = "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"
OLD_URL = "http://localhost:8000/ns/mosaicrown/namespace.jsonld"


def read(*entries, given=None):
    top = {"@context": list(entries)}
    return read_contexts(read_json(json.dumps(top)), top, "", given or {})


def context(*entries, given=None):
    found, problems = read(*entries, given=given)
    assert problems == []
    return found


def problem(*entries, given=None):
    _, [found] = read(*entries, given=given)
    return found


@pytest.mark.parametrize("url", sorted(terms.bundled_contexts()))
def test_bundled_context_is_read_by_each_of_its_names(url):
    assert context(url).reference("xsd:integer" if "odrl" in url else "mosaicrown:k") in {
        f"{terms.XSD}integer",
        f"{terms.MOSAICROWN}k",
    }


def test_context_may_be_a_single_name():
    document = read_json(json.dumps({"@context": ODRL_URL}))
    found, problems = read_contexts(document, document.value, "", {})
    assert problems == []
    assert found.key("uid").iri == "@id"


def test_purpose_as_a_key_is_the_profiles_own():
    found = context(ODRL_URL, MOSAICROWN_URL)
    assert found.key("purpose").iri == f"{terms.MOSAICROWN}purpose"


def test_purpose_as_a_left_operand_is_that_of_odrl():
    found = context(ODRL_URL, MOSAICROWN_URL)
    inside = found.value_scope(found.key("leftOperand"))
    assert inside.term("purpose") == f"{terms.ODRL}purpose"
    assert found.value_scope(found.key("operator")).term("purpose") == f"{terms.MOSAICROWN}purpose"


def test_purpose_is_that_of_odrl_without_the_profile():
    assert context(ODRL_URL).key("purpose").iri == f"{terms.ODRL}purpose"


def test_later_context_wins():
    found = context(MOSAICROWN_URL, ODRL_URL)
    assert found.key("purpose").iri == f"{terms.ODRL}purpose"


def test_definition_keeps_the_type_of_its_values():
    found = context(ODRL_URL)
    assert found.key("target") == Definition(f"{terms.ODRL}target", type="@id")
    assert found.key("action").type == "@vocab"
    assert found.key("andSequence").is_list


def test_reference_expands_a_compact_iri():
    assert context(ODRL_URL).reference("odrl:read") == f"{terms.ODRL}read"


@pytest.mark.parametrize("name", ["read", "http://a/b", "urn:a:b", "odrl://x", "nope:read", ""])
def test_reference_leaves_any_other_name_as_it_is(name):
    assert context(ODRL_URL).reference(name) == name


def test_term_expands_a_term_that_reference_would_not():
    assert context(ODRL_URL).term("read") == f"{terms.ODRL}read"


def test_key_without_definition_has_no_colon():
    assert context(ODRL_URL).key("constrant") == Definition("constrant")


def test_empty_context_defines_nothing():
    assert Context({}).key("uid").iri == "uid"


def test_old_namespace_is_read_as_the_new_one():
    found = context(OLD_URL, {"mc": "http://localhost:8000/ns/mosaicrown/"})
    assert found.reference("mc:k") == f"{terms.MOSAICROWN}k"
    assert found.reference("http://localhost:8000/ns/mosaicrown/l") == f"{terms.MOSAICROWN}l"


def test_misprinted_neg_is_read_as_neq():
    assert context(ODRL_URL).reference("odrl:neg") == f"{terms.ODRL}neq"


def test_inline_context_may_declare_a_prefix_and_a_term():
    found = context(ODRL_URL, {"ex": "http://example.com/", "reader": "ex:reader"})
    assert found.reference("ex:Customer") == "http://example.com/Customer"
    assert found.term("reader") == "http://example.com/reader"


def test_inline_term_may_stand_before_the_prefix_it_uses():
    found = context({"reader": "ex:reader", "ex": "http://example.com/"})
    assert found.term("reader") == "http://example.com/reader"


def test_inline_iri_without_a_closing_delimiter_is_no_prefix():
    found = context({"ex": "http://example.com"})
    assert found.reference("ex:Customer") == "ex:Customer"


def test_inline_context_may_repeat_a_known_prefix():
    assert context(ODRL_URL, {"odrl": terms.ODRL}).reference("odrl:read") == f"{terms.ODRL}read"


@pytest.mark.parametrize(
    ("entries", "pointer"),
    [
        ({"read": f"{terms.ODRL}delete"}, "/@context/1/read"),
        ({"uid": "http://example.com/uid"}, "/@context/1/uid"),
        ({"odrl": "http://example.com/"}, "/@context/1/odrl"),
        ({"target": {"@id": f"{terms.ODRL}target"}}, "/@context/1/target"),
        ({"@vocab": "http://example.com/"}, "/@context/1/@vocab"),
        ({"@base": "http://example.com/"}, "/@context/1/@base"),
        ({"@import": ODRL_URL}, "/@context/1/@import"),
        ({"@language": "en"}, "/@context/1/@language"),
        ({"id": "@id"}, "/@context/1/id"),
        ({"parts": {"@reverse": "http://example.com/part"}}, "/@context/1/parts"),
        ({"gone": None}, "/@context/1/gone"),
        ({"word": "word"}, "/@context/1/word"),
    ],
)
def test_inline_context_that_does_more_than_declare_is_refused(entries, pointer):
    found = problem(ODRL_URL, entries)
    assert (found.code, found.place.pointer) == ("L005", pointer)
    assert found.place.column == 52


def test_inline_context_reports_each_of_its_problems():
    _, problems = read({"@vocab": "http://a/", "id": "@id", "ex": "http://example.com/"})
    assert [found.place.pointer for found in problems] == ["/@context/0/@vocab", "/@context/0/id"]


@pytest.mark.parametrize("entry", [None, 1, ["http://www.w3.org/ns/odrl.jsonld"]])
def test_context_that_is_no_url_and_no_object_is_refused(entry):
    found = problem(entry)
    assert (found.code, found.place.pointer) == ("L005", "/@context/0")


def test_unknown_context_is_refused_with_the_nearest_known():
    found = problem("https://www.w3.org/ns/odrl.json")
    assert (found.code, found.place.pointer) == ("L001", "/@context/0")
    assert "'https://www.w3.org/ns/odrl.jsonld'" in found.hint


def test_unknown_context_far_from_all_known_hints_at_giving_a_copy():
    assert problem("urn:x").hint == "Give your own copy of it: contexts={URL: FILE}."


@pytest.mark.parametrize("url", ["odrl.jsonld", "file:///etc/passwd", "http://127.0.0.1/x", ""])
def test_context_is_never_fetched(url, monkeypatch):
    monkeypatch.setattr("socket.socket", None)
    monkeypatch.setattr("builtins.open", None)
    assert problem(url).code == "L001"


def test_missing_context_is_refused_with_what_to_add():
    _, [found] = read_contexts(read_json('{"uid": "a"}'), {"uid": "a"}, "", {})
    assert found.code == "L001"
    assert found.hint == f'Add "@context": ["{ODRL_URL}", "{MOSAICROWN_URL}"].'


def test_given_context_is_read_by_its_url():
    mine = {"@context": {"org": "http://org/", "boss": {"@id": "org:boss", "@type": "@id"}}}
    found = context("http://mine/", given={"http://mine/": mine})
    assert found.key("boss") == Definition("http://org/boss", type="@id")


@pytest.mark.parametrize(
    "entry",
    [
        {"@vocab": "http://a/"},
        {"a": {"@reverse": "http://a/"}},
        {"a": {"@id": "http://a/", "@container": "@language"}},
        {"a": {"@id": "http://a/", "@context": {}}},
        {"a": {"@id": 1}},
        {"a": None},
        {"a": ["http://a/"]},
    ],
)
def test_given_context_that_cannot_be_read_is_refused(entry):
    found = problem("http://mine/", given={"http://mine/": {"@context": entry}})
    assert (found.code, found.place.pointer) == ("L005", "/@context/0")
    assert repr(next(iter(entry))) in found.message


@pytest.mark.parametrize(
    ("prefix", "name", "iri"),
    [
        ("http://example.com:", "8080/Visits", "http://example.com:8080/Visits"),
        ("http://example.com:", "80/Visits", "http://example.com/Visits"),
        ("http://example.com/a/..:", "/b", "http://example.com/a/..:/b"),
        ("HTTP://Someone@", "Example.com/a", "http://Someone@example.com/a"),
        ("http://localhost:", "8000/ns/mosaicrown/k", f"{terms.MOSAICROWN}k"),
    ],
)
def test_name_has_one_spelling_only_with_its_prefix(prefix, name, iri):
    assert context({"h": prefix}).reference(f"h:{name}") == iri
    assert context({"h": prefix, "k": "h:"}).reference(f"k:{name}") == iri
    assert context({"h": prefix, "name": f"h:{name}"}).key("name").iri == iri


@pytest.mark.parametrize("entry", [" http://a/", "http://a/ ", "http://a/b c#", "http://a/\x85"])
def test_white_space_in_a_prefix_is_refused(entry):
    assert problem({"h": entry}).code == "F001"
    url = "http://a/context"
    assert problem(url, given={url: {"@context": {"h": entry}}}).code == "L005"
