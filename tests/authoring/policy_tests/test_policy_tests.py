import json
from datetime import UTC, date, datetime

import pytest
from building import ANALYST, DATASET, MOSAICROWN, ODRL, OUTPUT, people_policy, permission, policy

from policy_engine import terms
from policy_engine.authoring.policy_tests import TestReport, read_suite, run_policy_tests, yaml_text
from policy_engine.authoring.policy_tests.yaml_text import read_yaml
from policy_engine.errors import DataError, PolicyEngineError, RequestError
from policy_engine.release.staging import CERTIFICATE

RULES = policy(
    [
        permission(uid="http://x.org/r", action="read"),
        permission(
            uid="http://x.org/d",
            action="print",
            duty=[{"action": "inform", "uid": "http://x.org/duty"}],
        ),
    ],
    [permission(uid="http://x.org/p", action="read", target=f"{DATASET}/name", purpose=None)],
)
HEAD = "policies: [policy.jsonld]\nworld: {time: 2026-01-01T00:00:00Z}\ntests:\n"


def a_test(name="one", action="read", target=f"{DATASET}/age", expect="permit", more=""):
    request = f"{{assignee: {ANALYST}, action: {action}, target: {target}, purpose: marketing}}"
    return f"  - name: {name}\n    request: {request}\n    expect: {expect}\n{more}"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "policy.jsonld").write_text(RULES)

    def running(*tests, head=HEAD, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.jsonld").write_text(text)
        (tmp_path / "tests.yaml").write_text(head + "".join(tests))
        return run_policy_tests(tmp_path / "tests.yaml")

    return running


def problems(text):
    with pytest.raises(RequestError) as raised:
        read_suite(text.encode(), "t.yaml")
    return [(one.code, one.place.line, one.message) for one in raised.value.problems]


# -- what passes ----------------------------------------------------------------------------------


def test_a_test_passes_where_the_decision_is_as_expected(run):
    report = run(a_test(), a_test("two", "sell", expect="deny"))
    assert report.passed
    assert [(one.name, one.line, one.effect) for one in report.tests] == [
        ("one", 4, "permit"),
        ("two", 7, "deny"),
    ]


def test_a_test_fails_with_what_was_expected_what_came_and_why(run):
    [failed] = run(a_test(expect="deny"), a_test("two")).failed
    assert failed.failures == ("expected deny, got permit: http://x.org/r permits it.",)


def test_the_rule_that_decides_can_be_expected(run):
    report = run(
        a_test(expect="{effect: permit, rule: http://x.org/r}"),
        a_test("two", expect="{effect: permit, rule: http://x.org/d}"),
    )
    assert [one.failures for one in report.tests] == [
        (),
        ("expected the rule http://x.org/d, got http://x.org/r",),
    ]


def test_a_rule_can_be_expected_by_its_short_name(run, tmp_path):
    given = json.loads(RULES)
    given["@context"] = [*given["@context"], {"x": "http://x.org/"}]
    tests = [
        a_test(expect="{effect: permit, rule: 'x:r'}"),
        a_test("two", "print", expect="{effect: deny, duties: ['x:duty']}"),
    ]
    (tmp_path / "short.jsonld").write_text(json.dumps(given))
    assert run(*tests, head=HEAD.replace("policy.", "short.")).passed


@pytest.mark.parametrize("duty", ["inform", "odrl:inform", "http://x.org/duty"])
def test_duties_can_be_expected_by_action_and_by_uid(run, duty):
    assert run(a_test(action="print", expect=f"{{effect: deny, duties: [{duty}]}}")).passed


def test_duties_that_differ_fail(run):
    report = run(
        a_test(action="print", expect="{effect: deny, duties: [compensate]}"),
        a_test("two", action="print", expect="{effect: deny, duties: []}"),
    )
    assert [len(one.failures) for one in report.tests] == [2, 1]
    assert "expected the duty compensate, which is not outstanding" in report.tests[0].failures


def test_a_world_of_a_test_is_laid_over_the_default(run):
    done = "    world: {duties: {http://x.org/duty: fulfilled}}\n"
    assert run(a_test(action="print", more=done)).passed
    assert not run(a_test(action="print")).passed


def test_left_operands_and_memberships_may_be_short_names():
    more = (
        "    world:\n      values: {percentage: 5}\n      of: {read: {odrl:version: [1, 2]}}\n"
        "      memberships: {purpose: [[marketing, statistical]]}\n"
    )
    [test] = read_suite((HEAD + a_test(more=more)).encode(), "").tests
    assert test.world.time == datetime(2026, 1, 1, tzinfo=UTC)
    assert test.world.values == {f"{terms.ODRL}percentage": (5,)}
    assert test.world.of == {f"{terms.ODRL}read": {f"{terms.ODRL}version": (1, 2)}}
    edge = (f"{terms.MOSAICROWN}marketing", f"{terms.MOSAICROWN}statistical")
    assert test.world.memberships.purpose == (edge,)


def test_hierarchies_in_turtle_are_read(run, tmp_path):
    (tmp_path / "said.ttl").write_text(
        f"<http://x.org/ann> <https://www.mosaicrown.eu/ns/mosaicrown/1/belongsTo> <{ANALYST}> ."
    )
    head = HEAD.replace("world:", "hierarchies: [said.ttl]\nworld:")
    assert run(a_test().replace(ANALYST, "http://x.org/ann"), head=head).passed


def test_hierarchies_and_certificates_are_read(run, released):
    head = (
        "policies: [people.jsonld]\nhierarchies: [said.jsonld]\n"
        f"certificates: [{released}/release/{CERTIFICATE}]\ntests:\n"
    )
    said = {"@context": [ODRL, MOSAICROWN], "@id": "http://x.org/ann", "belongsTo": ANALYST}
    asked = a_test(target=OUTPUT)
    other = asked.replace(ANALYST, "http://x.org/ann").replace("one", "two")
    report = run(asked, other, head=head, people=people_policy(), said=json.dumps(said))
    assert report.passed, report.tests


def test_policies_may_inherit_from_parents(run):
    child = policy(uid="http://x.org/child", inheritFrom="http://x.org/policy")
    head = "policies: [child.jsonld]\nparents: [policy.jsonld]\ntests:\n"
    assert run(a_test(), head=head, child=child).passed


# -- coverage -------------------------------------------------------------------------------------


def test_coverage_names_the_rules_that_no_test_concerns(run):
    report = run(a_test(), a_test("two", "sell", expect="deny"))
    assert [(one.rule, one.covered) for one in report.rules] == [
        ("http://x.org/r", True),
        ("http://x.org/d", False),
        ("http://x.org/duty", False),
        ("http://x.org/p", False),
    ]
    assert report.coverage == pytest.approx(1 / 4)
    assert report.rules[0].decided == ("one",)


def test_a_rule_that_covers_without_deciding_is_matched(run):
    report = run(a_test(target=f"{DATASET}/name", expect="deny"))
    permitted, _, _, prohibited = report.rules
    assert (permitted.decided, permitted.matched) == ((), ("one",))
    assert (prohibited.decided, prohibited.matched) == (("one",), ())


def test_a_test_that_fails_covers_nothing(run):
    report = run(a_test(expect="deny"), a_test("two", "print", expect="permit"))
    assert not report.passed
    assert [one.rule for one in report.rules if one.covered] == []
    assert report.coverage == 0


def test_duties_and_obligations_are_covered_where_they_are_owed_or_done(run):
    tidy = {"uid": "http://x.org/o", "assignee": ANALYST, "action": "delete"}
    rules = json.dumps({**json.loads(RULES), "obligation": tidy})
    head = HEAD.replace("policy.jsonld", "own.jsonld")

    def covered(*tests):
        found = run(*tests, head=head, own=rules)
        assert found.passed, found.tests
        return [one.rule.rpartition("/")[2] for one in found.rules if one.covered]

    owed = a_test("owed", "print", expect="deny")
    assert covered(owed) == ["d", "duty"]
    done = "    world: {duties: {http://x.org/duty: fulfilled}}\n"
    assert covered(a_test("done", "print", more=done)) == ["d", "duty", "o"]
    assert covered(a_test("read")) == ["r", "o"]


@pytest.mark.parametrize(
    ("own", "effect"),
    [
        ("", "permit"),
        ("    world: {duties: {http://x.org/duty: null}}\n", "deny"),
        ("    world: {duties: null}\n", "deny"),
        ("    world: {duties: {http://x.org/duty: violated}}\n", "deny"),
    ],
)
def test_a_test_can_unset_what_the_world_of_all_says(run, own, effect):
    head = HEAD.replace("Z}", "Z, duties: {http://x.org/duty: fulfilled}}")
    assert run(a_test("one", "print", expect=effect, more=own), head=head).passed


def test_a_duty_of_a_policy_and_a_time_can_be_unset(run):
    duties = "{http://x.org/policy: {http://x.org/duty: fulfilled}}"
    head = HEAD.replace("Z}", f"Z, duties: {duties}}}")
    unset = "    world: {duties: {http://x.org/policy: {http://x.org/duty: null}}}\n"
    assert run(a_test("one", "print"), head=head).passed
    assert run(a_test("one", "print", expect="deny", more=unset), head=head).passed
    timeless = run(a_test("one"), a_test("two", more="    world: {time: null}\n"))
    assert [one.by_clock for one in timeless.tests] == [False, True]


def test_a_report_is_json_and_back(run):
    report = run(a_test())
    assert TestReport.model_validate_json(report.model_dump_json()) == report


# -- what is refused ------------------------------------------------------------------------------


def test_every_problem_is_told_at_once_with_its_line():
    text = (
        "policies: []\nwrld: {}\ntests:\n"
        "  - name: a\n"
        "    request: {assignee: foo, action: read, target: http://x, purpos: x}\n"
        "    expect: alow\n"
        "  - name: a\n    request: [1]\n    expect: {efect: permit}\n"
        "  - text\n"
    )
    found = problems(text)
    assert [(code, line) for code, line, _ in found] == [
        ("K001", 1),
        ("K001", 2),
        ("D001", 5),
        ("K001", 5),
        ("K001", 6),
        ("K001", 7),
        ("K001", 8),
        ("K001", 9),
        ("K001", 9),
        ("K001", 10),
    ]


@pytest.mark.parametrize(
    ("given", "meant"), [("tsts: 1", "tests"), ("policy: x", "policies"), ("wordl: {}", "world")]
)
def test_unknown_keys_are_refused_with_what_was_meant(given, meant):
    with pytest.raises(RequestError, match=f"Did you mean '{meant}'"):
        read_suite((given + "\n" + HEAD + a_test()).encode(), "")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "appears twice, first in line 1"),
        ("a: {b: 1, b: 2}", 1, "appears twice"),
        ("1: 2", 1, "A key must be a text"),
        ("<<: {a: 1}", 1, "A key must be a text"),
        ("a: !!python/object/apply:os.system [ls]", 1, "is not allowed here"),
        ("a: !mine x", 1, "is not allowed here"),
        ("a: !!set {x}", 1, "is not allowed here"),
        ("a: 2026-13-45", 1, "looks like timestamp"),
        ("a: ]", 1, "not YAML"),
        ("a: 1\n---\nb: 1", 2, "another document"),
        ("", 0, "empty"),
        ("a: \x00", 0, "not YAML"),
        ("[" * 30, 1, "too deep"),
        ("a: &a [*a]", 1, "too deep"),
        ("&a [" + "*a," * 101 + "]", 1, "too deep"),
    ],
)
def test_yaml_that_is_refused(text, line, message):
    [found] = problems(text)
    assert found[0] == "K001"
    assert found[1] == line
    assert message in found[2]


