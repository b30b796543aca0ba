import json
from time import process_time

import pytest
from policy_texts import CONTEXT, COUNT, DAY, RULE, ex, problems, read, refused

from policy_engine.errors import CODES, SECTIONS
from policy_engine.policy import read_policy

PLAIN = {"@context": [CONTEXT[0], CONTEXT[2]], "@type": "Set", "uid": "ex:policy"}


def plain(**keys):
    """Return a policy outside the profile, so that a conflict voids it."""
    return json.dumps({**PLAIN, **keys})


# -- what every policy needs (ODRL Information Model 2.2, section 2.1) --------------------------


def test_policy_needs_a_rule():
    assert problems(target="ex:T") == [("P003", "")]
    assert read(obligation={"action": "delete", "assignee": "ex:a"}).rules


@pytest.mark.parametrize("kind", ["permission", "prohibition"])
@pytest.mark.parametrize("part", ["target", "action"])
def test_rule_without_target_or_action_is_refused_once(kind, part):
    rule = {key: value for key, value in RULE.items() if key != part}
    assert problems(**{kind: rule}) == [("P004", f"/{kind}")]


@pytest.mark.parametrize(
    ("kind", "parties", "lacking"),
    [
        ("Set", (), 0),
        ("Policy", (), 0),
        ("Offer", (), 1),
        ("Offer", ("assigner",), 0),
        ("Agreement", (), 2),
        ("Agreement", ("assignee",), 1),
        ("Agreement", ("assigner", "assignee"), 0),
    ],
)
@pytest.mark.parametrize("shared", [True, False])
def test_parties_are_named_as_the_type_of_the_policy_asks(kind, parties, lacking, shared):
    named = dict.fromkeys(parties, "ex:a")
    keys = {**named, "permission": RULE} if shared else {"permission": {**RULE, **named}}
    if lacking:
        assert problems(**{"@type": kind}, **keys) == [("P004", "/permission")] * lacking
    else:
        assert read(**{"@type": kind}, **keys).permissions


def test_obligation_is_carried_out_by_somebody():
    assert problems(obligation={"action": "delete"}) == [("P017", "/obligation")]
    assert read(obligation={"action": "delete", "assignee": "ex:a"}).obligations
    assert read(assignee="ex:a", obligation={"action": "delete"}).obligations


def test_obligation_to_anonymize_is_carried_out_by_the_engine():
    action = {"rdf:value": {"@id": "odrl:anonymize"}}
    assert read(obligation={"action": action, "target": "ex:T"}).obligations
    both = {"action": [action, "delete"], "target": "ex:T"}
    assert problems(obligation=both) == [("P017", "/obligation")]


def test_rules_and_duties_have_names_of_their_own():
    duty = {"uid": "ex:r", "action": "inform"}
    assert problems(permission={**RULE, "uid": "ex:r", "duty": duty}) == [
        ("P008", "/permission/duty")
    ]


def test_policy_that_another_replaced_holds_no_longer():
    replaced = {"dct:isReplacedBy": {"@id": "ex:2"}}
    assert problems(permission=RULE, **replaced) == [("P012", "/dct:isReplacedBy")]
    assert read(permission=RULE, **{"dct:replaces": {"@id": "ex:0"}})


# -- conflicts (section 2.10) -------------------------------------------------------------------


def test_conflict_is_reported_with_both_rules_and_what_they_share():
    text = plain(
        permission={**RULE, "uid": "ex:may", "assignee": "ex:alice"},
        prohibition={"uid": "ex:not", "target": "ex:T", "action": "use"},
    )
    with pytest.raises(Exception, match="P010") as error:
        read_policy(text)
    [problem] = error.value.problems
    told = (
        "http://e.org/may permits what http://e.org/not prohibits",
        "odrl:read on http://e.org/T",
    )
    assert all(part in problem.message for part in told)
    assert "by http://e.org/alice" in problem.message


