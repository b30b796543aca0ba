"""The state of each part, constraint and duty of a rule, and what is said beside it."""

import pytest
from compliance_texts import (
    PARTS,
    PREFIXES,
    constrained,
    for_purpose,
    limit,
    policy,
    request,
    world,
)

from policy_engine.data.rdf.statements import Literal
from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import RequestError
from policy_engine.terms import RDF, XSD

EX = "http://example.com/"
WARD, OTHER, HOSPITAL = f"{EX}ward", f"{EX}other", f"{EX}hospital"
BOTH = ("permission", "prohibition")
NOW, NEVER = '"2040-01-01"^^xsd:date', '"2020-01-01"^^xsd:date'
LATER = limit("odrl:dateTime", "lt", NOW)
CARE = "<https://www.mosaicrown.eu/ns/mosaicrown/1/purpose>"


def report(policy_text, request_text=None, world_text=None, **options):
    [found] = compliance_report(
        policy_text, request_text or request(), world_text or world(), **options
    ).policies
    return found


def rule(*given, **options):
    [found] = report(*given, **options).rules
    return found


# -- parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("Target", "; odrl:target :ward"),
        ("Party", "odrl:assignee :nurse ;"),
        ("Action", "odrl:action odrl:read ;"),
    ],
)
def test_part_that_the_request_does_not_name_is_not_known(part, said, kind):
    found = rule(policy(kind=kind), request().replace(said, ""))
    [unknown] = [one for one in found.premises if one.state != "satisfied"]
    assert (unknown.part, unknown.state) == (part, "unknown")
    assert unknown.reason == f"The request names no {part.lower()}."
    assert found.active is (kind == "prohibition")


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(("part", "named"), [("party", "assignee"), ("target", "target")])
def test_part_that_the_policy_does_not_name_may_be_that_of_the_request(part, named, kind):
    found = rule(policy(f"odrl:{named} [ a odrl:Asset ]".replace("Asset", "Party"), kind))
    why = f"It is not known whether the {part} of the request is within the rule's."
    assert [(one.state, one.reason) for one in found.premises] == [("unknown", why)]
    assert found.active is (kind == "prohibition")


GROWN = f":grown {limit(':age', 'gteq', '18')} ."
UNNAMED = "[ a odrl:PartyCollection ; odrl:refinement :grown ]"
STAFF = "[ a odrl:PartyCollection ; odrl:source :staff ; odrl:refinement :grown ]"
BEDS = "[ a odrl:AssetCollection ; odrl:source :ward ; odrl:refinement :grown ]"
IN_STAFF = ":nurse odrl:partOf :staff . :cook odrl:partOf :staff ."
IN_WARD = ":bed odrl:partOf :ward . :cot odrl:partOf :ward ."


