import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy, permission, policy
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.authoring.diagram import Drawing, composing, draw_policy, graphviz, has_dot
from policy_engine.authoring.diagram.composing import compose
from policy_engine.errors import EngineError, OutputError
from policy_engine.policy import (
    Action,
    Asset,
    Constraint,
    Hierarchy,
    Party,
    Policy,
    Reading,
    Rule,
    Value,
    read_policy,
)

ODRL = terms.ODRL
SVG = "{http://www.w3.org/2000/svg}"
needs_dot = pytest.mark.skipif(not has_dot(), reason="Graphviz's dot is not installed")


def drawn(*rules, prohibitions=(), obligations=(), **parts):
    """Return a policy of given rules."""
    whole = {"hierarchy": Hierarchy(), **parts}
    return Policy(
        "http://x.org/policy",
        f"{ODRL}Set",
        "prohibit",
        "",
        permissions=rules,
        prohibitions=prohibitions,
        obligations=obligations,
        **whole,
    )


def rule(kind="permission", who=ANALYST, what=DATASET, action="read", **parts):
    named = {"assignees": (Party(who),), "targets": (Asset(what),)}
    return Rule(kind, actions=(Action(f"{ODRL}{action}"),), **{**named, **parts})


def texts(found):
    """Return the lines of the nodes of a picture by their keys."""
    return {node.key: [line.text for line in node.lines] for node in compose([found]).nodes}


def edges(found):
    return {(one.tail, one.head, one.kind) for one in compose([found]).edges}


# -- what is drawn --------------------------------------------------------------------------------


def test_a_transformation_leads_from_its_party_to_its_output():
    found = read_policy(people_policy())
    assert edges(found) == {
        (f"party:{ANALYST}", "rule:0:0", "who"),
        (f"purpose:{terms.MOSAICROWN}marketing", "rule:0:0", "why"),
        ("rule:0:0", f"asset:{DATASET}", "permits"),
        ("rule:0:0", f"asset:{OUTPUT}", "makes"),
    }


def test_columns_stand_in_their_dataset_with_their_roles():
    [node] = [one for one in compose([read_policy(people_policy())]).nodes if len(one.lines) == 5]
    assert [(line.text, line.aside) for line in node.lines] == [
        ("People", ""),
        ("name", "identifier"),
        ("age", "quasi-identifier"),
        ("city", "quasi-identifier"),
        ("disease", "sensitive"),
    ]


def test_parameters_of_the_transformation_stand_on_its_rule_and_roles_do_not():
    lines = texts(read_policy(people_policy()))["rule:0:0"]
    assert lines == ["permission 1", "anonymize", "l-diversity, k = 2, l = 2"]


def test_a_rule_of_a_column_ends_at_the_column():
    targets = (Asset(f"{DATASET}/age"), Asset(f"{DATASET}/city"))
    found = edges(drawn(rule(targets=targets)))
    assert ("rule:0:0", f"column:{DATASET}/age", "permits") in found
    assert f"asset:{DATASET}" in texts(drawn(rule(targets=targets)))


def test_an_asset_alone_is_no_column_of_what_nobody_speaks_of():
    assert f"asset:{DATASET}/a/b" in texts(drawn(rule(what=f"{DATASET}/a/b")))


def test_rules_without_parts_are_for_anybody_and_any_asset():
    found = texts(drawn(rule(assignees=(), targets=())))
    assert found["party:"] == ["anybody"]
    assert found["asset:"] == ["any asset"]
    assert found["rule:0:0"][-1] == "for any purpose"


def test_kinds_of_rules_are_told_apart():
    found = drawn(rule(), prohibitions=(rule("prohibition"),), obligations=(rule("obligation"),))
    assert [node.kind for node in compose([found]).nodes if node.key.startswith("rule")] == [
        "permission",
        "prohibition",
        "obligation",
    ]
    assert {kind for _, _, kind in edges(found)} == {"who", "permits", "prohibits", "obliges"}


def test_duties_and_their_consequences_hang_on_their_rule():
    consequence = rule("consequence", action="delete")
    duty = rule("duty", action="compensate", consequences=(consequence,))
    found = drawn(rule(duties=(duty,)))
    assert texts(found)["rule:0:0:0:0"] == ["consequence", "delete", "on People", "by analyst"]
    assert ("rule:0:0", "rule:0:0:0", "duty") in edges(found)
    assert ("rule:0:0:0", "rule:0:0:0:0", "duty") in edges(found)