def test_yaml_that_is_no_utf_8_is_refused():
    with pytest.raises(RequestError, match="not UTF-8"):
        read_suite(b"a: \xff\xfe", "")


def test_aliases_count_as_what_they_stand_for(monkeypatch):
    ten = "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b]\n"
    assert len(read_yaml(ten.encode(), "").keys["c"].parts[1].parts) == 10
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 150)
    assert "too many values" in problems(ten)[0][2]


def test_a_text_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(yaml_text, "MAX_BYTES", 10)
    assert "too large" in problems("a: 12345678")[0][2]


def test_a_request_holds_one_of_each():
    text = HEAD + a_test().replace("purpose: marketing", "purpose: [marketing, statistical]")
    assert "one purpose. Given: 2" in problems(text)[0][2]


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ("{time: soon}", "time: "),
        ("{values: {percentage: {a: 1}}}", "percentage: a fact must be"),
        ("{duties: {http://x.org/d: done}}", "duties"),
        ("{memberships: {party: [a]}}", "memberships"),
        ("5", "A state of the world must be a mapping"),
    ],
)
def test_a_world_that_is_not_understood_is_told_once(world, message):
    text = HEAD.replace("{time: 2026-01-01T00:00:00Z}", world) + a_test() + a_test("two")
    [(code, line, found)] = problems(text)
    assert (code, line) == ("K001", 2)
    assert message in found