@pytest.mark.parametrize(
    ("part", "asked", "ages", "permitted", "prohibited"),
    [
        (f"assignee {UNNAMED}", ":nurse", {"nurse": 21}, "unknown", "unknown"),
        (f"assignee {UNNAMED}", ":nurse", {"nurse": 17}, "unsatisfied", "unsatisfied"),
        (f"assignee {UNNAMED}", ":nurse", {}, "unknown", "unknown"),
        (
            f"assignee {UNNAMED}",
            ":cook, :nurse",
            {"nurse": 21, "cook": 17},
            "unsatisfied",
            "unknown",
        ),
        (
            f"assignee {UNNAMED}",
            ":cook, :nurse",
            {"nurse": 17, "cook": 21},
            "unsatisfied",
            "unknown",
        ),
        (f"assignee {STAFF}", ":nurse", {"nurse": 21}, "satisfied", "satisfied"),
        (f"assignee {STAFF}", ":nurse", {"nurse": 17}, "unsatisfied", "unsatisfied"),
        (f"assignee {STAFF}", ":nurse", {}, "unknown", "unknown"),
        (
            f"assignee {STAFF}",
            ":cook, :nurse",
            {"nurse": 21, "cook": 17},
            "unsatisfied",
            "satisfied",
        ),
        (f"assignee {STAFF}", ":staff", {"nurse": 21, "cook": 17}, "unsatisfied", "satisfied"),
        (f"assignee {STAFF}", ":staff", {"nurse": 21, "cook": 19}, "satisfied", "satisfied"),
        (f"assignee {STAFF}", ":guest", {"guest": 21}, "unsatisfied", "unsatisfied"),
        (f"assignee {UNNAMED}, {STAFF}", ":nurse", {"nurse": 21}, "satisfied", "satisfied"),
        (f"assignee {UNNAMED}, {STAFF}", ":guest", {"guest": 21}, "unknown", "unknown"),
        (f"target {BEDS}", ":ward", {"bed": 21, "cot": 17}, "unsatisfied", "satisfied"),
        (f"target {BEDS}", ":ward", {"bed": 21, "cot": 19}, "satisfied", "satisfied"),
        (f"target {BEDS}", ":bed", {"bed": 21, "cot": 17}, "satisfied", "satisfied"),
        (f"target {BEDS}", ":cot", {"bed": 21, "cot": 17}, "unsatisfied", "unsatisfied"),
        (f"target {BEDS}", ":cot", {"bed": 21}, "unknown", "unknown"),
        ("target :bed", ":ward", {}, "unsatisfied", "satisfied"),
        ("target :ward", ":bed", {}, "satisfied", "satisfied"),
        ("target :ward", ":other", {}, "unsatisfied", "unsatisfied"),
        ("target :ward", ":bed, :other", {}, "unsatisfied", "satisfied"),
    ],
)
def test_permission_covers_all_that_is_asked_and_prohibition_meets_some(
    part, asked, ages, permitted, prohibited
):
    told = " ".join(f":{one} :age {age} ." for one, age in ages.items())
    named = {"party": asked} if part.startswith("assignee") else {"target": asked}
    for kind, state in zip(BOTH, (permitted, prohibited), strict=True):
        text = policy(f"odrl:{part}", kind, GROWN if ":grown" in part else "")
        found = rule(text, request(**named), world(f"{IN_STAFF} {IN_WARD} {told}"))
        assert [one.state for one in found.premises] == [state]


def test_each_premise_of_each_rule_has_a_node_of_its_own():
    more = f":a {LATER} . :b odrl:xone :c, :d . :c {LATER} . :d {LATER} . "
    more += f":policy odrl:prohibition :not ; odrl:obligation :must . :not {CARE} :care ; "
    more += "odrl:target :ward ; odrl:constraint :a, :b . :must odrl:constraint :a, :b ."
    text = policy(f"{PARTS} ; {CARE} :care ; odrl:constraint :a, :b", more=more)
    found = report(text, owners={WARD: OTHER})
    premises = [one for of in (*found.rules, *found.duties) for one in of.premises]
    premises += [inner for one in premises for inner in getattr(one, "premises", ())]
    nodes = [found.node, *(one.node for one in (*found.rules, *found.duties, *premises))]
    assert len(premises) == 7 + 5 + 2 + 3 * 2
    assert len(set(nodes)) == len(nodes)


def test_refinement_of_each_action_that_is_asked_for_is_held_against_what_is_told_of_it():
    few = f":few {limit(':level', 'lt', '1')} ."
    text = policy("odrl:action [ rdf:value odrl:read ; odrl:refinement :few ]", "prohibition", few)
    claimed = "; sotw:context [ odrl:leftOperand :level ; odrl:rightOperand %d ]"
    for actions in ("odrl:sell, odrl:read", "odrl:read, odrl:sell"):
        assert not rule(text, request(actions, told=claimed % 5)).active
        assert rule(text, request(actions, told=claimed % 0)).active


# -- constraints ------------------------------------------------------------------------------


def told(operand, *values):
    said = f"odrl:leftOperand {operand} ; odrl:rightOperand {', '.join(values)}"
    return request(told=f"; sotw:context [ {said} ]")