def test_hierarchies_are_drawn():
    said = Hierarchy(
        party=(("http://x.org/ann", ANALYST),),
        asset=(("http://x.org/Visits", DATASET),),
        action=(("http://x.org/peek", f"{ODRL}read"),),
        purpose=(("http://x.org/ads", f"{terms.MOSAICROWN}marketing"),),
        implied=(("http://x.org/peek", f"{ODRL}print"),),
    )
    found = edges(drawn(rule(), hierarchy=said))
    assert ("party:http://x.org/ann", f"party:{ANALYST}", "within") in found
    assert (f"asset:{DATASET}", "asset:http://x.org/Visits", "within") in found
    assert ("action:http://x.org/peek", f"action:{ODRL}read", "within") in found
    assert (f"action:{ODRL}read", "rule:0:0", "why") in found
    assert ("action:http://x.org/peek", f"action:{ODRL}print", "why") in found


def test_constraints_and_refinements_are_short_texts():
    until = Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (Value(datetime(2027, 1, 1)),))  # noqa: DTZ001
    old = Constraint("http://x.org/age", f"{ODRL}gteq", (Value(18),))
    found = texts(drawn(rule(constraints=(until,), assignees=(Party(ANALYST, (old,)),))))
    assert "if dateTime < 2027-01-01T00:00:00" in found["rule:0:0"]
    assert ["analyst", "where age ≥ 18"] in found.values()


def test_names_that_would_look_alike_are_written_in_full():
    parties = tuple(Party(f"http://{host}.org/user") for host in ("good", "evil"))
    found = texts(drawn(rule(assignees=parties)))
    assert found["party:http://good.org/user"] == ["http://good.org/user"]
    assert found["party:http://evil.org/user"] == ["http://evil.org/user"]


def test_long_names_that_differ_in_the_middle_are_numbered():
    parties = tuple(Party(f"http://x.org/{'a' * 50}{middle}{'a' * 50}") for middle in "bc")
    found = texts(drawn(rule(assignees=parties)))
    labels = [found[f"party:{party.iri}"][0] for party in parties]
    assert labels[0] != labels[1]
    assert max(map(len, labels)) < 70


def test_several_policies_are_groups_that_share_assets():
    one, other = (
        replace(drawn(rule(who=f"http://x.org/{n}")), uid=f"http://x.org/policy/{n}") for n in "ab"
    )
    picture = compose([one, other])
    assert [title for _, title in picture.groups] == [
        "http://x.org/policy/a · Set",
        "http://x.org/policy/b · Set",
    ]
    assert sum(node.key == f"asset:{DATASET}" for node in picture.nodes) == 1


def test_a_picture_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(composing, "MAX_LINES", 50)
    with pytest.raises(OutputError, match="O003"):
        draw_policy(drawn(*(rule(who=f"http://x.org/{n}") for n in range(50))), "dot")


# -- how it is written ----------------------------------------------------------------------------


def tags(svg):
    return {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}


@needs_dot
def test_svg_has_tooltips_and_no_links():
    drawing = draw_policy(read_policy(people_policy()), "svg")
    titles = {one.text for one in ET.fromstring(drawing.text).iter(f"{SVG}title")}
    assert {DATASET, OUTPUT, ANALYST, f"{DATASET}/age"} <= titles
    assert tags(drawing.text) <= {
        "svg",
        "g",
        "title",
        "polygon",
        "path",
        "text",
        "ellipse",
        "polyline",
    }
    assert "href" not in drawing.text


@needs_dot
@pytest.mark.parametrize("form", ["svg", "mermaid", "dot"])
def test_the_same_policy_gives_the_same_bytes(form):
    one, other = (draw_policy(read_policy(people_policy()), form) for _ in range(2))
    assert one == other
    assert Drawing.model_validate_json(one.model_dump_json()) == one


def test_without_dot_svg_is_refused(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match="S001 The program 'dot'"):
        draw_policy(read_policy(people_policy()), "svg")


@needs_dot
def test_a_dot_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(graphviz, "TIMEOUT", 0.0001)
    with pytest.raises(EngineError, match="more than"):
        draw_policy(read_policy(people_policy()), "svg")


HOSTILE = [
    '"><script>alert(1)</script>',
    "</text><a xlink:href='javascript:alert(1)'>x</a>",
    '"]; click n0 href "javascript:alert(1)"',
    '"];\n  n0 -> n0 [URL="http://evil.org"];',
    "</FONT></TD></TABLE>> URL=<x",
    "\\N \\G \\",
    "&lt;&#60;&amp;lt;",
    "%%{init: {}}%%",
    "`md` **x** [a](http://evil.org)",
    "end\nsubgraph x",
    "\u202etxt.exe\u2066\x00\x1f\ufffe",
    "#quot;#35;",
    "-->",
    "]]>",
    "",
    " ",
]