def test_values_keep_their_kinds():
    item = read_yaml(b"{a: 1, b: 1.5, c: true, d: 2026-01-01, e: text, f: null}", "")
    assert item.plain() == {
        "a": 1,
        "b": 1.5,
        "c": True,
        "d": date(2026, 1, 1),
        "e": "text",
        "f": None,
    }


@pytest.mark.parametrize(
    ("head", "error"),
    [
        ("policies: [none.jsonld]\ntests:\n", DataError),
        ("policies: [tests.yaml]\ntests:\n", PolicyEngineError),
        ("policies: ['']\ntests:\n", RequestError),
    ],
)
def test_policies_that_cannot_be_read_stop_the_tests(run, head, error):
    with pytest.raises(error):
        run(a_test(), head=head)


# -- owners ---------------------------------------------------------------------------------------

OWNED = policy([permission(uid="http://x.org/r", action="read", assigner="http://x.org/owner")])


@pytest.mark.parametrize(
    ("owners", "effect"),
    [
        ("", "permit"),
        (f'owners: {{"{DATASET}": http://x.org/owner}}\n', "permit"),
        (f'owners: {{"{DATASET}": {{owner: http://x.org/other}}}}\n', "deny"),
        ("owners: owners.json\n", "deny"),
    ],
)
def test_owners_of_a_file_decide_whose_rules_count(run, tmp_path, owners, effect):
    (tmp_path / "owners.json").write_text(json.dumps({DATASET: "http://x.org/other"}))
    [test] = run(a_test(expect=effect), head=owners + HEAD, policy=OWNED).tests
    assert test.passed, test.failures