@pytest.mark.parametrize(
    ("constraint", "asked", "state", "reason"),
    [
        (limit("odrl:spatial", "eq", ":home"), None, "unknown", "odrl:spatial is not known."),
        (limit("odrl:spatial", "eq", ":home"), told("odrl:spatial", ":home"), "satisfied", ""),
        (limit("odrl:spatial", "eq", ":home"), told("odrl:spatial", ":ward"), "unsatisfied", ""),
        (
            limit("odrl:spatial", "eq", ":home"),
            told("odrl:spatial", ":home", ":ward"),
            "unknown",
            "odrl:spatial cannot be compared.",
        ),
        (
            limit("odrl:spatial", "lt", "5"),
            told("odrl:spatial", ":home"),
            "unknown",
            "odrl:spatial cannot be compared.",
        ),
        (
            limit(":speed", "lt", "5"),
            told(":speed", '"soon"^^xsd:date'),
            "unknown",
            f"{EX}speed cannot be compared.",
        ),
        (
            limit("odrl:dateTime", "lt", ":a").replace(":rightOperand", ":rightOperandReference"),
            None,
            "unknown",
            "odrl:dateTime cannot be compared.",
        ),
    ],
)
def test_constraint_that_is_not_known_says_what_is_not(constraint, asked, state, reason):
    premise = rule(constrained(constraint), asked).premises[-1]
    assert (premise.state, premise.reason, premise.constraint) == (state, reason, f"{EX}limit")


def test_purposes_of_a_rule_are_one_premise_with_all_of_them():
    found = rule(policy(f"{PARTS} ; {CARE} :care, :study"), for_purpose(":study"))
    premise = found.premises[-1]
    assert (premise.state, premise.constraint) == ("satisfied", "")
    assert premise.left == (f"{EX}study",)
    assert premise.right == (f"{EX}care", f"{EX}study")
    assert premise.operator == "http://www.w3.org/ns/odrl/2/isAnyOf"


@pytest.mark.parametrize(
    ("operand", "left"),
    [("odrl:purpose", [""]), ("odrl:deliveryChannel", [""]), ("odrl:spatial", [])],
)
def test_left_operand_that_nobody_tells_is_shown_where_a_request_tells_it(operand, left):
    premise = rule(constrained(limit(operand, "eq", ":care"))).premises[-1]
    assert [one.text for one in premise.left] == left


@pytest.mark.parametrize(
    ("right", "shown"),
    [
        (":home", (f"{EX}home",)),
        (
            '"home"@en',
            (Literal("home", f"{RDF}langString", "en"),),
        ),
        (":home, :ward", (f"{EX}home", WARD)),
        ("( :home :ward )", (f"{EX}home", WARD)),
    ],
)
def test_right_operand_is_shown_as_it_is_written(right, shown):
    premise = rule(constrained(limit("odrl:spatial", "isAnyOf", right))).premises[-1]
    assert premise.right == shown


def test_reference_to_a_right_operand_is_shown_as_it_is_written():
    of_limit = limit("odrl:spatial", "eq", ":home").replace("rightOperand", "rightOperandReference")
    premise = rule(constrained(of_limit), None, world(":home rdf:value :ward .")).premises[-1]
    assert premise.right == (f"{EX}home",)


@pytest.mark.parametrize(("channel", "states"), [("", (True, True)), (":net", (False, False))])
def test_channel_that_is_not_told_is_none_for_permissions_alone(channel, states):
    constraint = limit("odrl:deliveryChannel", "neq", ":net")
    asked = told("odrl:deliveryChannel", channel) if channel else request()
    found = [rule(constrained(constraint, kind), asked).active for kind in BOTH]
    assert tuple(found) == states


@pytest.mark.parametrize(
    ("count", "active"), [("2", True), ("4", False), ("2, 3", False), ("true", False)]
)
def test_count_is_one_whole_number_of_every_rule(count, active):
    more = ":policy odrl:permission :second . :second odrl:constraint :limit ."
    text = constrained(limit("odrl:count", "lteq", "3"), more=more)
    found = report(text, None, world(f":w a sotw:SotW ; odrl:count {count} ."))
    assert [one.active for one in found.rules] == [active, active]


def test_count_is_told_of_duties_too():
    text = constrained(limit("odrl:count", "lteq", "3"), "obligation")
    for count, active in ((2, True), (4, False)):
        found = report(text, None, world(f":w a sotw:SotW ; odrl:count {count} ."))
        assert [one.active for one in found.duties] == [active]
        assert [one.premises[0].state for one in found.duties] == [
            "satisfied" if active else "unsatisfied"
        ]