@pytest.mark.parametrize(
    ("ours", "theirs", "is_conflict"),
    [
        ([], [], True),
        ([DAY], [], True),
        ([DAY], [{**DAY, "operator": "gteq"}], False),
        ([DAY], [{**DAY, "operator": "gt", "rightOperand": "2029-01-01"}], True),
        ([COUNT], [{**COUNT, "operator": "gteq"}], False),
        ([{"or": [DAY, COUNT]}], [{**DAY, "operator": "gteq"}], True),
        ([{"and": [DAY, COUNT]}], [{**DAY, "operator": "gteq"}], False),
    ],
)
def test_conflict_needs_constraints_that_can_be_met_together(ours, theirs, is_conflict):
    rules = [{**RULE, **({"constraint": of} if of else {})} for of in (ours, theirs)]
    text = plain(permission=rules[0], prohibition=rules[1])
    if is_conflict:
        assert refused(text) == [("P010", "/prohibition")]
    else:
        assert read_policy(text).rules


def test_at_most_a_thousand_conflicts_are_listed_and_the_others_counted():
    rules = [RULE] * 40
    assert len(refused(plain(permission=rules, prohibition=rules))) == 1_001


def test_at_most_a_hundred_other_problems_are_told():
    assert len(refused(plain(permission=RULE, obligation=[{"action": "inform"}] * 200))) == 100
    assert len(problems(permission=[{**RULE, "action": "raed"}] * 200)) == 100
    assert len(problems(permission=[{**RULE, "action": "raed"}] * 200)) == 100


# -- warnings -----------------------------------------------------------------------------------


def warnings_of(*rules):
    policy = read(profile="mosaicrown:", permission=list(rules))
    return [(hint.code, hint.place.pointer) for hint in policy.hints]


def test_output_that_no_rule_governs_gives_a_warning():
    derive = {"target": "ex:T", "action": "derive", "output": "ex:O"}
    assert warnings_of(derive) == [("W001", "/@graph/0/permission/0")]
    [hint] = read(profile="mosaicrown:", permission=derive).hints
    assert hint.is_warning
    assert hint.message.startswith(f"No engine can certify the output {ex('O')!r}: nobody")
    [hint] = read(profile="mosaicrown:", permission={**derive, "action": "use"}).hints
    assert "nobody may do anything with it" in hint.message


@pytest.mark.parametrize("target", ["ex:O", "ex:O/ZIP", "ex:lake"])
def test_output_that_a_rule_governs_gives_none(target):
    wide = {"uid": "ex:O", "partOf": "ex:lake"}
    derive = {"target": "ex:T", "action": "derive", "output": wide}
    assert warnings_of(derive, {"target": target, "action": "read"}) == []


def test_output_of_anonymize_is_governed_by_its_own_rule():
    action = {"rdf:value": {"@id": "odrl:anonymize"}}
    assert warnings_of({"target": "ex:T", "action": action, "output": "ex:O"}) == []


# -- sections of the specification --------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "section"),
    [
        ("P001", "2.1"),
        ("P002", "2.1"),
        ("P003", "2.1"),
        ("P004", "2.6"),
        ("P008", "2.6"),
        ("P010", "2.10"),
        ("P011", "2.9"),
        ("P012", "2.8"),
        ("P013", "2.6"),
        ("P014", "2.5.2"),
        ("P015", "2.5.5"),
        ("P016", "2.4"),
        ("P017", "2.6.4"),
    ],
)
def test_code_names_the_section_of_the_information_model(code, section):
    assert SECTIONS[code] == f"ODRL Information Model 2.2, section {section}"


def test_every_code_of_reading_has_a_section():
    reading = {code for code in CODES if code[0] in "LP"}
    assert reading <= SECTIONS.keys() <= CODES.keys()


def test_hint_at_the_profile_is_mended_by_naming_it():
    text = json.dumps({"@context": CONTEXT, "@type": "Set", "uid": "ex:p", "permission": RULE})
    [hint] = read_policy(text).hints
    at = hint.fix.start.column - 1
    mended = text[:at] + hint.fix.text + text[at:]
    assert read_policy(mended).hints == ()


def test_a_method_that_bounds_nothing_gives_a_warning_unless_a_model_is_beside_it():
    def asking(operator, right):
        method = {"leftOperand": "mosaicrown:method", "operator": operator, "rightOperand": right}
        made = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": [method]}
        return {"target": "ex:T", "action": made, "output": "ex:O"}

    [found] = warnings_of(asking("eq", "masking"))
    assert found[0] == "W005"
    assert found[1].endswith("/refinement/0/rightOperand")
    [by_name] = warnings_of(asking("eq", {"@id": "pe:maskingAlone"}))
    assert by_name[0] == "W005"
    assert warnings_of(asking("eq", "k-anonymity")) == []
    assert warnings_of(asking("isAllOf", ["masking", "k-anonymity"])) == []
    assert warnings_of(asking("isAllOf", ["masking", {"@id": "pe:k-anonymity"}])) == []
    assert warnings_of(asking("eq", "k-anonimity")) == []  # refused when it is planned