def test_owners_that_are_given_take_the_place_of_those_of_the_file(run, tmp_path):
    stated = f'owners: {{"{DATASET}": http://x.org/other}}\n{HEAD}'
    assert run(a_test(expect="deny"), head=stated, policy=OWNED).passed
    given = run_policy_tests(tmp_path / "tests.yaml", owners={DATASET: "http://x.org/owner"})
    assert not given.passed


def test_owners_that_are_none_stop_the_tests(run):
    assert "'owners' must be a file" in problems(f"owners: 3\n{HEAD}{a_test()}")[0][2]
    with pytest.raises(RequestError, match="D004"):
        run(a_test(), head=f'owners: {{"{DATASET}": "no iri"}}\n{HEAD}')


# -- what was logged before -----------------------------------------------------------------------

ONCE = {"leftOperand": "count", "operator": "lteq", "rightOperand": 2}
COUNTED = policy([permission(uid="http://x.org/r", action="read", constraint=ONCE)])


def logged(*entries):
    return "    log:\n" + "".join(f"      - {entry}\n" for entry in entries)


def asking(action="read", more=""):
    request = f"{{assignee: {ANALYST}, action: {action}, target: {DATASET}, purpose: marketing}}"
    return f"{{request: {request}{more}}}"


@pytest.mark.parametrize(
    ("entries", "effect"),
    [
        ([], "permit"),
        ([asking()], "permit"),
        ([asking(), asking()], "deny"),
        ([asking(more=", times: 2")], "deny"),
        ([asking(), asking("sell", ", expect: deny")], "permit"),
    ],
)
def test_a_rule_that_is_counted_is_tested_at_its_limit(run, entries, effect):
    test = a_test(expect=effect, more=logged(*entries) if entries else "    log: []\n")
    [found] = run(test, policy=COUNTED).tests
    assert found.passed, found.failures