def test_value_that_cannot_be_read_is_not_known():
    text = constrained(limit("odrl:spatial", "neq", ":home"))
    wrong = ':w a sotw:SotW ; odrl:spatial "soon"^^xsd:date .'
    assert rule(text, None, world(wrong)).premises[-1].state == "unknown"
    party = policy(f"odrl:assignee {STAFF}", more=GROWN)
    of = ':nurse odrl:partOf :staff ; :age "many"^^xsd:integer .'
    assert [one.state for one in rule(party, None, world(of)).premises] == ["unknown"]


def test_state_of_the_world_may_be_of_either_class():
    text = constrained(limit("odrl:spatial", "eq", ":home"))
    for kind in ("sotw:SotW", "<http://example.org/Sotw>"):
        assert rule(text, None, world(f":w a {kind} ; odrl:spatial :home .")).active
    assert not rule(text, None, world(":w a :World ; odrl:spatial :home .")).active


@pytest.mark.parametrize(
    ("said", "active"),
    [
        (":handover <http://www.w3.org/2000/01/rdf-schema#subClassOf> :care .", True),
        (":handover a :care .", True),
        (":handover skos:broader :care .", True),
        (":handover :is :care .", False),
    ],
)
def test_purpose_is_of_a_kind_by_what_the_world_says_of_it(said, active):
    text = constrained(limit("odrl:purpose", "isA", ":care"))
    assert rule(text, for_purpose(":handover"), world(said)).active is active


def test_purpose_is_of_a_kind_by_the_word_of_its_request_alone():
    text = constrained(limit("odrl:purpose", "isA", ":care"))
    assert rule(text, for_purpose(":shift", ":shift a :care .")).active
    assert rule(text, for_purpose('"shift"', ":shift a :care .")).active is False
    assert rule(text, for_purpose(":handover", ":shift a :care .")).active is False


@pytest.mark.parametrize(
    "said", [":shift skos:broader :work . :work a :care .", "[ odrl:uid :shift ; a :care ] ."]
)
def test_purpose_of_a_request_is_of_a_kind_by_all_that_the_request_says_of_it(said):
    text = constrained(limit("odrl:purpose", "isA", ":care"))
    assert rule(text, for_purpose(":shift", said)).active


STATE = ":w a sotw:SotW ; odrl:purpose"


@pytest.mark.parametrize(
    ("purpose", "said", "told"),
    [
        (":ads", ":ads a :care .", f"{STATE} :ads ."),
        (":ads", ":ads skos:broader :care .", f"{STATE} :ads ."),
        (":ads", ":ads a :care .", ":ads skos:broader :sales ."),
        (":ads", ":ads a :care .", ":w a sotw:SotW ; odrl:deliveryChannel :ads ."),
        (":shift", ":shift a :ads . :ads a :care .", f"{STATE} :ads ."),
        ("dpv:Marketing", "dpv:Marketing a :care .", ""),
        (":night", ":night a :care .", ""),
    ],
)
def test_a_request_says_nothing_of_purposes_that_others_name(purpose, said, told):
    text = constrained(limit("odrl:purpose", "isA", ":care"), more=":night :is :late .")
    with pytest.raises(RequestError, match=r"D003 The request says that .* is a kind of"):
        compliance_report(text, for_purpose(purpose, said), world(told))


def test_a_request_may_say_of_a_purpose_what_others_say_of_it():
    text = constrained(limit("odrl:purpose", "isA", ":care"))
    said = ":ads a :care, skos:Concept ."
    assert rule(text, for_purpose(":ads", said), world(":ads a :care .")).active


def test_a_purpose_of_a_vocabulary_is_of_no_kind_by_the_word_of_a_request(tmp_path):
    vocabulary = tmp_path / "vocabulary.ttl"
    vocabulary.write_text(f"{PREFIXES}:ads a {CARE} ; skos:broader :sales .")
    text = constrained(limit("odrl:purpose", "isA", ":care"))
    asked = for_purpose(":ads", ":ads a :care .")
    with pytest.raises(RequestError, match=r"D003 The request says that .*/ads' is a kind of"):
        compliance_report(text, asked, world(), vocabularies=[vocabulary])


