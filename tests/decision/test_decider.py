"""The decider against the slow way, and each thing that a decision tells."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import naive
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.decision import Decider, Request, World, decide, read_request, read_world
from policy_engine.errors import ArgumentError, RequestError
from policy_engine.policy import (
    Action,
    Asset,
    Constraint,
    Hierarchy,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Value,
)

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ODRL = terms.ODRL
COUNT = f"{ODRL}count"
USERS = [f"http://org/{name}" for name in ("alice", "bob", "sales", "staff")]
ASSETS = ["http://e.org/lake", "http://e.org/T", "http://e.org/T/a", "http://e.org/T/b", "urn:a:U"]
ACTIONS = [f"{ODRL}{name}" for name in ("use", "read", "display", "play")]
PURPOSES = [f"http://p/{name}" for name in ("any", "marketing", "mail")]


def limit(operator, day):
    moment = datetime(2026, 6, day, tzinfo=UTC)
    return Constraint(f"{ODRL}dateTime", f"{ODRL}{operator}", (Value(moment),))


CONDITIONS = [
    limit("lt", 2),
    limit("lt", 1),
    limit("gteq", 1),
    Constraint(f"{ODRL}spatial", f"{ODRL}eq", (Value("urn:a:eu", type="@id"),)),
    Constraint(f"{ODRL}count", f"{ODRL}lteq", (Value(3),)),
]
LEVEL = Constraint("http://xmlns.com/foaf/0.1/age", f"{ODRL}gteq", (Value(18),))
YOUNG = Constraint(LEVEL.left_operand, f"{ODRL}lt", (Value(18),))
RECIPIENT = f"{ODRL}recipient"


def about_names(left, names):
    """Return constraints that compare names, of which others may say what includes them."""
    operators = ("eq", "neq", "isA", "isPartOf", "hasPart", "isAnyOf", "isNoneOf", "isAllOf")
    rights = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    return st.builds(
        Constraint,
        st.just(left),
        st.sampled_from([f"{ODRL}{name}" for name in operators]),
        rights.map(lambda iris: tuple(Value(iri, type="@id") for iri in iris)),
    )


def joined(conditions):
    operators = st.sampled_from([f"{ODRL}{name}" for name in ("and", "or", "xone", "andSequence")])
    operands = st.lists(conditions, min_size=2, max_size=3).map(tuple)
    return st.builds(LogicalConstraint, operators, operands)


named = about_names(f"{ODRL}purpose", PURPOSES) | about_names(RECIPIENT, USERS)
single = st.sampled_from(CONDITIONS) | named
conditions = single | joined(single)
refinements = st.sampled_from([(), (), (LEVEL,), (YOUNG,)]) | st.tuples(named)


def some(names, kind, refined=refinements, least=0):
    one = st.builds(kind, st.sampled_from(names), refined)
    return st.lists(one, min_size=least, max_size=2).map(tuple)


def rules(kind):
    duty = Rule("duty", actions=(Action(f"{ODRL}inform"),), uid="urn:a:duty")
    return st.builds(
        Rule,
        st.just(kind),
        some(ASSETS, Asset),
        some(ACTIONS, Action, st.sampled_from([(), (), (LEVEL,), (YOUNG,)]), least=1),
        assignees=some(USERS, Party),
        purposes=st.lists(st.sampled_from(PURPOSES), max_size=2).map(tuple),
        constraints=st.lists(conditions, max_size=2).map(tuple),
        duties=st.sampled_from([(), (), (duty,)]) if kind == "permission" else st.just(()),
    )


def edges(names):
    return st.lists(st.tuples(*[st.sampled_from(names)] * 2), max_size=3).map(tuple)


hierarchies = st.builds(
    Hierarchy,
    edges(USERS),
    edges(ASSETS),
    st.just(()) | edges(ACTIONS),
    edges(PURPOSES),
    edges(ACTIONS),
)


@st.composite
def policies(draw):
    made = []
    for number in range(draw(st.integers(1, 3))):
        kinds = {
            f"{kind}s": tuple(
                Rule(**{**vars(rule), "uid": f"urn:{number}:{kind}:{at}"})
                for at, rule in enumerate(draw(st.lists(rules(kind), max_size=5)))
            )
            for kind in ("permission", "prohibition")
        }
        conflict = draw(st.sampled_from(["perm", "prohibit", "prohibit", "invalid"]))
        hierarchy = draw(st.one_of(st.just(Hierarchy()), hierarchies))
        uid = f"urn:p:{number}"
        made.append(Policy(uid, f"{ODRL}Set", conflict, "d", hierarchy=hierarchy, **kinds))
    return made


requests = st.builds(
    Request,
    assignee=st.sampled_from(USERS),
    action=st.sampled_from(ACTIONS),
    targets=st.lists(st.sampled_from(ASSETS), min_size=1, max_size=2).map(tuple),
    purpose=st.sampled_from(["", *PURPOSES]),
)
facts = st.fixed_dictionaries(
    {},
    optional={
        LEVEL.left_operand: st.sampled_from([(20,), (10,), (10, 20)]),
        RECIPIENT: st.lists(st.sampled_from(USERS), min_size=1, max_size=2).map(tuple),
    },
)
performed = st.sampled_from(["fulfilled", "violated"])
worlds = st.builds(
    World,
    time=st.sampled_from([NOON, datetime(2026, 6, 3, tzinfo=UTC)]),
    values=st.builds(
        lambda place, said: {"spatial": (place,), **said},
        st.sampled_from(["urn:a:eu", "urn:a:us"]),
        facts,
    ),
    of=st.dictionaries(st.sampled_from([*USERS, *ASSETS, *ACTIONS, "http://e.org/T/c"]), facts),
    counts=st.dictionaries(st.sampled_from(["urn:0:permission:0", "urn:p:1"]), st.integers(0, 5)),
    duties=st.dictionaries(st.just("urn:a:duty"), performed)
    | st.dictionaries(
        st.sampled_from(["urn:p:0", "urn:p:1"]),
        st.dictionaries(st.just("urn:a:duty"), performed, min_size=1),
    ),
    memberships=st.one_of(st.just(Hierarchy()), hierarchies),
)


def agree(made, asked, world, known):
    decider = Decider(made, hierarchy=known)
    for request in asked:
        found = decider.decide(request, world)
        effect, permits, prohibits = naive.decide(made, request, world, known)
        applying = [match for match in found.matches if match.applies]
        assert [one.rule for one in applying if one.kind == "permission"] == permits
        ours = [one.rule for one in applying if one.kind == "prohibition"]
        if all(naive.is_single(rule) for policy in made for rule in policy.prohibitions):
            assert (found.effect, ours) == (effect, prohibits)
        else:
            # What joined conditions come to whoever is heard, is unknown sooner than it is known.
            assert set(prohibits) <= set(ours)
            assert effect == "permit" or found.effect == "deny"


# A clash that constraints keep apart voids nothing: that is test_disjointness.py's matter.
bare = policies().map(
    lambda made: [one for one in made if one.conflict != "invalid" or not any(_bound(one))]
)
cases = bare, st.lists(requests, min_size=1, max_size=4), worlds, hierarchies


@pytest.mark.nightly
@settings(max_examples=examples(50), deadline=None)
@given(*cases)
def test_decisions_are_those_of_the_slow_way(made, asked, world, known):
    agree(made, asked, world, known)


@pytest.mark.nightly
@settings(max_examples=5_000, deadline=None)
@given(*cases)
def test_very_many_decisions_are_those_of_the_slow_way(made, asked, world, known):
    agree(made, asked, world, known)


@pytest.mark.nightly
@settings(max_examples=examples(50), deadline=None)
@given(*cases, hierarchies)
def test_words_of_another_policy_never_permit_what_is_denied_without_them(
    made, asked, world, known, words
):
    other = Policy("urn:p:other", f"{ODRL}Set", "prohibit", "d", hierarchy=words)
    alone, together = (Decider(some, hierarchy=known) for some in (made, [*made, other]))
    for request in asked:
        assert (
            alone.decide(request, world).permitted or not together.decide(request, world).permitted
        )


@pytest.mark.nightly
@settings(max_examples=examples(50), deadline=None)
@given(*cases)
def test_memberships_of_a_world_are_as_if_they_were_compiled(made, asked, world, known):
    plain = world.model_copy(update={"memberships": Hierarchy()})
    compiled = Decider(made, hierarchy=known.joined([world.memberships]))
    for request in asked:
        laid_over = Decider(made, hierarchy=known).decide(request, world)
        matches = [(one.rule, one.applies) for one in laid_over.matches]
        found = compiled.decide(request, plain)
        assert laid_over.effect == found.effect
        assert matches == [(one.rule, one.applies) for one in found.matches]


def _bound(policy):
    return (rule.constraints for rule in policy.rules if rule.constraints)


def permission(**parts):
    usual = {
        "targets": (Asset("http://e.org/T"),),
        "actions": (Action(f"{ODRL}use"),),
        "assignees": (Party("http://org/staff"),),
        "uid": "urn:r:1",
    }
    return Rule("permission", **{**usual, **parts})


def policy(*permissions, **parts):
    usual = {"uid": "urn:p:0", "type": f"{ODRL}Set", "conflict": "prohibit", "digest": "abc"}
    known = Hierarchy(party=(("http://org/alice", "http://org/staff"),))
    return Policy(**{**usual, "permissions": permissions, "hierarchy": known, **parts})


ASK = Request(assignee="http://org/alice", action=f"{ODRL}read", targets=("http://e.org/T/a",))


def ask(*permissions, world=None, request=ASK, **parts):
    return Decider([policy(*permissions, **parts)]).decide(request, world or World(time=NOON))


def test_a_rule_for_every_purpose_is_found_among_many_for_one_each():
    every = permission(uid="urn:r:every")
    one_each = [replace(every, uid=f"urn:r:{n}", purposes=(f"http://p/{n}",)) for n in range(20)]
    assert not ask(*one_each).permitted
    assert ask(*one_each, every).permitted
    barred, *bars = (replace(one, kind="prohibition") for one in (every, *one_each))
    other = ASK.model_copy(update={"purpose": "http://p/other"})
    assert ask(every, request=other, prohibitions=tuple(bars)).permitted
    assert not ask(every, request=other, prohibitions=(*bars, barred)).permitted


@pytest.mark.parametrize(
    ("asked", "permitted"),
    [
        ("http://p/3", False),
        ("http://p/wide", False),
        ("http://p/narrow", False),
        ("http://p/other", True),
        ("", False),
    ],
)
@pytest.mark.parametrize("is_given", [True, False])
def test_a_prohibition_for_a_purpose_is_found_among_many_by_what_includes_it(
    asked, permitted, is_given
):
    bars = [
        Rule("prohibition", (), (Action(f"{ODRL}use"),), f"urn:b:{n}", purposes=(f"http://p/{n}",))
        for n in range(20)
    ]
    known = Hierarchy(purpose=(("http://p/3", "http://p/wide"), ("http://p/narrow", "http://p/3")))
    request = ASK.model_copy(update={"purpose": asked})
    mine = policy(permission(), prohibitions=tuple(bars))
    decider = Decider([mine], hierarchy=known if is_given else None)
    world = World(time=NOON, **({} if is_given else {"memberships": known}))
    assert decider.decide(request, world).permitted == permitted


def test_permit_tells_of_what_it_is_an_execution_and_by_whose_clock():
    found = ask(permission())
    [counted] = found.counted
    assert (counted.policy, counted.rule, counted.party) == ("urn:p:0", "urn:r:1", "")
    assert counted.targets == ASK.targets
    assert found.time_by == "caller"


def test_permit_tells_the_rule_and_the_ways_in_the_hierarchies():
    [match] = ask(permission()).matches
    assert (match.rule, match.kind, match.applies) == ("urn:r:1", "permission", True)
    assert [(step.part, step.path) for step in match.steps] == [
        ("party", ("http://org/alice", "http://org/staff")),
        ("action", (f"{ODRL}read", f"{ODRL}use")),
        ("asset", ("http://e.org/T/a", "http://e.org/T")),
    ]


@pytest.mark.parametrize(
    ("constraint", "state"),
    [(limit("lt", 2), "satisfied"), (limit("lt", 1), "unsatisfied"), (CONDITIONS[3], "unknown")],
)
def test_permission_needs_every_constraint_satisfied(constraint, state):
    decision = ask(permission(constraints=(constraint,)))
    assert decision.permitted == (state == "satisfied")
    assert bool(decision.matches[0].steps) == decision.permitted
    assert [verdict.state for verdict in decision.matches[0].conditions] == [state]
    if state != "satisfied":
        assert state in decision.near_misses[0].missing[0]


@pytest.mark.parametrize(
    ("constraint", "denied"),
    [(limit("lt", 2), True), (limit("lt", 1), False), (CONDITIONS[3], True)],
)
def test_prohibition_is_lifted_by_what_is_unsatisfied_alone(constraint, denied):
    barred = Rule("prohibition", (), (Action(f"{ODRL}use"),), "urn:r:2", constraints=(constraint,))
    decision = ask(permission(), prohibitions=(barred,))
    assert decision.permitted != denied
    assert decision.strategy == ("prohibit" if denied else "")


def test_permission_with_a_duty_waits_for_it_to_be_fulfilled():
    duty = Rule("duty", actions=(Action(f"{ODRL}inform"),), uid="urn:d:1")
    asked = permission(duties=(duty,))
    [owed] = ask(asked).duties
    assert (owed.duty, owed.actions, owed.state) == ("urn:d:1", (f"{ODRL}inform",), "outstanding")
    assert "its duty odrl:inform is outstanding (urn:d:1)" in ask(asked).near_misses[0].missing
    assert ask(asked, world=World(time=NOON, duties={"urn:d:1": "fulfilled"})).permitted
    violated = ask(asked, world=World(time=NOON, duties={"urn:d:1": "violated"}))
    assert (violated.effect, violated.duties[0].state) == ("deny", "violated")


def test_violated_duty_has_its_consequences_outstanding_too():
    pay = Rule("consequence", actions=(Action(f"{ODRL}compensate"),), uid="urn:d:2")
    duty = Rule("duty", actions=(Action(f"{ODRL}inform"),), uid="urn:d:1", consequences=(pay,))
    world = World(time=NOON, duties={"urn:d:1": "violated"})
    owed = ask(permission(duties=(duty,)), world=world).duties
    assert [one.duty for one in owed] == ["urn:d:1", "urn:d:2"]


def test_permit_comes_with_what_the_policy_obliges_the_assignee_to():
    delete = Rule(
        "obligation",
        actions=(Action(f"{ODRL}delete"),),
        uid="urn:o:1",
        assignees=(Party("http://org/staff"),),
    )
    decision = ask(permission(), obligations=(delete,))
    assert decision.permitted
    assert [(one.duty, one.by) for one in decision.duties] == [("urn:o:1", ("http://org/staff",))]


def test_refined_party_collection_takes_those_members_alone_that_meet_it():
    adults = permission(assignees=(Party("http://org/staff", (LEVEL,)),))
    ages = {"http://org/alice": {LEVEL.left_operand: (20,)}}
    assert ask(adults, world=World(time=NOON, of=ages)).permitted
    assert not ask(adults, world=World(time=NOON)).permitted
    young = {"http://org/alice": {LEVEL.left_operand: (17,)}}
    assert not ask(adults, world=World(time=NOON, of=young)).permitted


def test_prohibition_of_one_target_is_not_lifted_by_what_is_untrue_of_another():
    level = {"http://e.org/T": {LEVEL.left_operand: (10,)}}
    targets = (Asset("http://e.org/T", (LEVEL,)), Asset("urn:a:U"))
    barred = Rule("prohibition", targets, (Action(f"{ODRL}use"),), "urn:r:2")
    both = Request(**{**ASK.model_dump(), "targets": ("http://e.org/T", "urn:a:U")})
    given = permission(targets=(Asset("http://e.org/T"), Asset("urn:a:U")))
    world = World(time=NOON, of=level)
    assert not ask(given, request=both, world=world, prohibitions=(barred,)).permitted
    alone = Request(**{**ASK.model_dump(), "targets": ("http://e.org/T",)})
    assert ask(given, request=alone, world=world, prohibitions=(barred,)).permitted


def test_prohibition_to_anonymize_in_some_way_prohibits_all_of_it():
    k = Constraint(f"{terms.MOSAICROWN}k", f"{ODRL}eq", (Value(2),))
    barred = Rule("prohibition", (), (Action(f"{ODRL}anonymize", (k,)),), "urn:r:2")
    asked = Request(**{**ASK.model_dump(), "action": f"{ODRL}anonymize"})
    assert ask(permission(), request=asked).permitted
    assert not ask(permission(), request=asked, prohibitions=(barred,)).permitted


def test_action_whose_implied_action_is_prohibited_is_denied():
    known = Hierarchy(
        party=(("http://org/alice", "http://org/staff"),),
        action=(("http://e.org/glance", f"{ODRL}use"),),
        implied=(("http://e.org/glance", f"{ODRL}display"),),
    )
    barred = Rule("prohibition", (), (Action(f"{ODRL}display"),), "urn:r:2")
    asked = Request(**{**ASK.model_dump(), "action": "http://e.org/glance"})
    assert ask(permission(), request=asked, hierarchy=known).permitted
    assert not ask(permission(), request=asked, hierarchy=known, prohibitions=(barred,)).permitted


def test_prohibition_of_single_rows_is_no_conflict_that_a_permission_won():
    old = Constraint("http://e.org/T/age", f"{ODRL}gt", (Value(65),))
    barred = Rule("prohibition", (), (Action(f"{ODRL}use"),), "urn:r:2", constraints=(old,))
    decider = Decider([policy(permission(), prohibitions=(barred,))])
    found = decider.row_access(ASK, World(time=NOON), ["http://e.org/T"])
    assert (found.decision.effect, found.decision.strategy) == ("permit", "")
    assert [one.rule.uid for one in found.prohibitions] == ["urn:r:2"]


@pytest.mark.parametrize("column", ["a", "b"])
def test_what_is_so_of_one_column_and_not_known_of_another_is_unknown_of_the_rows(column):
    either = LogicalConstraint(f"{ODRL}or", (LEVEL, YOUNG))
    barred = [
        Rule("prohibition", (Asset("http://e.org/T", (one,)),), (Action(f"{ODRL}use"),), f"urn:{n}")
        for n, one in enumerate((LEVEL, either))
    ]
    columns = tuple((f"http://e.org/T/{one}", "http://e.org/T") for one in "ab")
    known = Hierarchy(party=(("http://org/alice", "http://org/staff"),), asset=columns)
    decider = Decider([policy(permission(), prohibitions=tuple(barred), hierarchy=known)])
    world = World(time=NOON, of={f"http://e.org/T/{column}": {LEVEL.left_operand: (20,)}})
    asked = ASK.model_copy(update={"targets": ("http://e.org/T",)})
    found = decider.row_access(asked, world, ["http://e.org/T"]).decision.matches
    [[level], [joined]] = (one.conditions for one in found if one.kind == "prohibition")
    assert (level.state, joined.state) == ("unknown", "unknown")
    assert [part.state for part in joined.parts] == ["unknown", "unknown"]


def test_what_is_so_of_all_columns_is_so_of_the_rows():
    either = LogicalConstraint(f"{ODRL}or", (LEVEL, YOUNG))
    barred = Rule("prohibition", (Asset("http://e.org/T", (either,)),), (Action(f"{ODRL}use"),))
    columns = tuple((f"http://e.org/T/{one}", "http://e.org/T") for one in "ab")
    known = Hierarchy(party=(("http://org/alice", "http://org/staff"),), asset=columns)
    decider = Decider([policy(permission(), prohibitions=(barred,), hierarchy=known)])
    ages = {column: {LEVEL.left_operand: (20,)} for column, _ in columns}
    asked = ASK.model_copy(update={"targets": ("http://e.org/T",)})
    found = decider.row_access(asked, World(time=NOON, of=ages), ["http://e.org/T"])
    [[joined]] = [one.conditions for one in found.decision.matches if one.kind == "prohibition"]
    assert joined.state == "satisfied"
    assert [part.state for part in joined.parts] == ["satisfied", "unsatisfied"]


def test_offer_grants_nothing_and_its_prohibitions_hold():
    decision = ask(permission(), type=f"{ODRL}Offer")
    assert not decision.permitted
    assert "which proposes and grants nothing" in decision.reason
    barred = Rule("prohibition", (), (Action(f"{ODRL}use"),), "urn:r:2")
    offer = policy(uid="urn:p:1", type=f"{ODRL}Offer", prohibitions=(barred,))
    assert not Decider([policy(permission()), offer]).decide(ASK, World(time=NOON)).permitted


def test_time_is_the_callers_or_the_clocks_and_the_decision_says_which():
    assert (ask(permission()).time, ask(permission()).time_by) == (NOON, "caller")
    by_clock = ask(permission(), world=World())
    assert by_clock.time_by == "clock"
    assert abs((datetime.now(UTC) - by_clock.time).total_seconds()) < 60


def test_one_request_is_decided_in_the_state_of_the_world_that_is_given():
    end = Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (Value(datetime(2001, 1, 1, tzinfo=UTC)),))
    policies, then = [policy(permission(constraints=(end,)))], World(time=NOON.replace(year=2000))
    assert decide(policies, [], ASK, world=then).permitted
    assert not decide(policies, [], ASK).permitted


def test_a_time_without_a_zone_is_in_the_zone_of_the_request():
    end = Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (Value(datetime(2026, 6, 1, 12, 30)),))  # noqa: DTZ001
    for hour, permitted in ((12, True), (13, False)):
        time = datetime(2026, 6, 1, hour, tzinfo=timezone(timedelta(hours=2)))
        assert ask(permission(constraints=(end,)), world=World(time=time)).permitted == permitted


def test_memberships_of_the_world_count_for_that_request_alone():
    decider = Decider([policy(permission(), hierarchy=Hierarchy())])
    joined = World(
        time=NOON, memberships=Hierarchy(party=(("http://org/alice", "http://org/staff"),))
    )
    assert decider.decide(ASK, joined).permitted
    assert not decider.decide(ASK, World(time=NOON)).permitted


def test_every_one_of_many_states_of_the_world_is_decided_by_its_own_memberships():
    decider = Decider([policy(permission(), hierarchy=Hierarchy())])
    for _ in range(2):
        for number in range(12):
            group = "http://org/staff" if number % 2 else f"http://org/{number}"
            edges = (("http://org/alice", group), ("urn:a", f"urn:b:{number}"))
            found = decider.decide(ASK, World(time=NOON, memberships=Hierarchy(party=edges)))
            assert found.permitted == bool(number % 2)


def test_decision_is_the_same_after_a_round_trip_through_json():
    decision = ask(permission(constraints=(limit("lt", 2),)))
    assert type(decision).model_validate_json(decision.model_dump_json()) == decision


def test_nearest_misses_are_three_at_most_with_the_least_missing_first():
    others = [permission(uid=f"urn:r:{n}", assignees=(Party("http://org/x"),)) for n in range(5)]
    late = permission(uid="urn:r:late", constraints=(limit("lt", 1),))
    found = ask(*others, late).near_misses
    assert len(found) == 3
    assert found[0].rule == "urn:r:late"


def test_of_what_lacks_as_much_that_which_covers_the_targets_is_nearest():
    elsewhere = permission(uid="urn:r:elsewhere", targets=(Asset("urn:a:U"),), assignees=())
    anywhere = permission(uid="urn:r:any", targets=(), assignees=(Party("http://org/x"),))
    found = ask(elsewhere, anywhere).near_misses
    assert [one.rule for one in found] == ["urn:r:any", "urn:r:elsewhere"]


def test_a_void_policy_permits_nothing_and_is_told_first():
    barred = Rule("prohibition", (Asset("http://e.org/T/b"),), (Action(f"{ODRL}use"),), "urn:r:2")
    clashing = policy(permission(), conflict="invalid", prohibitions=(barred,))
    other = permission(uid="urn:r:3", assignees=(Party("http://org/x"),))
    found = Decider([clashing, policy(other, uid="urn:p:1")]).decide(ASK, World(time=NOON))
    assert (found.effect, found.strategy) == ("deny", "invalid")
    void, near = found.derivation
    assert void == "urn:p:0 is void: its rules conflict"
    assert near.startswith("urn:r:3: it is for http://org/x, not")


def test_world_from_json_takes_short_names_and_tells_all_that_is_wrong():
    world = read_world('{"time": "2026-06-01T12:00:00Z", "values": {"spatial": "urn:a:eu"}}')
    assert world == World(time=NOON, values={f"{ODRL}spatial": ("urn:a:eu",)})
    with pytest.raises(RequestError) as error:
        read_world('{"time": "noon", "plaice": 1}')
    assert [problem.code for problem in error.value.problems] == ["D003", "D003"]


def test_key_that_stands_twice_in_a_world_is_refused():
    with pytest.raises(RequestError, match=r"D003.*'urn:d:1' appears twice"):
        read_world('{"duties": {"urn:d:1": "violated", "urn:d:1": "fulfilled"}}')


def test_member_in_another_spelling_is_one_whom_a_prohibition_is_for():
    known = Hierarchy(party=(("HTTP://ORG:80/%61lice", "http://Org/team"),))
    team = {"assignees": (Party("http://org/team"),)}
    barred = Rule("prohibition", (), (Action(f"{ODRL}use"),), "urn:r:2", **team)
    mine = policy(permission(), prohibitions=(barred,))
    assert Decider([mine]).decide(ASK, World(time=NOON)).permitted
    assert not Decider([mine], hierarchy=known).decide(ASK, World(time=NOON)).permitted
    assert not Decider([mine]).decide(ASK, World(time=NOON, memberships=known)).permitted


def test_label_that_several_rules_have_tells_nothing_of_any():
    duty = Rule("duty", actions=(Action(f"{ODRL}inform"),))
    once = permission(uid="", constraints=(Constraint(COUNT, f"{ODRL}lt", (Value(3),)),))
    done = World(time=NOON, duties={duty.label(): "fulfilled"}, counts={once.label(): 0})
    for one in (once, permission(uid="", duties=(duty,))):
        other = Rule(**{**vars(one), "duties": tuple(Rule(**vars(d)) for d in one.duties)})
        assert ask(one, world=done).permitted
        assert not ask(one, other, world=done).permitted


def test_name_that_is_no_text_is_refused():
    with pytest.raises(RequestError, match=r"D001.*UTF-8"):
        read_request("http://org/alice", "read", ["http://e.org/\udcff"])


def test_a_request_for_too_many_levels_is_refused():
    deep = "http://e.org" + "/a" * 4_000
    with pytest.raises(RequestError, match="D001 The target has 4,002 levels"):
        read_request(USERS[0], "read", [deep])
    most = "http://e.org" + "/a" * 254
    assert read_request(USERS[0], "read", [most]).targets == (most,)
    with pytest.raises(ValueError, match="at most 256 levels"):
        Request(assignee=USERS[0], action=f"{ODRL}read", targets=(deep,))


def test_all_that_a_permission_lacks_is_told_in_one_line():
    assignees = (Party(USERS[1]), Party("http://org/press"))
    other = permission(assignees=assignees, purposes=(PURPOSES[1], "http://p/sale"))
    assert ask(other).reason == (
        "No rule permits it, and what no rule permits is denied. The nearest, urn:r:1: "
        f"it is for {USERS[1]} or http://org/press, not {USERS[0]}, "
        f"and it is for the purpose {PURPOSES[1]} or http://p/sale, and the request names none."
    )


def test_a_chain_of_memberships_is_walked_once():
    chain = tuple((f"http://e.org/P{n}", f"http://e.org/P{n + 1}") for n in range(500))
    view = Decider([]).view(Hierarchy(party=chain, asset=(("http://e.org/T/a", "http://e.org/A"),)))
    assert len(view._keys("party", "http://e.org/P500")) == 502
    assert len(view.closures._above["party"]) == 1
    assert "<http://e.org/T/a" in view._keys("asset", "http://e.org/T")


def test_a_request_without_targets_is_refused():
    with pytest.raises(RequestError) as caught:
        read_request(USERS[0], "read", [])
    assert caught.value.code == "D001"


@pytest.mark.parametrize(
    ("given", "name"), [(({},), "request"), (("read",), "request"), ((ASK, {}), "world")], ids=str
)
def test_what_is_no_request_or_no_world_is_an_argument_error(given, name):
    for answer in (Decider([]).decide, Decider([]).row_access):
        with pytest.raises(ArgumentError, match=f"U002 {name} is of the wrong type. Given: "):
            answer(*given)
    with pytest.raises(ArgumentError) as caught:
        Decider([]).decide(*given)
    assert caught.value.problems[0].hint == f"Use `read_{name}` to make one."