def test_what_all_tests_have_in_the_log_stands_before_their_own(run):
    head = HEAD.replace("tests:", f"log: [{asking()}]\ntests:")
    tests = a_test(), a_test("two", expect="deny", more=logged(asking()))
    assert run(*tests, head=head, policy=COUNTED).passed


def test_what_was_not_answered_as_the_log_says_fails_the_test(run):
    [found] = run(
        a_test(expect="deny", more=logged(asking(more=", times: 9"))), policy=COUNTED
    ).tests
    [why] = found.failures
    assert why.startswith("logged before, entry 1: expected permit, got deny: ")
    report = run(a_test(more=logged(asking(more=", expect: deny"))), policy=COUNTED)
    assert not report.passed


@pytest.mark.parametrize(
    ("entry", "effect"),
    [
        (f"{{fulfilled: http://x.org/duty, by: {ANALYST}}}", "permit"),
        ("{fulfilled: http://x.org/duty, by: http://x.org/other}", "deny"),
        (f"{{violated: http://x.org/duty, by: {ANALYST}, time: 2025-12-01}}", "deny"),
        (f"{{fulfilled: http://x.org/duty, of: http://x.org/policy, by: {ANALYST}}}", "permit"),
    ],
)
def test_duties_are_done_as_the_log_says(run, entry, effect):
    [found] = run(a_test(action="print", expect=effect, more=logged(entry))).tests
    assert found.passed, found.failures


@pytest.mark.parametrize(
    ("entry", "code", "message"),
    [
        ("{fulfilled: http://x.org/none, by: http://x.org/a}", "D006", "No policy has the duty"),
        ("{fulfilled: http://x.org/duty}", "K001", "needs the key 'by'"),
        ("{by: http://x.org/a}", "K001", "has no key 'by'"),
        (asking(more=", times: 0"), "K001", "'times' must be from 1 to 10,000. Given: 0"),
        (asking(more=", time: soon"), "K001", "time"),
        ("{violated: [x, y], by: none}", "D001", "none"),
    ],
)
def test_what_is_wrong_with_a_log_is_told_with_its_place(run, tmp_path, entry, code, message):
    with pytest.raises(RequestError) as raised:
        run(a_test(more=logged(entry)))
    found = {one.code: one for one in raised.value.problems}
    assert message in found[code].message
    assert found[code].place.line == 8
    assert raised.value.source == str(tmp_path / "tests.yaml")


def test_counts_are_told_by_the_log_or_by_the_world(run):
    more = f"    world: {{counts: {{http://x.org/r: 1}}}}\n{logged(asking())}"
    with pytest.raises(RequestError, match="The log already gives the counts"):
        run(a_test(more=more), policy=COUNTED)
    more = "    world: {duties: {http://x.org/duty: violated}}\n"
    more += logged(f"{{fulfilled: http://x.org/duty, by: {ANALYST}}}")
    with pytest.raises(RequestError, match="D005"):
        run(a_test(more=more), policy=RULES)