# -- duties -----------------------------------------------------------------------------------

PERFORMED, UNPERFORMED = "performanceState report:Performed", "performanceState report:Unperformed"
VIOLATED = "deonticState report:Violated"
FULFILLED = "deonticState report:Fulfilled"
UNKNOWN = "performanceState report:Unknown"
PAST, FUTURE = limit("odrl:dateTime", "lteq", NEVER), limit("odrl:dateTime", "gt", NOW)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("kind", ["permission", "obligation"])
@pytest.mark.parametrize(
    ("said", "constraint", "state"),
    [
        (PERFORMED, limit("odrl:dateTime", "lt", NOW), ("Performed", "Fulfilled", True)),
        (PERFORMED, limit("odrl:dateTime", "lt", NEVER), ("Performed", "Fulfilled", False)),
        (PERFORMED, limit("odrl:dateTime", "gt", NOW), ("Performed", "NonSet", False)),
        (PERFORMED, limit("odrl:spatial", "eq", ":home"), ("Performed", "Fulfilled", True)),
        (UNPERFORMED, limit("odrl:dateTime", "lt", NOW), ("Unperformed", "Violated", True)),
        (UNPERFORMED, limit("odrl:dateTime", "lt", NEVER), ("Unperformed", "Violated", False)),
        (UNPERFORMED, limit("odrl:dateTime", "lteq", NEVER), ("Unperformed", "Violated", False)),
        (UNPERFORMED, limit("odrl:dateTime", "eq", NEVER), ("Unperformed", "Violated", False)),
        (UNPERFORMED, limit("odrl:dateTime", "eq", NOW), ("Unperformed", "NonSet", False)),
        (UNPERFORMED, limit("odrl:dateTime", "gt", NOW), ("Unperformed", "NonSet", False)),
        (UNPERFORMED, f"odrl:or ( [ {PAST} ] )", ("Unperformed", "Violated", False)),
        (UNPERFORMED, f"odrl:and ( [ {PAST} ] [ {FUTURE} ] )", ("Unperformed", "NonSet", False)),
        (UNKNOWN, PAST, ("Unknown", "NonSet", False)),
        (VIOLATED, limit("odrl:dateTime", "lt", NOW), ("Unknown", "Violated", True)),
        (VIOLATED, limit("odrl:dateTime", "lt", NEVER), ("Unknown", "Violated", False)),
        (FULFILLED, limit("odrl:dateTime", "lt", NOW), ("Unknown", "Fulfilled", True)),
        (UNKNOWN, limit("odrl:dateTime", "lt", NOW), ("Unknown", "NonSet", True)),
    ],
)
def test_duty_has_the_state_that_the_world_tells_or_its_performance_gives(
    kind, said, constraint, state
):
    pay = f":pay odrl:action odrl:compensate ; odrl:constraint [ {constraint} ] ."
    of_policy = f":policy odrl:obligation :pay . {pay}"
    text = policy("odrl:duty :pay", more=pay) if kind == "permission" else policy(more=of_policy)
    tells = world(f":told a report:DutyReport ; report:rule :pay ; report:{said} .")
    found = report(text, None, tells)
    duties = found.rules[0].conditions if kind == "permission" else found.duties
    assert [(one.performance, one.deontic, one.active) for one in duties] == [state]
    assert found.rules[0].active is not (kind == "permission" and state[1] == "Violated")
    inactive = "Active" if state[2] else "Inactive"
    plain = compliance_report(text, request(), tells).to_json()["policyReports"][0]["ruleReports"]
    shown = plain[0]["conditionReports"] if kind == "permission" else plain[1:]
    assert [one["activationState"] for one in shown] == [inactive]