def hostile(text):
    """Return a policy that holds a text wherever a text can be."""
    named = f"http://x.org/{text}"
    refined = Constraint(named, named, (Value(text), Value(named, type="@id")), unit=named)
    inner = Rule("duty", (Asset(named),), (Action(named),), named, assignees=(Party(named),))
    whole = Rule(
        "permission",
        (Asset(named), Asset(f"{named}/a"), Asset(f"{named}/{text}", (refined,))),
        (Action(named, (refined,)),),
        named,
        assigners=(Party(named),),
        assignees=(Party(named, (refined,)), Party(f"{named}/a")),
        purposes=(named,),
        output=f"{named}/out",
        constraints=(refined,),
        duties=(inner,),
        functions={named: (Party(named),)},
    )
    edge = ((named, f"http://y.org/{text}"),)
    said = Hierarchy(party=edge, asset=edge, action=edge, purpose=edge, implied=edge)
    return Policy(named, named, "prohibit", "", permissions=(whole,), hierarchy=said)


@needs_dot
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_of_a_text_becomes_markup_or_a_link(text):
    both = [hostile(text), replace(hostile(text), uid="http://x.org/other")]
    for given_policies in (both, both[:1]):
        svg = draw_policy(given_policies, "svg").text
        assert tags(svg) <= {"svg", "g", "title", "polygon", "path", "text", "ellipse", "polyline"}
        attributes = {name for one in ET.fromstring(svg).iter() for name in one.attrib}
        assert not [name for name in attributes if "href" in name or name.startswith("on")]


STATEMENT = re.compile(
    r' *%%( n\d+)? [^\n"<>{}%`\\[\]]*'
    r"|flowchart LR| *subgraph \w+\[\"LABEL\"\]| *end| *direction TB"
    r'| *n\w+(\(\[|\{\{|\[\[|\[\(|\[/|\(|\[)"LABEL"(\]\)|\}\}|\]\]|\)\]|/\]|\\\]|\)|\]):::[a-z]+'
    r'| *n\w+ [-.=>ox]+(\|"LABEL"\|)? n\w+'
    r"|  classDef .*|  class n\d+ [a-z]+|  style g\d+ .*|  linkStyle [\d,]+ stroke:#\w+"
)
LABEL = re.compile(r'"(?:[^"<>{}%`\\[\]#]|#\d+;|<br/>)*"')


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_text_stays_in_its_label_in_mermaid(text):
    both = [hostile(text), replace(hostile(text), uid="http://x.org/other")]
    for line in draw_policy(both, "mermaid").text.splitlines():
        assert STATEMENT.fullmatch(LABEL.sub('"LABEL"', line)), line


@settings(max_examples=examples(16, times=40), deadline=None)
@given(st.text(max_size=30))
def test_any_text_stays_in_its_label(text):
    lines = draw_policy(hostile(text), "mermaid").text.splitlines()
    assert all(STATEMENT.fullmatch(LABEL.sub('"LABEL"', line)) for line in lines)
    dot = draw_policy(hostile(text), "dot").text
    # Outside of quoted strings, which hold no quote and no backslash, nothing varies but numbers.
    assert "\\" not in dot
    assert all(line.count('"') % 2 == 0 for line in dot.splitlines())


def test_prohibitions_differ_in_shape_and_line_too():
    dot = draw_policy(drawn(rule(), prohibitions=(rule("prohibition"),)), "dot").text
    assert len(re.findall(r"shape=octagon, style=\"filled,dashed\"", dot)) == 1
    assert len(re.findall(r"style=dashed, arrowhead=tee", dot)) == 1


def test_the_conflict_strategy_stands_in_the_title_where_there_is_something_to_clash():
    text = policy([permission(action="read")], [permission(action="print")])
    assert "a prohibition wins over a permission" in draw_policy(read_policy(text), "dot").text


def test_of_a_vocabulary_the_ways_up_from_a_policy_are_drawn():
    own = [
        {"@id": f"http://x.org/{name}", "@type": f"{ODRL}Action", f"{ODRL}includedIn": {"@id": up}}
        for name, up in (
            ("look", "http://x.org/edit"),
            ("edit", f"{ODRL}use"),
            ("peek", "http://x.org/look"),
        )
    ]
    given = policy([permission(action="http://x.org/look")])
    [found] = Reading(vocabularies=[own]).policies(given)
    drawing = draw_policy(found, "mermaid").text
    assert "edit" in drawing
    assert "peek" not in drawing