def test_masking_of_which_a_duty_bounds_what_attacks_reach_gives_no_warning():
    method = {"leftOperand": "mosaicrown:method", "operator": "eq", "rightOperand": "masking"}
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": [method]}
    made = {"target": "ex:T", "action": action, "output": "ex:O"}

    def codes(target):
        used = {"target": target, "action": "use", "duty": {"action": "pe:recordLinkage"}}
        return [code for code, _ in warnings_of(made, used)]

    assert codes("ex:O") == []
    assert "W005" in codes("ex:T")


def test_what_is_named_jointly_and_not_covered_gives_a_warning():
    def named(*assets):
        said = {"leftOperand": "pe:jointly", "operator": "isAnyOf", "rightOperand": [*assets]}
        return {"target": ["ex:T", "ex:O"], "action": "read", "constraint": said}

    assert warnings_of(named("ex:T/ZIP", "ex:O")) == []
    wider = named("ex:T/ZIP", "ex:P")
    [found] = warnings_of(wider)
    assert found[0] == "W004"
    assert found[1].endswith("/constraint/rightOperand/1")
    assert warnings_of({**wider, "action": "grantUse"}) == []  # others let what is theirs
    both = [wider["constraint"], {"leftOperand": "count", "operator": "lteq", "rightOperand": 9}]
    [within] = warnings_of({**wider, "constraint": {"and": both}})
    assert within[1].endswith("/constraint/and/0/rightOperand/1")
    assert warnings_of({**wider, "constraint": {"or": both}}) == []


@pytest.mark.parametrize(
    ("setting", "scale", "codes"),
    [
        ("pe:sdShare", 10, ["W008"]),
        ("pe:varianceShare", {"@value": "1.0", "@type": "xsd:decimal"}, ["W008"]),
        ("pe:sdShare", 0.1, []),
        ("pe:sdShare", "much", []),  # refused when it is planned
    ],
)
def test_a_scale_of_noise_that_may_be_a_percentage_gives_a_warning(setting, scale, codes):
    column = {"@id": "ex:T/pay", "pe:masking": "noise", setting: scale}
    masked = {"leftOperand": "pe:masked", "operator": "isAllOf", "rightOperand": [column]}
    method = {"leftOperand": "mosaicrown:method", "operator": "eq", "rightOperand": "k-anonymity"}
    made = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": [method, masked]}
    found = warnings_of({"target": "ex:T", "action": made, "output": "ex:O"})
    assert [code for code, _ in found] == codes
    assert not found or found[0][1].endswith(f"/rightOperand/0/{setting}")


def test_audits_that_are_no_duties_of_permissions_give_a_warning():
    audit = {"action": "pe:recordLinkage", "target": "ex:O"}
    duty = {"action": "inform", "consequence": audit}
    rules = {
        "permission": [{"target": "ex:O", "action": "use", "duty": duty}],
        "prohibition": [{"target": "ex:O", "action": "sell", "remedy": audit}],
        "obligation": [{**audit, "assignee": "ex:A"}],
    }
    for kind, given in rules.items():
        hints = read(profile="mosaicrown:", **{kind: given}).hints
        assert [hint.code for hint in hints] == ["W009"], kind
    used = {"target": "ex:O", "action": "use", "duty": {"action": "pe:recordLinkage"}}
    assert "W009" not in [code for code, _ in warnings_of(used)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("makes", [False, True])
def test_many_rules_are_checked_in_about_linear_time(makes):
    rules = [{"target": f"ex:T{n}", "action": "derive" if makes else "read"} for n in range(3_000)]
    rules = [{**one, "output": f"ex:O{n}"} if makes else one for n, one in enumerate(rules)]
    start = process_time()
    assert len(read(permission=rules).permissions) == len(rules)
    assert process_time() - start < 10