def test_each_duty_of_each_rule_has_a_node_of_its_own():
    said = "[ a report:DutyReport ; report:rule :{} ; report:performanceState report:{} ] ."
    tells = [said.format("pay", one) for one in ("Performed", "Unknown")]
    more = ":policy odrl:permission :other ; odrl:obligation :pay, :inform . "
    more += ":pay odrl:action odrl:compensate . "
    more += ":other odrl:duty :pay . :inform odrl:action odrl:inform ."
    found = report(policy("odrl:duty :pay, :log", more=more), None, world(" ".join(tells)))
    duties = [duty for one in found.rules for duty in one.conditions]
    nodes = [one.node for one in (*duties, *found.duties)]
    assert len(set(nodes)) == len(nodes) == 8


def test_obligation_has_a_node_beside_that_of_the_world():
    tells = f":told a report:DutyReport ; report:rule :rule ; report:{PERFORMED} ."
    [duty] = report(policy(kind="obligation"), None, world(tells)).duties
    assert duty.node.startswith("urn:uuid:")
    assert not duty.is_told


# -- owners -----------------------------------------------------------------------------------


def spoken(kind="permission", asked=None, of_rule=PARTS, more="", told=""):
    """Return the premise on who speaks for the ward, which another one owns."""
    found = report(policy(of_rule, kind, more), asked, world(told), owners={WARD: OTHER})
    [premises] = [one.premises for one in found.rules if one.rule == f"{EX}rule"]
    premise = premises[-1]
    assert premise.part == "Party"
    assert premise.node.startswith("urn:uuid:")
    return premise.state, premise.reason


NOBODY = f"The rule does not count: it names no assigner, and {OTHER} owns {WARD}."


@pytest.mark.parametrize("kind", BOTH)
def test_rule_of_nobody_does_not_count_for_what_is_owned(kind):
    assert spoken(kind) == ("unsatisfied", NOBODY)
    assert spoken(kind, of_rule=f"{PARTS} ; odrl:assigner :other") == ("satisfied", "")
    assert kind == "permission" or spoken(kind, request(target=":bed")) == ("satisfied", "")
    no_target = request().replace("; odrl:target :ward", "")
    assert spoken(kind, no_target) == ("unknown", "The request names no target.")


LEAVE = ":policy odrl:permission :leave . :leave odrl:assigner :other ; odrl:target :ward ; "
LEAVE += "odrl:assignee :hospital ; odrl:action odrl:grantUse"
BUT = ". :policy odrl:conflict odrl:prohibit ; odrl:prohibition :no . :no"
ISSUED = f"{PARTS} ; odrl:assigner :hospital"


@pytest.mark.parametrize(
    ("leave", "told", "is_let"),
    [
        ("", "", True),
        ("; odrl:duty :pay", "", False),
        (
            "; odrl:duty :pay",
            f":told a report:DutyReport ; report:rule :pay ; report:{PERFORMED} .",
            True,
        ),
        (
            "; odrl:duty :pay",
            f":told a report:DutyReport ; report:rule :pay ; report:{VIOLATED} .",
            False,
        ),
        (f"; odrl:constraint [ {limit('odrl:spatial', 'eq', ':home')} ]", "", False),
        (
            f"; odrl:constraint [ {limit('odrl:spatial', 'eq', ':home')} ]",
            ":w a sotw:SotW ; odrl:spatial :home .",
            True,
        ),
        (
            f"{BUT} odrl:assigner :other ; odrl:target :ward",
            "",
            False,
        ),
        (f"{BUT} odrl:assigner :third ; odrl:target :ward", "", True),
        (
            f"{BUT} odrl:assigner :other ; odrl:target :ward ; odrl:action odrl:sell",
            "",
            True,
        ),
    ],
)
def test_leave_of_the_owner_is_given_where_its_duties_are_done_and_nothing_bars_it(
    leave, told, is_let
):
    text = f"{LEAVE} {leave} ."
    state, reason = spoken(of_rule=ISSUED, more=text, told=told)
    assert state == ("satisfied" if is_let else "unsatisfied")
    assert bool(reason) is not is_let


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        ("", True),
        (":w a sotw:SotW ; odrl:spatial :home .", True),
        (":w a sotw:SotW ; odrl:spatial :away .", False),
    ],
    ids=["unknown", "given", "not given"],
)
def test_prohibition_counts_where_its_issuer_may_have_the_leave_of_the_owner(told, counts):
    leave = f"{LEAVE} ; odrl:constraint [ {limit('odrl:spatial', 'eq', ':home')} ] ."
    parts = ISSUED.replace("odrl:action odrl:read", "odrl:action odrl:use")
    state, _ = spoken("prohibition", of_rule=parts, more=leave, told=told)
    assert state == ("satisfied" if counts else "unsatisfied")


def test_leave_is_for_each_target_by_itself():
    both = request(target=":ward, :bed")
    owners = {WARD: OTHER, f"{EX}bed": OTHER}
    parts = ISSUED.replace(":ward", ":ward, :bed")
    for target, is_let in ((":ward, :bed", True), (":ward", False), (":bed", False)):
        leave = LEAVE.replace(":ward", target)
        found = report(policy(parts, more=f"{leave} ."), both, owners=owners)
        assert (found.rules[0].premises[-1].state == "satisfied") is is_let


def test_leave_in_an_offer_is_none():
    of_offer = ":o a odrl:Offer ; odrl:permission :leave . :leave odrl:assigner :other ; "
    of_offer += "odrl:target :ward ; odrl:assignee :hospital ; odrl:action odrl:grantUse ."
    owners = {WARD: OTHER}
    for kind, is_let in (("Set", True), ("Offer", False)):
        text = policy(ISSUED, more=of_offer.replace("Offer", kind))
        first = compliance_report(text, request(), world(), owners=owners).policies[0]
        assert [one.active for one in first.rules] == [is_let]


def test_who_owns_what_a_report_is_of_is_in_its_names():
    texts = policy(ISSUED), request(), world()
    nodes = {
        compliance_report(*texts, owners=owners).policies[0].node
        for owners in (None, {WARD: HOSPITAL}, {WARD: OTHER})
    }
    assert len(nodes) == 3


def test_names_of_a_report_are_of_all_that_it_is_made_from(tmp_path):
    vocabulary = tmp_path / "vocabulary.ttl"
    vocabulary.write_text(f"{PREFIXES}:look a odrl:Action .")
    given = policy(), request(), world()
    others = [
        compliance_report(*given),
        compliance_report(policy() + "# .", *given[1:]),
        compliance_report(given[0], request() + "# .", given[2]),
        compliance_report(*given[:2], world() + "# ."),
        compliance_report(*given, vocabularies=[vocabulary]),
    ]
    assert len({one.policies[0].node for one in others}) == len(others)


def test_duty_whose_time_has_elapsed_is_violated():
    term = limit("odrl:elapsedTime", "lteq", '"P1D"^^xsd:duration')
    pay = f":pay odrl:action odrl:compensate ; odrl:constraint [ {term} ] ."
    told = f":told a report:DutyReport ; report:rule :pay ; report:{UNPERFORMED} . "
    said = ':now a sotw:SotW ; odrl:elapsedTime "P2D"^^xsd:duration .'
    found = rule(policy("odrl:duty :pay", more=pay), None, world(told + said))
    assert ([one.deontic for one in found.conditions], found.active) == (["Violated"], False)


# -- obligations of a request with several rules ------------------------------------------------

DUE = (
    f":tell odrl:action odrl:inform ; odrl:constraint [ {limit('odrl:purpose', 'eq', ':care')} ] ."
)
OBLIGED = policy(PARTS, more=f":policy odrl:obligation :tell . {DUE}")
TOLD = f":told a report:DutyReport ; report:rule :tell ; report:{UNPERFORMED} ."
HOUR = "odrl:leftOperand odrl:dateTime ; odrl:rightOperand"


def asked_for(*purposes, hours=(9, 9)):
    rules = [
        f"[ {PARTS} ; <{CARE[1:-1]}> {purpose} ; "
        f'odrl:constraint [ {HOUR} "2026-06-01T{hour:02}:00:00Z"^^xsd:dateTime ] ]'
        for purpose, hour in zip(purposes, hours, strict=True)
    ]
    return f"{PREFIXES}:request a odrl:Request ; odrl:permission {' , '.join(rules)} ."


@pytest.mark.parametrize("purposes", [(":care", ":ads"), (":ads", ":care")])
def test_obligation_is_violated_if_it_is_in_one_rule_of_a_request_whatever_their_order(purposes):
    found = report(OBLIGED, asked_for(*purposes), f"{PREFIXES}{TOLD}")
    assert [(one.deontic, one.active) for one in found.duties] == [("Violated", True)]


@pytest.mark.parametrize("hours", [(8, 17), (17, 8)])
def test_report_on_rules_with_several_times_is_of_the_last_whatever_their_order(hours):
    found = report(OBLIGED, asked_for(":care", ":care", hours=hours), f"{PREFIXES}{TOLD}")
    assert found.created == Literal("2026-06-01T17:00:00Z", f"{XSD}dateTime")


def test_obligation_has_the_same_premises_whatever_the_order_of_what_is_asked_for():
    of_assets = limit("<https://w3id.org/policy-engine/ns#jointly>", "isAnyOf", ":x, :y")
    more = f":policy odrl:obligation :tell . :tell odrl:constraint [ {of_assets} ] ."
    lefts = []
    for targets in (":files, :ward", ":ward, :files"):
        asked = request(
            target=targets, more=":request odrl:permission :b . :b odrl:target :files ."
        )
        found = report(policy(PARTS, more=f"{more} :tell odrl:action odrl:inform ."), asked)
        lefts.append([set(one.left) for duty in found.duties for one in duty.premises])
    assert lefts[0] == lefts[1]


# -- time zones -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("right", "holds"),
    [
        ('"2026-06-01"^^xsd:date', False),
        ('"2026-06-02T03:00:00"^^xsd:dateTime', True),
        ('"2026-06-01T20:00:00"^^xsd:dateTime', False),
        ('"2026-06-01-07:00"^^xsd:date', True),
    ],
)
def test_equal_times_of_two_zones_have_equal_answers(kind, right, holds):
    text = constrained(limit("odrl:dateTime", "lteq", right), kind)
    for time in ("2026-06-01T20:00:00-07:00", "2026-06-02T03:00:00Z", "2026-06-02T03:00:00"):
        assert rule(text, None, world(time=time)).active is holds


# -- parameters -----------------------------------------------------------------------------------

K = "https://www.mosaicrown.eu/ns/mosaicrown/1/k"


@pytest.mark.parametrize(
    ("told", "state"), [("", "unknown"), ("2", "unsatisfied"), ("10", "satisfied")]
)
@pytest.mark.parametrize("by_world", [True, False])
def test_parameter_of_anonymize_holds_as_it_is_told(told, state, by_world):
    of_action = f"[ rdf:value odrl:anonymize ; odrl:refinement [ {limit(f'<{K}>', 'eq', '10')} ] ]"
    said = f":now a sotw:SotW ; <{K}> {told} ." if told and by_world else ""
    told = (
        f"; odrl:constraint [ odrl:leftOperand <{K}> ; odrl:rightOperand {told} ]" if told else ""
    )
    asked = request("odrl:anonymize", told="" if by_world else told)
    found = rule(policy(f"odrl:action {of_action}"), asked, world(said))
    assert [one.state for one in found.premises] == [state]
    assert found.active is (state == "satisfied")


# -- kinds of purposes ----------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["rdfs:subClassOf", "a", "skos:broader"])
@pytest.mark.parametrize("where", ["policy", "world"])
def test_class_of_a_purpose_counts_in_the_policy_as_in_the_world(said, where):
    says = f":ads {said.replace('rdfs:', '<http://www.w3.org/2000/01/rdf-schema#')} :sales ."
    says = says.replace("subClassOf", "subClassOf>")
    text = policy(f"{PARTS} ; {CARE} :sales", "prohibition", says if where == "policy" else "")
    found = rule(text, for_purpose(":ads"), world(says if where == "world" else ""))
    assert found.active


def test_reports_by_the_clock_have_names_of_their_own():
    def names(told):
        return [compliance_report(policy(), request(), told).policies[0].node for _ in range(2)]

    first, second = names(None)
    assert first != second
    first, second = names(world())
    assert first == second
